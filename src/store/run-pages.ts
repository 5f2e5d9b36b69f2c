import { LogError } from "#log/errors";
import type { Run } from "#log/runs/run-row";
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

/** What runs are sorted by, as text that sorts the same: within one conversation the log's order, else time. */
function orderOf(run: Run, request: RunsRequest): string {
  const seq = String(run.startSeq).padStart(16, "0");
  return request.conversation === undefined ? `${run.startedAt} ${run.conversation} ${seq}` : seq;
}

/** A page of runs for a store that has them at hand. */
export function pageOfRuns(all: readonly Run[], request: RunsRequest): RunPage {
  const { after, limit, newestFirst = false } = request;
  const sign = newestFirst ? -1 : 1;
  const sorted = all
    .filter((run) => isAsked(run, request))
    .map((run) => ({ run, order: orderOf(run, request) }))
    .filter(({ order }) => after === undefined || (newestFirst ? order < after : order > after))
    .toSorted((a, b) => (a.order === b.order ? 0 : a.order < b.order ? -sign : sign));
  const page = sorted.slice(0, limit);
  return {
    runs: page.map(({ run }) => run),
    next: sorted.length > page.length ? (page.at(-1)?.order ?? null) : null,
  };
}

/** Times are compared as text, so both ends are brought into the form that entries have. */
export function checkRuns(request: RunsRequest): RunsRequest {
  const { since, until, limit } = request;
  if (!Number.isSafeInteger(limit) || limit < 1)
    throw new LogError("invalid_request", "The limit of a page of runs is a whole number from 1 on", {
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
    `${JSON.stringify(text)} is no time; write it as 2026-01-31T12:00:00Z`,
  );
}
