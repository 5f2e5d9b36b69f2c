import { UpstreamFailure } from "#upstream/upstream";
import type { BridgeTurn } from "#edges/acp/bridge-turns";
import { type ErrorGroup, ERROR_GROUPS, isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import type { WireMessage } from "#turn/wire-message";
import type { EndingClass } from "#log/ending-class";
import { Message, spanAt } from "#edges/acp/wire/spans";
import { spliceWithin } from "#edges/acp/wire/splice";
import { endingMessage } from "#operations/text";
import { rewriteIds, withMeta } from "#edges/acp/wire/rewrite";

const CODES: { readonly [G in ErrorGroup]: number } = {
  caller: -32602,
  missing: -32002,
  conflict: -32603,
  unavailable: -32603,
  damaged: -32603,
};

const AUTH_REQUIRED = -32000;
const INTERNAL = -32603;

/** A mistake in what the host asked for. */
export class BadRequest extends Error {}

function errorText(code: number, message: string, data: Json): string {
  return JSON.stringify(data === null ? { code, message } : { code, message, data });
}

/** Whatever went wrong, as the text of a JSON-RPC error. */
export function errorOf(error: unknown, conversation: string | null): string {
  const about = conversation === null ? {} : { sessionId: conversation };
  if (error instanceof BadRequest) {
    const { message } = error;
    return errorText(CODES.caller, message, {
      ...about,
      holdfast: { ...REFUSED, code: "invalid_request", message },
    });
  }
  if (isLogError(error)) {
    const { code, message } = error;
    return errorText(CODES[ERROR_GROUPS[code]], message, {
      ...about,
      holdfast: { ...REFUSED, code, message },
    });
  }
  if (error instanceof UpstreamFailure) {
    const { class: known, message, resetAtMs } = error.ending;
    const meta = { class: known, message, ...resetOf(resetAtMs) };
    const said = messageIn(error);
    if (said !== null && said.error !== null && known !== "auth")
      return spliceWithin(said.bytes, said.error, withMeta(said.bytes, said.error, "data", meta));
    return errorText(known === "auth" ? AUTH_REQUIRED : INTERNAL, message, { ...about, holdfast: meta });
  }
  const message = error instanceof Error ? error.message : String(error);
  return errorText(INTERNAL, message, { ...about, holdfast: { ...REFUSED, message } });
}

/** What the agent answered, where it was an agent of this protocol that did. */
export function messageIn(end: { readonly wire?: WireMessage | null } | null | undefined): Message | null {
  return end?.wire instanceof Message ? end.wire : null;
}

/** Every error has a class, as every ending of a turn has; what Holdfast itself refused also has a code. */
const REFUSED = { class: "failed" } as const satisfies { readonly class: EndingClass };

function resetOf(resetAtMs: number | null): { readonly resetAt?: string } {
  return resetAtMs === null ? {} : { resetAt: new Date(resetAtMs).toISOString() };
}

/** A turn that did not end well: the agent's own error where it gave one, with what became of the prompt. */
export function turnError(
  result: BridgeTurn,
  agent: string,
  ids: { from: string | null; to: string },
): string {
  const { class: known, message, resetAtMs, end } = result;
  const meta = { class: known, message, agent, kept: true, ...resetOf(resetAtMs) };
  const said = messageIn(end);
  if (said !== null && said.error !== null) {
    const edits = ids.from === null ? [] : rewriteIds(said, ids.from, ids.to);
    const more = withMeta(said.bytes, said.error, "data", withoutId(meta, ids));
    // Not every agent has the protocol's word for it.
    const code = known === "auth" ? spanAt(said.bytes, said.error, ["code"]) : null;
    const login = code === null ? [] : [{ span: code, text: String(AUTH_REQUIRED) }];
    return spliceWithin(said.bytes, said.error, [...edits, ...more, ...login]);
  }
  const code = known === "auth" ? AUTH_REQUIRED : INTERNAL;
  const told = withoutId({ ...meta, message: endingMessage(result) }, ids);
  return errorText(code, told.message, { sessionId: ids.to, holdfast: told });
}

function withoutId<M extends { readonly message: string }>(
  meta: M,
  ids: { readonly from: string | null; readonly to: string },
): M {
  return ids.from === null ? meta : { ...meta, message: meta.message.replaceAll(ids.from, ids.to) };
}
