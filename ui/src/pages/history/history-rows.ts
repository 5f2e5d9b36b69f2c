import type { Api } from "#edges/http/client/index";
import type { Status } from "../../parts/marks/status-dot.tsx";
import type { StripData } from "../../parts/marks/strip.tsx";

export type Listed = Api["listConversations"]["response"]["conversations"][number];

/** What a list knows of how a conversation is. */
export function statusOf({ summary }: Listed): Status {
  const turn = summary?.turn ?? null;
  if (turn === null) return "quiet";
  if (turn.state === "open") return "working";
  if (turn.resetAt !== null) return "parked";
  return turn.outcome === "completed" ? "quiet" : "unclean";
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

/** A line of the history: a day, or a conversation. */
export type HistoryRow =
  | { readonly kind: "group"; readonly name: string }
  | { readonly kind: "conversation"; readonly listed: Listed };

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

/** Grouped by when they changed last, or by the folder they are about, in the order they came. */
export function rowsOf(
  listed: readonly Listed[],
  by: "day" | "folder",
  nowMs: number,
): readonly HistoryRow[] {
  const name = (one: Listed): string =>
    by === "day" ? groupOf(one.updatedAt, nowMs) : (folderName(one.cwd) ?? "No folder");
  const rows: HistoryRow[] = [];
  for (const [group, members] of Map.groupBy(listed, name)) {
    rows.push({ kind: "group", name: group });
    for (const one of members) rows.push({ kind: "conversation", listed: one });
  }
  return rows;
}
