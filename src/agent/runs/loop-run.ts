import type { Bodies } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Tool } from "#turn/effects/tool";
import { type PromptPatch, storedPatch } from "#agent/prompt/prompt-patch";

/** The run of a turn, as far as its requests depend on it. */
export interface LoopRun {
  readonly run: string;
  readonly startSeq: number;
  /** Null: its requests are made of the conversation's context. */
  readonly seed: EntryId | null;
  readonly seedCount: number;
  readonly continues: string | null;
  /** The only tools its model is offered; null: all there are. */
  readonly tools: ReadonlySet<string> | null;
  readonly promptPatch: PromptPatch | null;
}

export function loopRun(start: Bodies["run_start"], startSeq: number): LoopRun {
  const { run, seed = null, seedCount = 0, continues = null } = start;
  const tools = start.toolsOnly === true ? new Set(start.tools) : null;
  return { run, startSeq, seed, seedCount, continues, tools, promptPatch: storedPatch(start.promptPatch) };
}

export function toolsOfRun(tools: ReadonlyMap<string, Tool>, run: LoopRun | null): ReadonlyMap<string, Tool> {
  const only = run?.tools ?? null;
  return only === null ? tools : new Map([...tools].filter(([name]) => only.has(name)));
}
