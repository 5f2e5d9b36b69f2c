import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { withAgentOption } from "#edges/acp/host/agent-option";
import type { OpenConversation, ReadySession } from "#edges/acp/host/open-conversation";
import { rewriteIds } from "#edges/acp/wire/rewrite";
import { readableAt } from "#edges/acp/wire/spans";
import { spliceWithin } from "#edges/acp/wire/splice";

/** The methods whose result says what the session is called; in the others the host has said it. */
const NAMING: ReadonlySet<string> = new Set(["session/new", "session/fork"]);

/**
 * The result for a host that opened a conversation. A new session's own result passes as it came, but for its id; one
 * whose settings were replayed, or that has more to say, is made from it.
 */
export function openResult(
  conversation: OpenConversation,
  ready: ReadySession,
  asked: { readonly method: string; readonly meta: { readonly [name: string]: Json } },
): string {
  const { method, meta } = asked;
  const { session, connected } = ready;
  const { opened, options } = session;
  const result = opened === null || opened.result === null ? null : readableAt(opened.bytes, opened.result);
  const began = fieldsOf(result);
  const own = conversation.agentOption();
  const same =
    JSON.stringify([began["modes"] ?? null, began["models"] ?? null, began["configOptions"] ?? null]) ===
    JSON.stringify([options.modes, options.models, options.options]);
  if (
    method === "session/new" &&
    own === null &&
    same &&
    Object.keys(meta).length === 0 &&
    connected.reason === "first" &&
    opened?.result
  )
    return spliceWithin(opened.bytes, opened.result, rewriteIds(opened, session.id, conversation.id));
  const { sessionId: _, _meta, ...rest } = began;
  const modes = options.modes === null ? {} : { modes: options.modes };
  const models = options.models === null ? {} : { models: options.models };
  const configOptions = withAgentOption(options.options, own);
  const { agent, fidelity } = connected;
  return JSON.stringify({
    ...(NAMING.has(method) ? { sessionId: conversation.id } : {}),
    ...rest,
    ...modes,
    ...models,
    ...(configOptions === null ? {} : { configOptions }),
    _meta: { ...fieldsOf(_meta), holdfast: { agent, fidelity, ...meta } },
  });
}
