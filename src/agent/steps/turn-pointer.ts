import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import { LogError } from "#log/errors";
import { fieldsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { detailsOf } from "#log/message-extras";

/** What an engine keeps of a step: where its entries are, how to tell that they are, and what a loop goes on by. */
export type TurnPointer = {
  readonly v: 1;
  readonly fromSeq: number;
  readonly toSeq: number;
  /** The entry at `toSeq`: a seq may come again with other words. */
  readonly lastId: string;
  /** Of the batch that ends there; null in a log from before there were links. */
  readonly link: string | null;
  /** How the answer ended; without one, how the turn did, or that it waits. */
  readonly finishReason: string;
  /** What all attempts of the step used. */
  readonly usage: { readonly [counter: string]: number };
  readonly executedLocalToolCount: number;
};

/** A step that ended with neither an answer nor the turn's end: a person is asked. */
export const WAITS = "waiting";

/** Says of a step what its entries say: it is the same whoever reads them, in whichever attempt. */
export function stepOutcome(
  entries: Iterable<Entry>,
): Pick<TurnPointer, "finishReason" | "usage" | "executedLocalToolCount"> {
  let [answered, ended, executedLocalToolCount]: [string | null, string | null, number] = [null, null, 0];
  const usage: { [counter: string]: number } = {};
  for (const entry of entries) {
    if (entry.type === "turn_end") ended = entry.class ?? entry.outcome;
    if (entry.type === "message") {
      const { message } = entry;
      if (message.role === "assistant") answered = message.stopReason ?? "endTurn";
      // A call that was refused has a result, too.
      if (message.role === "toolResult" && fieldsIn(detailsOf(entry))?.["notRun"] !== true)
        executedLocalToolCount++;
    }
    const spent = summaryChange(entry.type, entry, entry.time)?.spent?.usage ?? {};
    for (const [counter, count] of Object.entries(spent) as [string, number][])
      usage[counter] = (usage[counter] ?? 0) + count;
  }
  return { finishReason: answered ?? ended ?? WAITS, usage, executedLocalToolCount };
}

/** What an engine gave back for a step; refused where it is nothing that this version wrote. */
export function parsePointer(stored: Json, step: string): TurnPointer {
  const given = fieldsIn(stored) ?? {};
  const { v, fromSeq, toSeq, lastId, link, finishReason, usage, executedLocalToolCount } = given;
  if (typeof v === "number" && v !== 1)
    throw new LogError(
      "unsupported_version",
      `The step "${step}" was written by a newer version (${v}): go on with that, or begin a new task. The log was not touched`,
      { step, version: v },
    );
  const counts = fieldsIn(usage);
  if (
    v !== 1 ||
    !isCount(fromSeq) ||
    !isCount(toSeq) ||
    typeof lastId !== "string" ||
    !(link === null || typeof link === "string") ||
    typeof finishReason !== "string" ||
    counts === null ||
    !isCount(executedLocalToolCount)
  )
    throw new LogError(
      "invalid_request",
      `What the engine has for the step "${step}" is no pointer into a log: another step has that name. Nothing was run or written`,
      { step },
    );
  const numbers = Object.entries(counts).filter((pair): pair is [string, number] => isCount(pair[1]));
  return {
    v,
    fromSeq,
    toSeq,
    lastId,
    link,
    finishReason,
    usage: Object.fromEntries(numbers),
    executedLocalToolCount,
  };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
