import type { Run } from "#log/runs/run-row";

/** What began it, in a few words. */
export function triggerText({ trigger }: Pick<Run, "trigger">): string {
  return trigger.id === null ? trigger.type : `${trigger.type} ${trigger.id}`;
}

export interface RunState {
  readonly words: string;
  readonly tone: "" | "ok" | "bad";
  readonly icon: "replay" | "check" | "x" | "stop";
}

/** A run that was cancelled, or cut off by the next, failed by its code; to people that is another thing. */
export function runState({ status, error }: Pick<Run, "status" | "error">): RunState {
  if (status === "running") return { words: "running", tone: "ok", icon: "replay" };
  if (status === "completed") return { words: "completed", tone: "", icon: "check" };
  const code = error?.code ?? null;
  if (code === "cancelled" || code === "interrupted") return { words: code, tone: "", icon: "stop" };
  return { words: code === null ? "failed" : `failed: ${code.replaceAll("_", " ")}`, tone: "bad", icon: "x" };
}

/** How long it took; of one that runs, until now. */
export function runMs(
  { startedAt, completedAt }: Pick<Run, "startedAt" | "completedAt">,
  nowMs: number,
): number {
  return (completedAt === null ? nowMs : Date.parse(completedAt)) - Date.parse(startedAt);
}

const KINDS_MAX = 6;

/** What began them, the most frequent first, and how many of each. */
export function triggerKinds(runs: readonly Pick<Run, "trigger">[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const { trigger } of runs) counts.set(trigger.type, (counts.get(trigger.type) ?? 0) + 1);
  return [...counts].toSorted(([, one], [, other]) => other - one).slice(0, KINDS_MAX);
}
