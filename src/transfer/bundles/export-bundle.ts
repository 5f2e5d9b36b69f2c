import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { parseConversationId, type ConversationId } from "#log/ids";
import { exportLines } from "./export-lines.ts";
import { CONVERSATIONS_MAX } from "./bundle-lines.ts";
import { Redactor, type RedactorOptions } from "#transfer/redactor";
import type { Conversation } from "#conversation/conversation";

const CHUNK_CHARS = 65_536;

export interface BundleOptions {
  /** With all forks of these conversations, and the forks of those. */
  readonly withForks?: boolean;
  /** An image that entries name and that cannot be had. */
  readonly onMissing?: (digest: string) => void;
  /** Removes what looks like a secret. A redacted bundle cannot be continued. */
  readonly redact?: RedactorOptions;
  /** The export time in the bundle (default: now). */
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
  if (ids.length === 0) throw new LogError("invalid_request", "A bundle needs at least one conversation");
  const requested = ids.map((id) => holdfast.handle(parseConversationId(id)));
  const conversations = await exportOrder(holdfast, requested, options.withForks ?? false);
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
    `The bundle has ${conversations} conversations. The limit is ${CONVERSATIONS_MAX}.`,
    { limit: CONVERSATIONS_MAX },
  );
}

/** The conversations of a bundle, each once, what a fork grows from before it. `withForks`: with all that grew from them. */
export async function exportOrder(
  holdfast: Holdfast,
  requested: readonly Conversation[],
  withForks: boolean,
): Promise<readonly Conversation[]> {
  const sources = new Map<ConversationId, ConversationId | null>();
  for (const conversation of requested)
    sources.set(conversation.id, (await conversation.head()).origin?.source ?? null);
  if (withForks) for (const [id, source] of await forksOf(holdfast, sources)) sources.set(id, source);
  const ordered = new Set<ConversationId>();
  for (const id of sources.keys()) {
    const line: ConversationId[] = [];
    // A conversation that is forked from itself, by whatever went wrong, is not gone round for ever.
    for (
      let current: ConversationId | null = id;
      current !== null && !ordered.has(current) && !line.includes(current);
    ) {
      line.push(current);
      const source: ConversationId | null = sources.get(current) ?? null;
      current = source !== null && sources.has(source) ? source : null;
    }
    for (const next of line.toReversed()) ordered.add(next);
  }
  return [...ordered].map((id) => requested.find((one) => one.id === id) ?? holdfast.handle(id));
}

/** Every fork of these, and every fork of those, by id: lists have another order in every store. */
async function forksOf(
  holdfast: Holdfast,
  sources: ReadonlyMap<ConversationId, unknown>,
): Promise<readonly (readonly [ConversationId, ConversationId])[]> {
  const bySource = new Map<ConversationId, ConversationId[]>();
  for await (const { conversation, origin } of holdfast.listAll()) {
    if (origin === null) continue;
    const forks = bySource.get(origin.conversation);
    if (forks === undefined) bySource.set(origin.conversation, [conversation]);
    else forks.push(conversation);
  }
  const forksById = new Map<ConversationId, ConversationId>();
  const open = [...sources.keys()];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const fork of bySource.get(id) ?? []) {
      if (sources.has(fork) || forksById.has(fork)) continue;
      forksById.set(fork, id);
      open.push(fork);
    }
  return [...forksById].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
