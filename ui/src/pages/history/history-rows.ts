import type { Api } from "#edges/http/client/index";
import { safeLine } from "#transfer/views/safe-text";
import { countText } from "../../parts/numbers.ts";
import type { Status, StripData } from "../../parts/marks/mark-data.ts";

export type Listed = Api["listConversations"]["response"]["conversations"][number];

export type AgentSession = Api["listAgentSessions"]["response"]["sessions"][number];

/** The mark of each state. */
const STATUS: Readonly<Record<Listed["state"], Status>> = {
  quiet: "quiet",
  stopped: "quiet",
  gone: "quiet",
  working: "working",
  waiting: "waiting",
  limited: "parked",
  limit_over: "parked",
  failed: "unclean",
  cut_off: "unclean",
  damaged: "unclean",
  newer_format: "unclean",
};

export function statusOf({ state }: Listed): Status {
  return STATUS[state];
}

export function stripOf(listed: Listed): StripData {
  const status = statusOf(listed);
  return {
    entries: listed.headSeq,
    carriers: listed.summary?.links ?? 0,
    isLive: status === "working",
    isUnclean: status === "unclean",
  };
}

/** The last part of the folder it is about, which is what people call a project. */
export function folderName(cwd: string | null): string | null {
  return cwd?.split(/[/\\]/).findLast((part) => part !== "") ?? null;
}

/** A line of the history: a day, a conversation, or a session that only an agent has. */
export type HistoryRow =
  | { readonly kind: "group"; readonly name: string; readonly more?: string }
  | { readonly kind: "conversation"; readonly listed: Listed }
  | { readonly kind: "agent_session"; readonly session: AgentSession };

/** What tells a row from all others; of a session the id that its conversation would have. */
export function rowKey(row: HistoryRow): string {
  if (row.kind === "group") return `group ${row.name}`;
  if (row.kind === "conversation") return row.listed.conversation;
  return `${row.session.agent}:${row.session.session}`;
}

const DAY_MS = 86_400_000;

function groupOf(time: string, nowMs: number): string {
  const midnight = new Date(nowMs).setHours(0, 0, 0, 0);
  const at = Date.parse(time);
  if (at >= midnight) return "Today";
  if (at >= midnight - DAY_MS) return "Yesterday";
  if (at >= midnight - 7 * DAY_MS) return "Last week";
  if (at >= midnight - 30 * DAY_MS) return "Last month";
  return "Earlier";
}

/** A folder by its last part, or whole where another has the same last part. */
function folderText(cwd: string, listed: readonly Listed[]): string {
  const name = folderName(cwd);
  if (name === null) return "No folder";
  const isShared = listed.some((other) => other.cwd !== cwd && folderName(other.cwd) === name);
  return safeLine(isShared ? cwd : name);
}

/** Grouped by when they changed last, or by the folder they are about, in the order they came. */
export function rowsOf(
  listed: readonly Listed[],
  by: "day" | "folder",
  nowMs: number,
): readonly HistoryRow[] {
  const name = (one: Listed): string => (by === "day" ? groupOf(one.updatedAt, nowMs) : (one.cwd ?? ""));
  const rows: HistoryRow[] = [];
  for (const [group, members] of Map.groupBy(listed, name)) {
    rows.push({ kind: "group", name: by === "day" ? group : folderText(group, listed) });
    for (const one of members) rows.push({ kind: "conversation", listed: one });
  }
  return rows;
}

/** What only agents have, behind all that is here. */
export function agentRows(sessions: readonly AgentSession[]): readonly HistoryRow[] {
  if (sessions.length === 0) return [];
  const more = `${countText(sessions.length, "session")}, not imported yet`;
  return [
    { kind: "group", name: "Found on this machine", more },
    ...sessions.map((session): HistoryRow => ({ kind: "agent_session", session })),
  ];
}
