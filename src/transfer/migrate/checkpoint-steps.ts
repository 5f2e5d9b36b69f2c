import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";
import { foreignProblem, isFields } from "./foreign-messages.ts";

/** A checkpoint by its name: `agent-loop#3` is the third step of that name in its task. */
interface StepName {
  readonly name: string;
  readonly ordinal: number;
}

function parseStepName(checkpoint: string): StepName {
  const [, name, digits] = /^(.+)#([2-9]|[1-9]\d+)$/s.exec(checkpoint) ?? [];
  return name === undefined ? { name: checkpoint, ordinal: 1 } : { name, ordinal: Number(digits) };
}

export interface Checkpoint {
  readonly checkpoint: string;
  /** When it was written, to be compared as text. */
  readonly time: string;
}

/**
 * Checkpoints in the order in which their steps ran: by time, and those of one name by their number, for a late attempt may have
 * written one again.
 */
export function orderSteps<C extends Checkpoint>(checkpoints: readonly C[]): readonly C[] {
  const steps = checkpoints.map((one) => ({ one, ...parseStepName(one.checkpoint) }));
  const byTime = steps.toSorted(
    (a, b) => compare(a.one.time, b.one.time) || compare(a.name, b.name) || a.ordinal - b.ordinal,
  );
  const byName = Map.groupBy(
    steps.toSorted((a, b) => a.ordinal - b.ordinal),
    ({ name }) => name,
  );
  const next = new Map<string, number>();
  return byTime.flatMap(({ name }) => {
    const index = next.get(name) ?? 0;
    next.set(name, index + 1);
    const step = byName.get(name)?.[index];
    if (step === undefined) return [];
    if (step.ordinal !== index + 1)
      throw new LogError(
        "invalid_entry",
        `has a step ${step.one.checkpoint}, but number ${index + 1} of that name is missing`,
      );
    return [step.one];
  });
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

const APPENDED = ["appendedMessages", "newMessages", "messages"];

/**
 * The messages that a step appended, from what the engine keeps of it: a list under one of the usual names or the given one, a
 * list, or one message. None where it keeps something else, such as where to look for them.
 */
export function messagesOfStep(state: Json, member: string | null): readonly Json[] {
  const messages = listIn(state, member);
  for (const message of messages) {
    const problem = foreignProblem(message);
    if (problem !== null) throw new LogError("invalid_entry", problem);
  }
  return messages;
}

function listIn(state: Json, member: string | null): readonly Json[] {
  if (Array.isArray(state)) {
    const items = state as readonly Json[];
    return items.length > 0 && items.every((item) => isFields(item) && "role" in item) ? items : [];
  }
  if (!isFields(state)) return [];
  for (const name of member === null ? APPENDED : [member]) {
    const list = state[name];
    if (list === undefined || list === null) continue;
    if (!Array.isArray(list))
      throw new LogError("invalid_entry", `has ${name}, which is not a list of messages`);
    return list as readonly Json[];
  }
  return member === null && typeof state["role"] === "string" && "content" in state ? [state] : [];
}

/** What each list adds to the one before it; null where one does not begin with all of that. */
export function addedByEach(lists: readonly (readonly Json[])[]): readonly (readonly Json[])[] | null {
  let before: readonly Json[] = [];
  const added: (readonly Json[])[] = [];
  for (const list of lists) {
    if (!before.every((message, index) => isSameJson(message, list[index]))) return null;
    added.push(list.slice(before.length));
    before = list;
  }
  return added;
}

/** Lists each of which has all of the one before it are whole ones; two steps that said the same one thing are none. */
export function lookWhole(lists: readonly (readonly Json[])[]): boolean {
  const [first, last] = [lists[0]?.length ?? 0, lists.at(-1)?.length ?? 0];
  return lists.length > 1 && (last > first || first > 1) && addedByEach(lists) !== null;
}
