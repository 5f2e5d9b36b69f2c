import { LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";

export type Fields = { readonly [name: string]: Json };
/** Refuses a value that is not what it has to be. */
export type Check = (value: Json, where: string) => void;
type Shape = { readonly [name: string]: Check };

export function refuse(where: string, wanted: string): never {
  throw new LogError("invalid_entry", `${where} must be ${wanted}`, { where });
}

export const text: Check = (value, where) => {
  if (typeof value !== "string") refuse(where, "a string");
};
export const nonBlank: Check = (value, where) => {
  if (typeof value !== "string" || value.trim() === "") refuse(where, "a string that is not blank");
};
export const flag: Check = (value, where) => {
  if (typeof value !== "boolean") refuse(where, "true or false");
};
export const count: Check = (value, where) => {
  if (typeof value !== "number" || !(value >= 0)) refuse(where, "a number of at least 0");
};
export const anything: Check = () => undefined;
export const entryId: Check = (value, where) => {
  try {
    parseEntryId(value);
  } catch {
    refuse(where, "the id of an entry");
  }
};
export const object: Check = (value, where) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(where, "an object");
};

export function oneOf(...words: readonly string[]): Check {
  return (value, where) => {
    if (typeof value !== "string" || !words.includes(value)) refuse(where, `one of ${words.join(", ")}`);
  };
}

/** Its JSON has at most so many characters. */
export function atMost(charsMax: number, check: Check): Check {
  return (value, where) => {
    check(value, where);
    if (JSON.stringify(value).length > charsMax) refuse(where, `at most ${charsMax} characters of JSON`);
  };
}

/** At least one of these members is there. */
export function eitherOf(names: readonly string[], check: Check): Check {
  return (value, where) => {
    check(value, where);
    if (!names.some((name) => (value as Fields)[name] !== undefined))
      refuse(where, `an object with ${names.join(" or ")}`);
  };
}

export function orNull(check: Check): Check {
  return (value, where) => {
    if (value !== null) check(value, where);
  };
}

export function listOf(check: Check): Check {
  return (value, where) => {
    if (!Array.isArray(value)) return refuse(where, "an array");
    for (const [index, item] of (value as readonly Json[]).entries()) check(item, `${where}[${index}]`);
  };
}

/** An object whose named members have these shapes; others are kept and mean nothing here. */
export function shape(required: Shape, optional: Shape = {}): Check {
  const needed = Object.entries(required);
  const others = Object.entries(optional);
  return (value, where) => {
    object(value, where);
    const fields = value as Fields;
    for (const [name, check] of needed) {
      const given = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (given === undefined)
        throw new LogError("invalid_entry", `${where} needs "${name}"`, { where, name });
      check(given, `${where}.${name}`);
    }
    for (const [name, check] of others) {
      const given = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (given !== undefined) check(given, `${where}.${name}`);
    }
  };
}

export const usage: Check = shape(
  {},
  {
    inputTokens: count,
    outputTokens: count,
    cacheReadTokens: count,
    cacheWriteTokens: count,
    costMicros: count,
  },
);

const blockExtras: Shape = { providerMetadata: object };
const data: Shape = { ...blockExtras, blob: nonBlank, data: text };

const BLOCKS: { readonly [type: string]: Check } = {
  text: shape({ text }, blockExtras),
  thinking: shape({ thinking: text }, { ...blockExtras, signature: text }),
  redactedThinking: shape({ data: text }, blockExtras),
  toolCall: shape({ id: nonBlank, name: text, input: anything }, blockExtras),
  image: shape({ mediaType: nonBlank }, data),
  audio: shape({ mediaType: nonBlank }, data),
  file: shape({ mediaType: nonBlank }, { ...data, name: text }),
};

const providerBlock = shape({ type: nonBlank }, blockExtras);

/** A block of a type that nothing is known of is its provider's, and kept as it is. */
export const block: Check = (value, where) => {
  object(value, where);
  const type = (value as Fields)["type"];
  const check = typeof type === "string" && Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined;
  (check ?? providerBlock)(value, where);
};

/** What any message may have besides what it says. */
export const extras: Shape = { details: anything, internal: flag };
const MESSAGES: { readonly [role: string]: Check } = {
  user: shape({ content: listOf(block) }, extras),
  assistant: shape({ content: listOf(block) }, { ...extras, model: text, stopReason: text, usage }),
  toolResult: shape(
    { toolCallId: nonBlank, content: listOf(block) },
    { ...extras, toolName: text, isError: flag },
  ),
};

export const message: Check = (value, where) => {
  object(value, where);
  const role = (value as Fields)["role"];
  const check = typeof role === "string" && Object.hasOwn(MESSAGES, role) ? MESSAGES[role] : undefined;
  // System prompts and tool schemas are rebuilt for each request, so there is no role for them.
  if (check === undefined) return refuse(`${where}.role`, `one of ${Object.keys(MESSAGES).join(", ")}`);
  check(value, where);
};

export const origin: Check = shape({ conversation: nonBlank, entry: entryId, head: count });
export const parent: Check = shape(
  { conversation: nonBlank },
  { entry: entryId, call: nonBlank, run: nonBlank },
);
export const project: Check = shape({ id: nonBlank }, { root: text, remote: text });
export const told: Check = shape(
  { messages: count, leftOut: count, effects: count },
  { from: entryId, more: flag, summary: flag },
);

/** What a run may say of itself when it begins. */
export const runExtras: Shape = {
  triggerId: nonBlank,
  mailbox: nonBlank,
  seed: entryId,
  seedCount: count,
  model: text,
  window: count,
  policy: anything,
  tools: listOf(text),
  toolsOnly: flag,
  continues: nonBlank,
  promptPatch: object,
};

/** How much JSON one `metadata` fact may hold: lists carry it for every conversation. */
export const METADATA_CHARS_MAX = 4_096;
export const metadata: Check = atMost(
  METADATA_CHARS_MAX,
  shape({}, { tags: orNull(listOf(text)), archived: orNull(flag), pinned: orNull(flag) }),
);
