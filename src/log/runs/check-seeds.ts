import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { fieldsOf } from "#log/json/json-fields";
import type { ContentBlock } from "#log/message";
import {
  anything,
  block,
  type Check,
  checkOf,
  flag,
  listOf,
  nonBlank,
  oneOf,
  refuse,
  shape,
  text,
} from "#log/table/shapes";
import { readJson } from "#log/json/read-json";

const SEEDS_MAX = 10_000;

/** One message as the model saw it when a run began, fully rendered. Members beyond these are kept with it. */
export interface SeedMessage {
  readonly role: "system" | "user" | "assistant" | "toolResult";
  readonly content: string | readonly ContentBlock[];
  /** Whether it had not been seen by a run before. */
  readonly isNew?: boolean;
  readonly timestamp?: string | number;
  /** Any JSON; kept, never sent. */
  readonly details?: Json;
  readonly model?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
}

const blocks: Check = listOf(block);
const content: Check = checkOf({ anyOf: [{ type: "string" }, blocks.schema] }, (value, where) => {
  if (typeof value !== "string") blocks(value, where);
});
const time: Check = checkOf({ type: ["string", "number"] }, (value, where) => {
  if (typeof value !== "string" && typeof value !== "number") refuse(where, "a string or a number");
});
const seed: Check = shape(
  { role: oneOf("system", "user", "assistant", "toolResult"), content },
  {
    isNew: flag,
    timestamp: time,
    details: anything,
    model: text,
    toolCallId: nonBlank,
    toolName: text,
    isError: flag,
  },
);

/** Rejects seeds that no request could be made of. Accepted ones are stored unchanged. */
export function checkSeeds(value: unknown): readonly SeedMessage[] {
  if (!Array.isArray(value) || value.length === 0 || value.length > SEEDS_MAX)
    throw refused(`Seeds must be an array of 1 to ${SEEDS_MAX} messages`);
  const seeds = jsonOf(value);
  for (const [index, message] of seeds.entries()) {
    seed(message, `seeds[${index}]`);
    const { role, content: parts, toolCallId } = fieldsOf(message);
    if (role === "toolResult" && toolCallId === undefined)
      refuse(`seeds[${index}].toolCallId`, "the id of a call");
    if (role === "system" && Array.isArray(parts) && !parts.every((one) => fieldsOf(one)["type"] === "text"))
      refuse(`seeds[${index}].content`, "only text, because it is a system message");
  }
  if (seeds.every((message) => fieldsOf(message)["role"] === "system"))
    throw refused("Seeds must contain at least one message that is not a system message");
  return seeds as unknown as readonly SeedMessage[];
}

/** What would be stored of it: a list in a list without end is no JSON. */
function jsonOf(values: readonly unknown[]): readonly Json[] {
  try {
    return readJson(JSON.stringify(values)) as readonly Json[];
  } catch (error) {
    throw refused("Seeds must be JSON", error);
  }
}

function refused(what: string, cause?: unknown): LogError {
  return new LogError("invalid_request", what, {}, { cause });
}

/** Whether seeds end with something that a model is to answer. */
export function endsOpen(seeds: readonly Json[]): boolean {
  const last = seeds.map((message) => fieldsOf(message)).findLast(({ role }) => role !== "system");
  return last !== undefined && last["role"] !== "assistant";
}
