import { LogError } from "#log/errors";
import { readBatchEnds } from "#stores/postgres/read/reads";
import type { State } from "#stores/postgres/tables/rows";
import type { WriteContext } from "./append.ts";
import type { LogEnd } from "./head-cache.ts";

/** Whether the log ends where this store left it, so that nothing has to be asked. */
export function endsAt({ head, born }: State, end: LogEnd): boolean {
  return born !== end.born || (head.headSeq === end.seq && head.link === end.link);
}

/**
 * Refuses, once, to write to a log that has lost what this store was told was written: a standby took over that had not heard of
 * it, or a copy was restored. `end` was known before the database was asked for the state.
 */
export async function checkEnd(
  { db, space, heads }: Pick<WriteContext, "db" | "space" | "heads">,
  state: State,
  end: LogEnd | undefined,
): Promise<void> {
  const { conversation, headSeq } = state.head;
  if (end === undefined || end.link === null || endsAt(state, end)) return;
  if (headSeq > end.seq) {
    const [stored] = await readBatchEnds(db, space, { conversation, after: end.seq - 1, limit: 1 });
    if (stored?.link === end.link) return;
  }
  heads.forgetEnd(space, conversation);
  throw new LogError(
    "diverged",
    `Conversation ${conversation} lost entry ${end.seq}, which this process wrote. The database was probably restored, or failed over to a standby that lacked it. Read the log, then try again to continue from there.`,
    { conversation, seq: end.seq },
  );
}
