import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { ConversationId, SpaceId } from "#log/ids";
import type { RunPage, RunsRequest } from "#store/requests";
import { pageOfRunRows, parseRunCursor, runOfRow } from "#store/run-pages";
import type { Db } from "#stores/postgres/db/db";
import { notFound } from "#stores/postgres/postgres-errors";
import { ENTRY_COLUMNS, type EntryRow, readState, toStored } from "#stores/postgres/tables/rows";
import { nameDigest } from "#stores/postgres/tables/escape-text";
import { rowsMax } from "./window.ts";

const columns = (of: string): string =>
  ENTRY_COLUMNS.split(", ")
    .map((name) => `${of}.${name}`)
    .join(", ");

const ID = /^\S+$/; // a cursor names a conversation by its id

type RunColumns = readonly [
  conversation: ConversationId,
  seq: number,
  startedAt: string,
  finished: string | null,
  state: string | null,
  ...EntryRow,
  ...EntryRow,
];

/** A page of a space's runs, each with the entries that it began and ended with: one statement, one moment. */
export async function runPage(db: Db, space: SpaceId, request: RunsRequest): Promise<RunPage> {
  const limit = rowsMax(request.limit);
  const { text, values } = query(space, request, limit + 1);
  const matches = await db.read<RunColumns>(text, ...values);
  const within = request.conversation;
  if (within !== undefined && matches.length === 0) throw notFound(within);
  const rows = matches.filter(([conversation]) => conversation !== null);
  return pageOfRunRows(
    rows,
    { ...request, limit },
    {
      cursor: ([conversation, seq, startedAt]) => [startedAt, conversation, seq],
      run: (row) => {
        const [, seq, , finished, state] = row;
        const head = state === null ? null : readState(state).head;
        return runOfRow({ seq, finished, start: entryIn(row.slice(5, 12)) }, head, () =>
          entryIn(row.slice(12, 19)),
        );
      },
    },
  );
}

function query(
  space: SpaceId,
  request: RunsRequest,
  limit: number,
): { readonly text: string; readonly values: readonly unknown[] } {
  const { newestFirst = false, conversation } = request;
  const values: unknown[] = [space];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const conditions: string[] = [];
  const names = { run: request.run, mailbox: request.mailbox, trigger: request.trigger };
  for (const [column, name] of Object.entries(names))
    if (name !== undefined) conditions.push(`r.${column} = ${bind(nameDigest(name))}`);
  if (request.since !== undefined) conditions.push(`r.started_at >= ${bind(request.since)}`);
  if (request.until !== undefined) conditions.push(`r.started_at < ${bind(request.until)}`);
  const order = conversation === undefined ? ["r.started_at", "r.conversation", "r.seq"] : ["r.seq"];
  if (request.after !== undefined) {
    const cursor = parseRunCursor(request.after, ID).slice(-order.length);
    const [sign, marks] = [newestFirst ? "<" : ">", cursor.map((value) => bind(value)).join(", ")];
    conditions.push(`(${order.join(", ")}) ${sign} (${marks})`);
  }
  const way = newestFirst ? "desc" : "asc";
  const sorted = (of: string): string => order.map((name) => `${name.replace("r.", of)} ${way}`).join(", ");
  const only = conversation === undefined ? "true" : `r.conversation = ${bind(conversation)}`;
  const there =
    conversation === undefined
      ? "(select 1) c"
      : `(select 1 from @.conversations where space = $1 and id = ${bind(conversation)} and listed) c`;
  const text = `select r.conversation, r.seq, r.started_at, r.finished, row_to_json(h)::text, ${columns("s")}, ${columns("e")}
    from ${there} left join lateral (select * from @.runs r where r.space = $1 and ${[only, ...conditions].join(" and ")}
      order by ${sorted("r.")} limit ${bind(limit)}) r on true
    left join @.conversations h on h.space = $1 and h.id = r.conversation
    left join @.entries s on s.space = $1 and s.conversation = r.conversation and s.seq = r.seq
    left join @.entries e on e.space = $1 and e.conversation = r.conversation and e.seq = r.end_seq
    order by ${sorted("r.")}`;
  return { text, values };
}

function entryIn(columnsOf: readonly unknown[]): Entry | null {
  return columnsOf[0] === null ? null : decodeEntry(toStored(columnsOf as unknown as EntryRow));
}
