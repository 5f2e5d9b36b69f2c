import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { LastRun, RunChanges } from "#log/runs/run-count";
import { type Run, runRow } from "#log/runs/run-row";
import type { RunPage, RunsRequest } from "#store/requests";
import type { Lookup } from "./lookup.ts";
import { type Conversation, ENTRY_COLUMNS, type EntryRow } from "./rows.ts";
import { rowsMax, type Sql } from "./sql.ts";
import { readJson } from "#log/json/read-json";

const INSERT_RUN = `INSERT INTO runs (conversation, seq, space, run, trigger, mailbox, started_at)
  VALUES (?, ?, ?, ?, ?, ?, ?)`;
const FINISH_RUN = "UPDATE runs SET finished = ? WHERE conversation = ? AND seq = ?";
const BY_SEQ = `SELECT ${ENTRY_COLUMNS} FROM entries INDEXED BY entries_seq WHERE conversation = ? AND seq = ?`;

interface RunOwner {
  readonly row: number;
  readonly space: string;
}

/** A run has a row from its start on, and it is written once more when it is over: in between its head has it. */
export function writeRuns(sql: Sql, { row, space }: RunOwner, changes: RunChanges): void {
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
  const within = request.conversation === undefined ? null : lookup.listed(space, request.conversation).row;
  const { text, values } = query(space, request, within);
  const limit = rowsMax(request.limit);
  const found = lookup.sql.all<RunColumns>(text, ...values, limit + 1);
  const page = found.slice(0, limit);
  const conversations = new Map<number, Conversation | undefined>();
  const runs = page.flatMap((columns): readonly Run[] => {
    const [row] = columns;
    try {
      if (!conversations.has(row)) conversations.set(row, lookup.conversations.at(row));
      return [toRun(lookup, conversations.get(row), columns)];
    } catch (error) {
      // A damaged log is for the doctor, and hides no run of another.
      if (within !== null || !isLogError(error) || error.group !== "damaged") throw error;
      return [];
    }
  });
  const last = page.at(-1);
  const next = last !== undefined && found.length > limit ? `${last[2]} ${last[0]} ${last[1]}` : null;
  return { runs, next };
}

function query(
  space: string,
  request: RunsRequest,
  within: number | null,
): { readonly text: string; readonly values: readonly (string | number)[] } {
  const { newestFirst = false } = request;
  const asked: (readonly [condition: string, ...values: (string | number)[]])[] = [["space = ?", space]];
  if (within !== null) asked.push(["conversation = ?", within]);
  if (request.run !== undefined) asked.push(["run = ?", request.run]);
  if (request.mailbox !== undefined) asked.push(["mailbox = ?", request.mailbox]);
  if (request.trigger !== undefined) asked.push(["trigger = ?", request.trigger]);
  if (request.since !== undefined) asked.push(["started_at >= ?", request.since]);
  if (request.until !== undefined) asked.push(["started_at < ?", request.until]);
  const order = within === null ? ["started_at", "conversation", "seq"] : ["seq"];
  if (request.after !== undefined) {
    const cursor = cursorOf(request.after).slice(-order.length);
    const [names, marks] = [order.join(", "), cursor.map(() => "?").join(", ")];
    asked.push([`(${names}) ${newestFirst ? "<" : ">"} (${marks})`, ...cursor]);
  }
  const conditions = asked.map(([condition]) => condition).join(" AND ");
  const sorted = order.map((name) => (newestFirst ? `${name} DESC` : name)).join(", ");
  return {
    text: `SELECT conversation, seq, started_at, finished FROM runs WHERE ${conditions} ORDER BY ${sorted} LIMIT ?`,
    values: asked.flatMap(([, ...values]) => values),
  };
}

function cursorOf(after: string): [startedAt: string, conversation: number, seq: number] {
  const [startedAt = "", conversation, seq, ...rest] = after.split(" ");
  const numbers = [Number(conversation), Number(seq)] as const;
  if (rest.length > 0 || !numbers.every(Number.isSafeInteger))
    throw new LogError("invalid_request", "That is not a cursor a page of runs ended with");
  return [startedAt, ...numbers];
}

function toRun(lookup: Lookup, of: Conversation | undefined, columns: RunColumns): Run {
  const [row, seq, , text] = columns;
  const open = of?.head.summary?.run;
  const last =
    text === null ? (open?.counted?.startSeq === seq ? open : null) : (readJson(text) as unknown as LastRun);
  const start = entryAt(lookup, row, seq);
  if (of === undefined || !last || start?.type !== "run_start")
    throw new LogError(
      "damaged",
      `The run that began at entry ${seq} of conversation row ${row} is not whole`,
    );
  const { conversation, headSeq, summary } = of.head;
  const endSeq = last.counted?.endSeq ?? null;
  const end = endSeq === null ? null : entryAt(lookup, row, endSeq);
  const run = runRow({ start, last, end, conversation, parent: summary?.parent ?? null, headSeq });
  if (run === null) throw new LogError("damaged", `Run ${last.run} of ${conversation} was never counted`);
  return run;
}

function entryAt(lookup: Lookup, row: number, seq: number): Entry | null {
  const found = lookup.sql.get<EntryRow>(BY_SEQ, row, seq);
  return found === undefined ? null : decodeEntry(lookup.stored(found));
}
