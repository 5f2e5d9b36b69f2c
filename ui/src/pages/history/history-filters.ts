import type { InputOf } from "#edges/http/client/index";
import type { Api } from "#edges/http/client/index";

type ListQuery = InputOf<Api["listConversations"]>;

/** What the history is narrowed to, as the address has it. */
export interface HistoryFilters {
  readonly q: string;
  readonly days: number | null;
  readonly agent: string | null;
  readonly tag: string | null;
  readonly fork: boolean;
  readonly archived: boolean;
}

const DAY_MS = 86_400_000;
const DAYS_MAX = 36_500;

export function filtersIn(query: URLSearchParams): HistoryFilters {
  const days = Number(query.get("days") ?? Number.NaN);
  return {
    q: query.get("q") ?? "",
    days: Number.isInteger(days) && days > 0 && days < DAYS_MAX ? days : null,
    agent: query.get("agent"),
    tag: query.get("tag"),
    fork: query.get("fork") === "1",
    archived: query.get("archived") === "1",
  };
}

export function areFilters(filters: HistoryFilters): boolean {
  const { q, days, agent, tag, fork, archived } = filters;
  return q !== "" || days !== null || agent !== null || tag !== null || fork || archived;
}

/** What the server is asked for by them. */
export function listQuery(filters: HistoryFilters, nowMs: number): ListQuery {
  const { q, days, agent, tag, fork, archived } = filters;
  return {
    ...(q === "" ? {} : { title: q }),
    ...(days === null ? {} : { since: new Date(nowMs - days * DAY_MS).toISOString() }),
    ...(agent === null ? {} : { agent }),
    ...(tag === null ? {} : { tag }),
    ...(fork ? { fork: true } : {}),
    archived,
  };
}
