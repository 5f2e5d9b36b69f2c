import type { Api } from "#edges/http/client/index";
import type { InputOf } from "#edges/http/client/client";
import type { AgentSession } from "../history-rows.ts";

type ListQuery = InputOf<Api["listConversations"]>;

/** How a conversation stands; `agent_only`: it is none yet, and lies in the folder of an agent. */
const STATUSES = ["working", "waiting", "unclean", "limited", "agent_only"] as const;
export type StatusFilter = (typeof STATUSES)[number];

/** What the history is narrowed to, as the address has it. */
export interface HistoryFilters {
  readonly q: string;
  readonly days: number | null;
  readonly status: StatusFilter | null;
  /** The folder it is about, as it was written. */
  readonly folder: string | null;
  readonly model: string | null;
  readonly agent: string | null;
  readonly tag: string | null;
  readonly label: string | null;
  /** In dollars, at least. */
  readonly cost: number | null;
  readonly rolled: boolean;
  readonly fork: boolean;
  readonly archived: boolean;
}

const DAY_MS = 86_400_000;
const DAYS_MAX = 36_500;
const DOLLARS_MAX = 1_000_000;

export function filtersIn(query: URLSearchParams): HistoryFilters {
  const days = Number(query.get("days") ?? Number.NaN);
  const cost = Number(query.get("cost") ?? Number.NaN);
  return {
    q: query.get("q") ?? "",
    days: Number.isInteger(days) && days > 0 && days < DAYS_MAX ? days : null,
    status: STATUSES.find((one) => one === query.get("status")) ?? null,
    folder: query.get("folder"),
    model: query.get("model"),
    agent: query.get("agent"),
    tag: query.get("tag"),
    label: query.get("label"),
    cost: Number.isFinite(cost) && cost > 0 && cost <= DOLLARS_MAX ? cost : null,
    rolled: query.get("rolled") === "1",
    fork: query.get("fork") === "1",
    archived: query.get("archived") === "1",
  };
}

export function areFilters(filters: HistoryFilters): boolean {
  return Object.values(filters).some((value) => value !== null && value !== false && value !== "");
}

/** What the server is asked for by them; null: only what agents have is meant. */
export function listQuery(filters: HistoryFilters, nowMs: number): ListQuery | null {
  const { q, days, status, folder, model, agent, tag, label, cost, rolled, fork, archived } = filters;
  if (status === "agent_only") return null;
  return {
    ...(q === "" ? {} : { title: q }),
    ...(days === null ? {} : { since: new Date(nowMs - days * DAY_MS).toISOString() }),
    ...(status === null ? {} : { status }),
    ...(folder === null ? {} : { cwd: folder }),
    ...(model === null ? {} : { model }),
    ...(agent === null ? {} : { agent }),
    ...(tag === null ? {} : { tag }),
    ...(label === null || label === "" ? {} : { label }),
    ...(cost === null ? {} : { costMicros: Math.round(cost * 1_000_000) }),
    ...(rolled ? { rolled: true } : {}),
    ...(fork ? { fork: true } : {}),
    archived,
  };
}

/** Those of agents that are meant; of what a session of theirs does not say, none is. */
export function meantSessions(
  sessions: readonly AgentSession[],
  filters: HistoryFilters,
  nowMs: number,
): readonly AgentSession[] {
  const { q, days, status, folder, agent, ...others } = filters;
  const unknown = { ...others, q: "", days: null, status: null, folder: null, agent: null };
  if ((status !== null && status !== "agent_only") || areFilters(unknown)) return [];
  const since = days === null ? 0 : nowMs - days * DAY_MS;
  return sessions.filter(
    (one) =>
      (q === "" || (one.title ?? one.session).toLowerCase().includes(q.toLowerCase())) &&
      Date.parse(one.updatedAt) >= since &&
      (folder === null || one.cwd === folder) &&
      (agent === null || one.agent === agent),
  );
}
