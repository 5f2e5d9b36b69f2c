import type { EntryType } from "./entry.ts";
import { LogError } from "./errors.ts";
import { parseEntryId } from "./ids.ts";
import type { Json } from "./json/json-text.ts";

export type Fields = { readonly [name: string]: Json };
type Check = (value: Json, where: string) => void;
type Shape = { readonly [name: string]: Check };

function refuse(where: string, wanted: string): never {
  throw new LogError("invalid_entry", `${where} must be ${wanted}`, { where });
}

const text: Check = (value, where) => {
  if (typeof value !== "string") refuse(where, "a string");
};
const word: Check = (value, where) => {
  if (typeof value !== "string" || value.trim() === "") refuse(where, "a string that is not blank");
};
const flag: Check = (value, where) => {
  if (typeof value !== "boolean") refuse(where, "true or false");
};
const count: Check = (value, where) => {
  if (typeof value !== "number" || !(value >= 0)) refuse(where, "a number of at least 0");
};
const anything: Check = () => undefined;
const entryId: Check = (value, where) => {
  try {
    parseEntryId(value);
  } catch {
    refuse(where, "the id of an entry");
  }
};
const object: Check = (value, where) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(where, "an object");
};

function oneOf(...words: readonly string[]): Check {
  return (value, where) => {
    if (typeof value !== "string" || !words.includes(value)) refuse(where, `one of ${words.join(", ")}`);
  };
}

function orNull(check: Check): Check {
  return (value, where) => {
    if (value !== null) check(value, where);
  };
}

function listOf(check: Check): Check {
  return (value, where) => {
    if (!Array.isArray(value)) return refuse(where, "an array");
    for (const [index, item] of (value as readonly Json[]).entries()) check(item, `${where}[${index}]`);
  };
}

/** An object whose named members have these shapes; others are kept and mean nothing here. */
function shape(required: Shape, optional: Shape = {}): Check {
  return (value, where) => {
    object(value, where);
    const fields = value as Fields;
    for (const name in required) {
      const given = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (given === undefined)
        throw new LogError("invalid_entry", `${where} needs "${name}"`, { where, name });
      required[name]?.(given, `${where}.${name}`);
    }
    for (const name in optional) {
      const given = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (given !== undefined) optional[name]?.(given, `${where}.${name}`);
    }
  };
}

const usage = shape(
  {},
  {
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    costMicros: count,
  },
);

const BLOCKS: { readonly [type: string]: Check } = {
  text: shape({ text }),
  thinking: shape({ thinking: text }, { signature: text }),
  toolCall: shape({ id: word, name: text, input: anything }),
  image: shape({ mediaType: word }, { blob: word, data: text }),
};

const block: Check = (value, where) => {
  object(value, where);
  const type = (value as Fields)["type"];
  const check = typeof type === "string" && Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  if (check === undefined) return refuse(`${where}.type`, `one of ${Object.keys(BLOCKS).join(", ")}`);
  check(value, where);
};

const extras = { details: anything, internal: flag };
const MESSAGES: { readonly [role: string]: Check } = {
  user: shape({ content: listOf(block) }, extras),
  assistant: shape({ content: listOf(block) }, { ...extras, model: text, stopReason: text, usage }),
  toolResult: shape(
    { toolCallId: word, content: listOf(block) },
    { ...extras, toolName: text, isError: flag },
  ),
};

const message: Check = (value, where) => {
  object(value, where);
  const role = (value as Fields)["role"];
  const check = typeof role === "string" && Object.hasOwn(MESSAGES, role) ? MESSAGES[role] : undefined;
  // System prompts and tool schemas are rebuilt for each request, so there is no role for them.
  if (check === undefined) return refuse(`${where}.role`, `one of ${Object.keys(MESSAGES).join(", ")}`);
  check(value, where);
};

const origin = shape({ conversation: word, entry: entryId, head: count });

/** What each type's payload must hold; whatever else it holds is kept exactly and ignored. */
export const BODY_SHAPES: { readonly [T in EntryType]: Check } = {
  conversation: shape({}, { cwd: text, origin, forkedFrom: origin }),
  message: shape({ message }, extras),
  seed: shape({ run: word, messages: listOf(anything) }),
  model_change: shape({ model: word }, { provider: text }),
  config_change: shape({ config: object }),
  skill_change: shape({ skills: listOf(shape({ name: word }, { source: text, digest: text })) }),
  state_change: shape({ state: anything }),
  compaction: shape(
    { summary: text },
    { firstKeptEntryId: entryId, tokensBefore: count, usage, details: anything },
  ),
  branch_summary: shape({ fromId: entryId, summary: text }, { usage, details: anything }),
  reset: shape({}, { reason: text }),
  custom: shape({ customType: word }, { data: anything, inContext: flag, content: listOf(block) }),
  run_start: shape({ run: word, trigger: word }, { seed: entryId, model: text }),
  run_end: shape({ run: word, status: word }),
  turn_start: shape({ turn: word }, { prompt: entryId, run: word }),
  attempt: shape(
    { turn: word, upstream: word },
    {
      fidelity: oneOf("native", "transcript", "preamble"),
      process: text,
      told: shape(
        { messages: count, leftOut: count, effects: count },
        { from: entryId, more: flag, summary: flag },
      ),
      usage,
    },
  ),
  turn_end: shape(
    { turn: word, outcome: oneOf("completed", "interrupted", "failed") },
    {
      class: text,
      upstream: word,
      node: entryId,
      held: orNull(entryId),
      resetAt: text,
      parked: listOf(shape({ agent: word, resetAt: text }, { account: text })),
      usage,
      model: text,
    },
  ),
  tool_intent: shape(
    { call: word, name: text },
    { input: anything, replay: oneOf("never", "safe"), idempotencyKey: word, turn: word, step: count },
  ),
  tool_progress: shape({ call: word }, { text, data: anything }),
  update: shape({}, { turn: word, data: anything }),
  permission: shape({}, { call: word, data: anything }),
  plan: shape({}, { data: anything }),
  steer: shape(
    { steer: word, state: oneOf("accepted", "delivered", "cancelled") },
    { content: listOf(block) },
  ),
  upstream_link: shape({ upstream: word, agent: word, reason: word }, { account: text, node: entryId }),
  upstream_end: shape({ upstream: word, reason: word }, { node: entryId }),
  leaf: shape({ target: entryId }),
  hide: shape({ target: entryId }, { hidden: flag }),
  label: shape({ target: entryId, label: orNull(text) }),
  title: shape({ title: text }),
};
