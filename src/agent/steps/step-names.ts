import type { Claim } from "#turn/one-at-a-time";
import { LogError } from "#log/errors";
import { parseKey } from "#log/ids";
import type { DurableStep } from "./durable-step.ts";

const STEP = "turn:v1"; // goes up when a step means something else: an engine keeps results for ever

/** What one attempt at a task has done in a conversation. */
export interface AttemptIn {
  readonly claim: Claim;
  steps: number;
}

const attempts = new WeakMap<DurableStep, Map<string, AttemptIn>>();

/** The same for every turn that an attempt carries there: it owns the conversation in one epoch, and goes on numbering. */
export function attemptIn(steps: DurableStep, conversation: string): AttemptIn {
  checkSteps(steps);
  const byConversation = attempts.get(steps) ?? new Map<string, AttemptIn>();
  attempts.set(steps, byConversation);
  // Every attempt writes in the task's name, so that the next need not wait for the one before, and fences it off.
  const writer = `${steps.engine} task ${steps.taskId}`;
  const attempt = byConversation.get(conversation) ?? { claim: { writer, epoch: null }, steps: 0 };
  byConversation.set(conversation, attempt);
  return attempt;
}

function checkSteps(steps: unknown): void {
  const { taskId, step } = steps as { readonly taskId?: unknown; readonly step?: unknown };
  if (typeof taskId === "string" && taskId !== "" && typeof step === "function") return;
  throw new LogError("invalid_request", "Durable steps have a task's id and a function `step`");
}

/** Names the steps of turns by their order, which is the log's; a task may carry turns of several conversations. */
export function stepName(conversation: string, number: number): string {
  return `${STEP}/${conversation}/${number}`;
}

/** What a step's last batch is known by. No time, no chance and no attempt is in it. */
export function stepAppendKey(taskId: string, stepKey: string): string {
  return parseKey(`${taskId}/${stepKey}`);
}

/** The key of the batch that began the turn in that step. */
export function promptKey(stepKey: string): string {
  return parseKey(`${stepKey}/prompt`);
}
