import { expect } from "vitest";
import { codingTools } from "#agent/tools/coding-tools";
import { checkInput } from "#agent/tools/tool-schema";
import type { Clock } from "#conversation/clock";
import type { Json } from "#log/json/json-text";
import { type EffectOutcome, runEffects } from "#turn/effects/run-effects";
import type { Tool, ToolRun } from "#turn/effects/tool";
import { aConversation, assistant } from "../../support/a-log.ts";

/** Runs a call as the loop would: the input checked, the effect recorded. */
export async function use(
  tool: Tool,
  input: Json,
  signal: AbortSignal = new AbortController().signal,
  clock?: Clock,
): Promise<EffectOutcome> {
  expect(await checkInput(tool, input)).toEqual({ value: input });
  const chat = await aConversation(assistant("", "m1", "c0"));
  await using owner = await chat.own({ writer: "host", leaseMs: 60_000 });
  const keepBlob = (bytes: Uint8Array): Promise<string> => chat.putBlob(bytes);
  const calls = [{ id: "c0", tool, input }];
  const [outcome] = await runEffects(owner, "t1", {
    calls,
    signal,
    keepBlob,
    ...(clock === undefined ? {} : { clock }),
  });
  return outcome ?? { state: "unknown" };
}

export function toolNamed(name: string, cwd: string): Tool {
  const tool = codingTools({ cwd }).find((one) => one.name === name);
  if (tool === undefined) throw new Error(name);
  return tool;
}

export const textOf = (outcome: EffectOutcome): string =>
  "output" in outcome ? outcome.output : outcome.state;

export function aCall(
  recordProcess: ToolRun["recordProcess"],
  signal: AbortSignal = new AbortController().signal,
): ToolRun {
  return { idempotencyKey: "k", signal, progress: () => undefined, recordProcess };
}
