import type { Db, Row } from "#stores/postgres/db/db";
import type { Call } from "#stores/postgres/db/sql-texts";

/** One question about conversations of many spaces; each row begins with the space. */
export async function askEachSpace<R extends Row>(
  db: Db,
  call: Call,
  rows: readonly Row[],
): Promise<readonly R[]> {
  const columns = (some: readonly Row[]): readonly unknown[] =>
    call.types.map((_, at) => some.map((row) => row[at]));
  if (!db.fenced || db.functions) return db.call<R>(call, ...columns(rows));
  const answers: R[] = [];
  for (const [space, some] of Map.groupBy(rows, ([first]) => String(first)))
    answers.push(...(await db.inSpace(space).call<R>(call, ...columns(some))));
  return answers;
}
