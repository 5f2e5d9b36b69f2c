import { listCursor, type SpaceId } from "#log/ids";
import type { LogRow, IndexedLogs } from "./indexed-log.ts";
import type { ConversationRow, ListRequest } from "#store/requests";

const CURSORS_MAX = 64; // lists that someone may still be paging through; a forgotten one is sorted again

/** The rest of a list that was sorted when its first page was asked for. */
interface Rest {
  readonly sorted: readonly LogRow[];
  readonly from: number;
}

/**
 * Pages of a list over logs. The order is found once, for the first page; each later page looks again only at the
 * conversations that it shows, so that all pages together cost what the list is long.
 */
export class ListPages {
  readonly #logs: IndexedLogs;
  readonly #space: SpaceId;
  /** By the cursor that asks for it, the oldest first. */
  readonly #rests = new Map<string, Rest>();

  constructor(logs: IndexedLogs, space: SpaceId) {
    this.#logs = logs;
    this.#space = space;
  }

  async page(
    request: ListRequest,
  ): Promise<{ conversations: readonly ConversationRow[]; next: string | null }> {
    const { limit, after, prefix = "", unlisted = false, forkOf = "" } = request;
    const key = `${unlisted} ${forkOf} ${prefix}`;
    const rest = after === undefined ? undefined : this.#rests.get(`${key} ${after}`);
    const { sorted, from } = rest ?? (await this.#sort(request));
    const conversations: ConversationRow[] = [];
    let index = from;
    while (index < sorted.length && conversations.length < limit) {
      const some = sorted.slice(index, index + limit - conversations.length);
      for (const listed of rest === undefined ? some : await this.#lookAgain(some))
        conversations.push(withoutErased(listed));
      index += some.length;
    }
    const last = sorted[index - 1];
    const next = last !== undefined && index < sorted.length && index > from ? listCursor(last) : null;
    if (next !== null) this.#remember(`${key} ${next}`, { sorted, from: index });
    return { conversations, next };
  }

  async #sort({ after, prefix = "", unlisted = false, forkOf }: ListRequest): Promise<Rest> {
    const sorted = (await this.#logs.list(this.#space, prefix))
      .filter((listed) => !listed.erased && (listed.summary?.unlisted ?? false) === unlisted)
      .filter(({ origin }) => forkOf === undefined || origin?.conversation === forkOf)
      .map((listed) => ({ listed, order: listCursor(listed) }))
      .filter(({ order }) => after === undefined || order < after)
      .toSorted((a, b) => (a.order < b.order ? 1 : -1))
      .map(({ listed }) => listed);
    return { sorted, from: 0 };
  }

  async #lookAgain(some: readonly LogRow[]): Promise<readonly LogRow[]> {
    const now = await Promise.all(some.map((listed) => this.#logs.listOne(this.#space, listed.conversation)));
    return now.filter((listed) => listed?.erased === false) as readonly LogRow[];
  }

  #remember(cursor: string, rest: Rest): void {
    this.#rests.delete(cursor);
    this.#rests.set(cursor, rest);
    const [oldest] = this.#rests.keys();
    if (this.#rests.size > CURSORS_MAX && oldest !== undefined) this.#rests.delete(oldest);
  }
}

function withoutErased({ erased: _, ...listed }: LogRow): ConversationRow {
  return listed;
}
