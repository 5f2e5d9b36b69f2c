import type { Entry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { readJson } from "#log/json/read-json";
import type { Head } from "#log/lineage/head";
import type { LastRun } from "#log/runs/run-count";
import { type Run, runRow } from "#log/runs/run-row";
import type { RunPage, RunsRequest } from "./requests.ts";

/** Whether a run is one of those asked for, wherever the page begins. */
function isAsked(run: Run, request: RunsRequest): boolean {
  const { since, until } = request;
  return (
    (request.run === undefined || run.run === request.run) &&
    (request.conversation === undefined || run.conversation === request.conversation) &&
    (request.mailbox === undefined || run.mailbox === request.mailbox) &&
    (request.trigger === undefined || run.trigger.type === request.trigger) &&
    (since === undefined || run.startedAt >= since) &&
    (until === undefined || run.startedAt < until)
  );
}

/** Where a run stands among others, and the cursor of a page that ends with it. */
type RunPosition = readonly [startedAt: string, conversation: string | number, seq: number];

/** What runs are sorted by, as text that sorts the same: within one conversation the log's order, else time. */
function orderOf([startedAt, conversation, startSeq]: RunPosition, request: RunsRequest): string {
  const seq = String(startSeq).padStart(16, "0");
  return request.conversation === undefined ? `${startedAt} ${conversation} ${seq}` : seq;
}

const ID = /^\S+$/; // a cursor names a conversation by its id, or by what a store has in its place

/** A page of runs for a store that has them at hand. */
export function pageOfRuns(all: readonly Run[], request: RunsRequest): RunPage {
  const { after, limit, newestFirst = false } = request;
  const sign = newestFirst ? -1 : 1;
  const from = after === undefined ? null : orderOf(parseRunCursor(after), request);
  const sorted = all
    .filter((run) => isAsked(run, request))
    .map((run) => ({ run, order: orderOf(positionOf(run), request) }))
    .filter(({ order }) => from === null || (newestFirst ? order < from : order > from))
    .toSorted((a, b) => (a.order === b.order ? 0 : a.order < b.order ? -sign : sign));
  const runs = sorted.slice(0, limit).map(({ run }) => run);
  const last = runs.at(-1);
  return { runs, next: last !== undefined && sorted.length > limit ? positionOf(last).join(" ") : null };
}

function positionOf({ startedAt, conversation, startSeq }: Run): RunPosition {
  return [startedAt, conversation, startSeq];
}

/** Where a page of rows of runs ended. `name` is how the store names a conversation in it. */
export function parseRunCursor(
  after: string,
  name: RegExp = ID,
): readonly [startedAt: string, conversation: string, seq: number] {
  const [startedAt = "", conversation = "", seq, ...rest] = after.split(" ");
  if (rest.length === 0 && name.test(conversation) && Number.isSafeInteger(Number(seq)))
    return [startedAt, conversation, Number(seq)];
  throw new LogError(
    "invalid_request",
    `Invalid cursor "${after}". Pass the cursor returned with the previous page.`,
  );
}

/** A page of the rows that were found, which are one more than the page where another follows. */
export function pageOfRunRows<Row>(
  rows: readonly Row[],
  request: RunsRequest,
  { cursor, run }: { readonly cursor: (row: Row) => RunPosition; readonly run: (row: Row) => Run },
): RunPage {
  const page = rows.slice(0, request.limit);
  const runs = page.flatMap((row): readonly Run[] => {
    try {
      return [run(row)];
    } catch (error) {
      // A damaged log is for the doctor, and hides no run of another.
      if (request.conversation !== undefined || !isLogError(error) || error.group !== "damaged") throw error;
      return [];
    }
  });
  const last = page.at(-1);
  return { runs, next: last !== undefined && rows.length > page.length ? cursor(last).join(" ") : null };
}

/** The run of a row: an ended run has its counts in the row, an open one has them in the head of its log. */
export function runOfRow(
  row: { readonly seq: number; readonly finished: string | null; readonly start: Entry | null },
  head: Head | null,
  entryAt: (seq: number) => Entry | null,
): Run {
  const { seq, finished, start } = row;
  const open = head?.summary?.run;
  const stored = finished === null ? null : (readJson(finished) as unknown as LastRun);
  const last = stored ?? (open?.counted?.startSeq === seq ? open : null);
  if (head === null || !last || start?.type !== "run_start")
    throw new LogError(
      "damaged",
      `Entries are missing from the run that started at entry ${seq} of ${head?.conversation ?? "a missing conversation"}`,
    );
  const { conversation, headSeq, summary } = head;
  const endSeq = last.counted?.endSeq ?? null;
  const end = endSeq === null ? null : entryAt(endSeq);
  const run = runRow({ start, last, end, conversation, parent: summary?.parent ?? null, headSeq });
  if (run === null)
    throw new LogError("damaged", `Run ${last.run} of ${conversation} is missing from the run table`);
  return run;
}

/** Times are compared as text, so both ends are brought into the form that entries have. */
export function checkRuns(request: RunsRequest): RunsRequest {
  const { since, until, limit, after } = request;
  if (after !== undefined) parseRunCursor(after);
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new LogError("invalid_request", "limit must be a whole number of at least 1", {
      limit,
    });
  return {
    ...request,
    ...(since === undefined ? {} : { since: timeIn(since) }),
    ...(until === undefined ? {} : { until: timeIn(until) }),
  };
}

function timeIn(text: string): string {
  const ms = Date.parse(text);
  if (!Number.isNaN(ms)) return new Date(ms).toISOString();
  throw new LogError(
    "invalid_request",
    `Invalid time ${JSON.stringify(text)}. Use ISO 8601, such as 2026-01-31T12:00:00Z.`,
  );
}
