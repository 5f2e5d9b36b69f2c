import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { exportLines } from "./lines/export-lines.ts";
import { exportOrder } from "./lines/export-order.ts";
import { CONVERSATIONS_MAX } from "./lines/log-lines.ts";
import { Redactor, type RedactorOptions } from "./redact/redactor.ts";

const CHUNK_CHARS = 65_536;

export interface BundleOptions {
  /** With all forks of these conversations, and the forks of those. */
  readonly withForks?: boolean;
  /** An image that entries name and that cannot be had. */
  readonly onMissing?: (digest: string) => void;
  /** Without what looks like a secret; such a bundle is to be read, and cannot be gone on with. */
  readonly redact?: RedactorOptions;
  /** The time that the bundle says it was made at; now unless given. */
  readonly exportedAt?: string;
}

/**
 * Conversations as the bytes of a bundle, made as they are asked for: one that is piped into a slow place holds no more than
 * a batch. What they share is there once, and what is written is proven as it is read.
 */
export async function* exportBundle(
  holdfast: Holdfast,
  ids: readonly string[],
  options: BundleOptions = {},
): AsyncGenerator<Uint8Array> {
  if (ids.length === 0) throw new LogError("invalid_request", "A bundle has at least one conversation");
  const named = ids.map((id) => holdfast.handle(parseConversationId(id)));
  const conversations = await exportOrder(holdfast, named, options.withForks ?? false);
  checkCount(conversations.length);
  const { exportedAt = new Date().toISOString(), onMissing = () => undefined, redact } = options;
  const redacted = redact === undefined ? {} : { redactor: new Redactor(redact) };
  let pending = "";
  for await (const { text } of exportLines(conversations, { exportedAt, onMissing, ...redacted })) {
    pending += `${text}\n`;
    if (pending.length < CHUNK_CHARS) continue;
    yield Buffer.from(pending);
    pending = "";
  }
  yield Buffer.from(pending);
}

/** Whether as many conversations may stand in one bundle. */
export function checkCount(conversations: number): void {
  if (conversations <= CONVERSATIONS_MAX) return;
  throw new LogError(
    "too_large",
    `A bundle may have ${CONVERSATIONS_MAX} conversations, these are ${conversations}; nothing was written`,
    { limit: CONVERSATIONS_MAX },
  );
}
