import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { checkLimit } from "./history.ts";
import type { Lease } from "#log/lineage/head";
import type { ConversationId } from "#log/ids";
import type { Listed, SpaceStore } from "#store/store";

const LIMIT = 50;
const LOOKED_AT = 100;

/** Which conversations of a list are meant; what is left out does not matter. */
export interface ListFilter {
  /** The id starts with this. */
  readonly prefix?: string;
  /** The id ends with this. */
  readonly suffix?: string;
  /** The folder it is about, as it was written. */
  readonly cwd?: string;
  /** The title holds this, whatever the case. */
  readonly title?: string;
  /** Changed at or after this time. */
  readonly since?: string;
  /** Whether it is a fork. */
  readonly fork?: boolean;
}

export interface ListPageRequest {
  /** How many; 50 unless given. */
  readonly limit?: number;
  /** Where the page before ended; the first page when absent. */
  readonly cursor?: string;
  readonly filter?: ListFilter;
}

export interface ListPage {
  readonly conversations: readonly Listed[];
  /** Gives the page after this; null when there is none. */
  readonly cursor: string | null;
}

function matches(listed: Listed, filter: ListFilter): boolean {
  const { suffix, cwd, title, since, fork } = filter;
  return (
    (suffix === undefined || listed.conversation.endsWith(suffix)) &&
    (cwd === undefined || listed.cwd === cwd) &&
    (title === undefined || (listed.title ?? "").toLowerCase().includes(title.toLowerCase())) &&
    (since === undefined || Date.parse(listed.updatedAt) >= Date.parse(since)) &&
    (fork === undefined || (listed.origin !== null) === fork)
  );
}

/** One page of a list, the most recently changed first, without reading a body. */
export async function readListPage(space: SpaceStore, request: ListPageRequest): Promise<ListPage> {
  const { limit = LIMIT, filter = {} } = request;
  checkLimit(limit);
  const conversations: Listed[] = [];
  let cursor: string | null = request.cursor ?? null;
  const look = (count: number): ReturnType<SpaceStore["list"]> =>
    space.list({
      limit: count,
      ...(cursor === null ? {} : { after: cursor }),
      ...(filter.prefix === undefined ? {} : { prefix: filter.prefix }),
    });
  do {
    let page = await look(LOOKED_AT);
    const wanted = limit - conversations.length;
    const last = page.conversations.filter((listed) => matches(listed, filter))[wanted - 1];
    // A page ends where the next one begins, so what was looked at beyond the last is looked at again.
    if (last !== undefined) page = await look(page.conversations.indexOf(last) + 1);
    conversations.push(...page.conversations.filter((listed) => matches(listed, filter)).slice(0, wanted));
    cursor = page.next;
  } while (cursor !== null && conversations.length < limit);
  return { conversations, cursor };
}

/** A turn that was begun and has not ended: it runs now, or whoever ran it is gone. */
export interface OpenTurn {
  readonly conversation: ConversationId;
  readonly turn: string;
  /** The entry that holds the prompt, where the turn names one. */
  readonly prompt: string | null;
  readonly since: string;
  /** Who took the conversation for it, and until when; once that is over, the turn was cut off. */
  readonly lease: Lease | null;
}

/** The open turn of a conversation, from its latest fact about turns; null when there is none. */
export async function readOpenTurn(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<OpenTurn | null> {
  const [latest] = await space.read({
    conversation,
    types: ["turn_start", "turn_end"],
    newestFirst: true,
    limit: 1,
  });
  const entry = latest === undefined ? null : decodeEntry(latest);
  if (entry?.type !== "turn_start") return null;
  const { lease } = await space.head(conversation);
  const { turn, prompt = null, time } = entry;
  return { conversation, turn, prompt, since: time, lease };
}

/** The open turns of a space, one look at each conversation: for a host that starts again. */
export async function* readOpenTurns(
  space: SpaceStore,
  listed: AsyncIterable<Listed>,
): AsyncGenerator<OpenTurn> {
  for await (const { conversation } of listed) {
    try {
      const open = await readOpenTurn(space, conversation);
      if (open !== null) yield open;
    } catch (error) {
      // What cannot be read is for the doctor; it does not keep the others from being found.
      if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
    }
  }
}
