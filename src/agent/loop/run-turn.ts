import type { EntryBody, TurnOutcome } from "#log/entry";
import { type ContentBlock, textOfBlocks } from "#log/message";
import type { EndingClass } from "#log/ending-class";
import { dueAt } from "#conversation/steer-queue";
import { ACTIONS, type Ending, runEnd } from "#turn/rules/ending";
import { deliveredBodies } from "#turn/accept";
import {
  answerEntries,
  callsIn,
  INTERRUPTED,
  saysNothing,
  type StepEntries,
  stepFacts,
} from "./answer-entries.ts";
import { askStep } from "./ask-step.ts";
import { type LoopTurn, stepNumber, tell, write } from "./loop-turn.ts";
import { type CallsToRun, runCalls, tellTool } from "./run-calls.ts";

/** How a turn ended, or that it waits. */
export type LoopEnd =
  | { readonly outcome: TurnOutcome; readonly ending: Ending }
  | { readonly outcome: "waiting"; readonly requests: readonly string[] };

/** What a step leaves to the next: calls of its answer. */
export interface StepCalls {
  readonly outcome: null;
  readonly calls: CallsToRun | null;
}

/** Carries a turn to its end, or to where a person has to answer. `first`: calls of an answer that is in the log. */
export async function runTurn(turn: LoopTurn, first: CallsToRun | null): Promise<LoopEnd> {
  let calls = first;
  for (;;) {
    const step = await runStep(turn, calls);
    if (step.outcome !== null) return step;
    ({ calls } = step);
  }
}

/**
 * One step: what is left of the answer before is run, and the model is asked with what came of it. Its last batch is the
 * answer, or the turn's end: with that in the log, the step is done.
 */
export async function runStep(turn: LoopTurn, before: CallsToRun | null): Promise<LoopEnd | StepCalls> {
  turn.steering.deliver = acceptSteer;
  if (before !== null) {
    const { waiting, results } = await runCalls(turn, before);
    if (waiting.length > 0 && !turn.work.cancelled.aborted) return park(turn, waiting);
    const facts = stepFacts({ finish: "calls", called: true }, results, turn);
    if (!facts.continues || turn.options.stopWhen?.(facts) === true) return end(turn, COMPLETED);
  }
  const stop = turn.work.cancelled.aborted ? CANCELLED : limitReached(turn);
  if (stop !== null) return end(turn, stop);
  await deliver(turn);
  const outcome = await askStep(turn);
  if (outcome.answer === null) return end(turn, outcome.ending, partialBodies(turn, outcome.partial));
  const rules = { model: turn.progress.model.id, tools: turn.tools, isInternal: turn.options.isInternal };
  const step = answerEntries(outcome.answer, rules);
  turn.progress.text = textOfBlocks(step.message.content);
  const bodies: EntryBody[] = [step.message, ...step.refused].map((message) => ({
    type: "message",
    message,
  }));
  if (callsIn(step.message.content).length === 0 && step.finish !== "paused") {
    const facts = stepFacts({ finish: step.finish, called: false }, [], turn);
    // Steers from here on wait for the next turn; earlier ones still belong to this turn.
    turn.steering.deliver = null;
    const continues =
      dueAt(await turn.steers.waiting(), STEP).length > 0 && turn.options.stopWhen?.(facts) !== true;
    if (!continues) return end(turn, endingOf(outcome.answer), bodies);
  }
  const seq = await write(turn, bodies, turn.stepKey);
  tellRefused(turn, step);
  const place = { turn: turn.turn, step: stepNumber(turn) };
  const calls: CallsToRun = { calls: step.calls, place, seq, fresh: true };
  return { outcome: null, calls: calls.calls.length === 0 ? null : calls };
}

/** Reports calls that never run to the host, as it does for denied calls. */
function tellRefused(turn: LoopTurn, { message, refused }: StepEntries): void {
  const results = new Map(refused.map((result) => [result.toolCallId, result]));
  for (const call of callsIn(message.content)) {
    const result = results.get(call.id);
    if (result !== undefined) tellTool(turn, call, { state: "failed", output: textOfBlocks(result.content) });
  }
}

const STEP = [null, "step"] as const;
const COMPLETED: Ending = { class: "completed", message: "", resetAtMs: null };
const CANCELLED: Ending = { class: "cancelled", message: "The turn was cancelled", resetAtMs: null };

/** A running turn finds steers in the log, so it needs no delivery. */
const acceptSteer = async (): Promise<boolean> => true;

/** What a person has said since the last step goes out with the next, once. */
async function deliver(turn: LoopTurn): Promise<void> {
  const due = dueAt(await turn.steers.owned(), STEP);
  if (due.length === 0) return;
  await write(turn, deliveredBodies(due));
  for (const { steer, content } of due)
    tell(turn.work, { type: "update", event: { type: "steered", steer, content } });
}

function limitReached({ limits, progress }: LoopTurn): Ending | null {
  const { costMicros = 0 } = progress.used;
  if (progress.steps >= limits.steps)
    return stopped(`The turn stopped after ${progress.steps} steps, its limit`);
  if (limits.costMicros !== null && costMicros >= limits.costMicros)
    return stopped(
      `The turn stopped after costing ${dollars(costMicros)} (limit: ${dollars(limits.costMicros)})`,
    );
  return null;
}

function dollars(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(6)}`;
}

function stopped(message: string): Ending {
  return { class: "turn_limit", message: message, resetAtMs: null };
}

function endingOf({ finish, content }: { finish: string; content: readonly ContentBlock[] }): Ending {
  if (finish === "filtered")
    return { class: "failed", message: "The provider's filter blocked the answer", resetAtMs: null };
  if (saysNothing(content))
    return { class: "empty", message: "The model returned an empty answer", resetAtMs: null };
  return finish === "length" ? { ...COMPLETED, message: CUT } : COMPLETED;
}

const CUT = "The model's output limit cut the answer off. Ask it to continue.";

/** What had been said of an answer that was cut off; half a call is no call, and no provider takes a message without words. */
function partialBodies(turn: LoopTurn, partial: readonly ContentBlock[]): readonly EntryBody[] {
  const content = partial.filter(({ type }) => type !== "toolCall");
  if (textOfBlocks(content).trim() === "") return [];
  turn.progress.text = textOfBlocks(content);
  const message = {
    role: "assistant",
    content,
    model: turn.progress.model.id,
    stopReason: INTERRUPTED,
  } as const;
  return [{ type: "message", message }];
}

const OUTCOMES: { readonly [A in (typeof ACTIONS)[EndingClass]]: TurnOutcome } = {
  done: "completed",
  show_empty: "completed",
  park: "failed",
  back_off: "failed",
  ask_auth: "failed",
  roll: "failed",
  restart: "interrupted",
  leave_out: "failed",
  stop: "interrupted",
  interrupt: "interrupted",
  fail: "failed",
};

/** The last answer, the turn's end and that of its run are one batch. */
async function end(turn: LoopTurn, ending: Ending, bodies: readonly EntryBody[] = []): Promise<LoopEnd> {
  const outcome = OUTCOMES[ACTIONS[ending.class]];
  const withIds = bodies.map((body) => ({ ...body, id: turn.options.newId() }));
  const node = withIds.findLast(({ type }) => type === "message")?.id ?? turn.progress.node;
  const resetAt = ending.resetAtMs === null ? {} : { resetAt: new Date(ending.resetAtMs).toISOString() };
  const bodiesAndEnd: readonly EntryBody[] = [
    ...withIds,
    { type: "turn_end", turn: turn.turn, outcome, class: ending.class, node, ...resetAt },
    ...runEnd(turn.run?.run, { outcome, class: ending.class, message: ending.message }),
  ];
  await write(turn, bodiesAndEnd, turn.stepKey);
  if (ACTIONS[ending.class] === "park") tell(turn.work, { type: "parked", ...ending });
  tell(turn.work, { type: "ended", outcome, class: ending.class });
  return { outcome, ending };
}

/** Leaves the turn open without an owner. The process that gets the answer continues it. */
function park(turn: LoopTurn, requests: readonly string[]): LoopEnd {
  tell(turn.work, { type: "waiting", requests });
  return { outcome: "waiting", requests };
}
