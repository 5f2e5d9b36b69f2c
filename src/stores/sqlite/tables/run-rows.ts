import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { RunChanges } from "#log/runs/run-count";
import type { RunPage, RunsRequest } from "#store/requests";
import { pageOfRunRows, parseRunCursor, runOfRow } from "#store/run-pages";
import type { Lookup } from "./lookup.ts";
import { type Conversation, ENTRY_COLUMNS, type EntryRow } from "./rows.ts";
import { rowsMax } from "#store/page-bounds";
import type { Sql } from "./sql.ts";

const INSERT_RUN = `INSERT INTO runs (conversation, seq, space, run, trigger, mailbox, started_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const FINISH_RUN = "UPDATE runs SET finished = ? WHERE conversation = ? AND seq = ?";
const BY_SEQ = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq = ?`;

const ROW = /^\d+$/; // a cursor names a conversation by its row

/** A run has a row from its start on, and it is written once more when it is over: in between its head has it. */
export function writeRuns(
  sql: Sql,
  { row, space }: { readonly row: number; readonly space: string },
  changes: RunChanges,
): void {
  const { started, finished, reopened } = changes;
  for (const { counted, run, trigger, mailbox, startedAt } of started)
    if (counted !== null) sql.run(INSERT_RUN, row, counted.startSeq, space, run, trigger, mailbox, startedAt);
  for (const last of finished)
    if (last.counted !== null) sql.run(FINISH_RUN, JSON.stringify(last), row, last.counted.startSeq);
  for (const { counted } of reopened) if (counted !== null) sql.run(FINISH_RUN, null, row, counted.startSeq);
}

type RunColumns = readonly [conversation: number, seq: number, startedAt: string, finished: string | null];

/** A page of a space's runs, each with the entries that it began and ended with. */
export function runPage(lookup: Lookup, space: string, request: RunsRequest): RunPage {
  const within =
    request.conversation === undefined ? null : lookup.visibleConversation(space, request.conversation).row;
  const { text, values } = query(space, request, within);
  const limit = rowsMax(request.limit);
  const rows = lookup.sql.all<RunColumns>(text, ...values, limit + 1);
  const conversations = new Map<number, Conversation | undefined>();
  return pageOfRunRows(
    rows,
    { ...request, limit },
    {
      cursor: ([row, seq, startedAt]) => [startedAt, row, seq],
      run: ([row, seq, , finished]) => {
        if (!conversations.has(row)) conversations.set(row, lookup.conversations.inRow(row));
        const head = conversations.get(row)?.head ?? null;
        const start = entryAt(lookup, row, seq);
        return runOfRow({ seq, finished, start }, head, (endSeq) => entryAt(lookup, row, endSeq));
      },
    },
  );
}

function query(
  space: string,
  request: RunsRequest,
  within: number | null,
): { readonly text: string; readonly values: readonly (string | number)[] } {
  const { newestFirst = false } = request;
  const clauses: (readonly [condition: string, ...values: (string | number)[]])[] = [["space = ?", space]];
  if (within !== null) clauses.push(["conversation = ?", within]);
  if (request.run !== undefined) clauses.push(["run = ?", request.run]);
  if (request.mailbox !== undefined) clauses.push(["mailbox = ?", request.mailbox]);
  if (request.trigger !== undefined) clauses.push(["trigger = ?", request.trigger]);
  if (request.since !== undefined) clauses.push(["started_at >= ?", request.since]);
  if (request.until !== undefined) clauses.push(["started_at < ?", request.until]);
  const order = within === null ? ["started_at", "conversation", "seq"] : ["seq"];
  if (request.after !== undefined) {
    const cursor = parseRunCursor(request.after, ROW).slice(-order.length);
    const [names, marks] = [order.join(", "), cursor.map(() => "?").join(", ")];
    clauses.push([`(${names}) ${newestFirst ? "<" : ">"} (${marks})`, ...cursor]);
  }
  const conditions = clauses.map(([condition]) => condition).join(" AND ");
  const sorted = order.map((name) => (newestFirst ? `${name} DESC` : name)).join(", ");
  return {
    text: `SELECT conversation, seq, started_at, finished FROM runs WHERE ${conditions} ORDER BY ${sorted} LIMIT ?`,
    values: clauses.flatMap(([, ...values]) => values),
  };
}

function entryAt(lookup: Lookup, row: number, seq: number): Entry | null {
  const entry = lookup.sql.get<EntryRow>(BY_SEQ, row, seq);
  return entry === undefined ? null : decodeEntry(lookup.stored(entry));
}
