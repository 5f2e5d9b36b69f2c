import type { UsageSum } from "#log/add-usage";
import type { Entry, EntryOf, Parent } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { type LastRun, readStoredRun } from "./run-count.ts";

type RunStatus = "running" | "completed" | "failed";

/** What happened in a conversation from one trigger on: one row. */
export interface Run {
  readonly run: string;
  readonly conversation: ConversationId;
  /** What began it, and which one of these. */
  readonly trigger: { readonly type: string; readonly id: string | null };
  readonly mailbox: string | null;
  readonly model: string | null;
  /** How many tokens the model takes. */
  readonly window: number | null;
  readonly status: RunStatus;
  /** Why it failed. Whatever is neither completed nor failed, such as cancelled, is the code of a failure. */
  readonly error: { readonly message: string; readonly code: string | null } | null;
  readonly policy: Json | null;
  readonly tools: readonly string[] | null;
  readonly seed: EntryId | null;
  readonly seedCount: number;
  /** The run that it continues. */
  readonly continues: string | null;
  /** The sections of its system prompt that are other words than usual. */
  readonly promptPatch: { readonly [section: string]: Json } | null;
  /** The conversation that caused this one without being the source of a fork. */
  readonly parent: Parent | null;
  /** Answers of models, and prompts of people, within its turns. */
  readonly steps: number;
  readonly prompts: number;
  /** What its turns cost. */
  readonly usage: UsageSum;
  /** The seq of its start, and the high-water mark: the last entry of its time. */
  readonly startSeq: number;
  readonly highWater: number;
  readonly startedAt: string;
  readonly completedAt: string | null;
}

export interface RunSources {
  readonly start: EntryOf<"run_start">;
  readonly last: LastRun;
  /** The entry at its high-water mark, which is mostly its end. */
  readonly end: Entry | null;
  readonly conversation: ConversationId;
  readonly parent: Parent | null;
  readonly headSeq: number;
}

/** The row of a run; null where it was not counted. */
export function runRow({ start, last, end, conversation, parent, headSeq }: RunSources): Run | null {
  const { counted } = readStoredRun(last);
  if (counted === null) return null;
  return {
    run: last.run,
    conversation,
    trigger: { type: start.trigger, id: start.triggerId ?? null },
    mailbox: start.mailbox ?? null,
    model: start.model ?? null,
    window: start.window ?? null,
    status: last.endedAt === null ? "running" : last.status === "completed" ? "completed" : "failed",
    error: errorOf(last, end),
    policy: start.policy ?? null,
    tools: start.tools ?? null,
    seed: start.seed ?? null,
    seedCount: start.seedCount ?? 0,
    continues: start.continues ?? null,
    promptPatch: start.promptPatch ?? null,
    parent,
    steps: counted.steps,
    prompts: counted.prompts,
    usage: counted.usage,
    startSeq: counted.startSeq,
    highWater: counted.endSeq ?? headSeq,
    startedAt: last.startedAt,
    completedAt: last.endedAt,
  };
}

function errorOf(last: LastRun, end: Entry | null): Run["error"] {
  if (last.endedAt === null || last.status === "completed") return null;
  const code = last.status === "failed" ? null : last.status;
  if (end?.type !== "run_end" || end.run !== last.run)
    return { message: "Another run started before this one ended", code };
  const { message = `The run ended as ${last.status}` } = end.error ?? {};
  return { message, code: end.error?.code ?? code };
}
