import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { ConversationId } from "#log/ids";

/** The conversations of a bundle, each once, what a fork grows from before it. `withForks`: with all that grew from them. */
export async function exportOrder(
  holdfast: Holdfast,
  named: readonly Conversation[],
  withForks: boolean,
): Promise<readonly Conversation[]> {
  const sources = new Map<ConversationId, ConversationId | null>();
  for (const { id, space } of named) sources.set(id, (await space.head(id)).origin?.source ?? null);
  if (withForks) for (const [id, source] of await forksOf(holdfast, sources)) sources.set(id, source);
  const ordered = new Set<ConversationId>();
  for (const id of sources.keys()) {
    const line: ConversationId[] = [];
    // A conversation that is forked from itself, by whatever went wrong, is not gone round for ever.
    for (let at: ConversationId | null = id; at !== null && !ordered.has(at) && !line.includes(at);) {
      line.push(at);
      const source: ConversationId | null = sources.get(at) ?? null;
      at = source !== null && sources.has(source) ? source : null;
    }
    for (const next of line.toReversed()) ordered.add(next);
  }
  return [...ordered].map((id) => named.find((one) => one.id === id) ?? holdfast.handle(id));
}

/** Every fork of these, and every fork of those, by id: lists have another order in every store. */
async function forksOf(
  holdfast: Holdfast,
  named: ReadonlyMap<ConversationId, unknown>,
): Promise<readonly (readonly [ConversationId, ConversationId])[]> {
  const bySource = new Map<ConversationId, ConversationId[]>();
  for await (const { conversation, origin } of holdfast.listAll()) {
    if (origin === null) continue;
    const forks = bySource.get(origin.conversation);
    if (forks === undefined) bySource.set(origin.conversation, [conversation]);
    else forks.push(conversation);
  }
  const found = new Map<ConversationId, ConversationId>();
  const open = [...named.keys()];
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const fork of bySource.get(id) ?? []) {
      if (named.has(fork) || found.has(fork)) continue;
      found.set(fork, id);
      open.push(fork);
    }
  return [...found].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
