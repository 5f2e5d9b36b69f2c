import type { ConversationId, SpaceId } from "#log/ids";

type LinksRead = Map<ConversationId, { readonly headSeq: number; readonly ids: readonly string[] }>;

/** What a list has read from logs: a log that has not grown says what it said. */
export class ListCache {
  /** Where each conversation lives. */
  readonly folders: Map<ConversationId, { readonly headSeq: number; readonly cwd: string }> = new Map();
  readonly #links = new Map<SpaceId, LinksRead>();

  /** The upstream sessions of each conversation of a space. */
  links(space: SpaceId): LinksRead {
    const read = this.#links.get(space) ?? new Map<ConversationId, { headSeq: number; ids: string[] }>();
    this.#links.set(space, read);
    return read;
  }
}
