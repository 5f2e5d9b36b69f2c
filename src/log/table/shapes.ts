import { LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { isNestedDeeper } from "#log/json/read-json";

export type Fields = { readonly [name: string]: Json };
type JsonSchema = { readonly [name: string]: Json };
/** Rejects invalid values, and describes the valid ones as a JSON Schema. */
export type Check = ((value: Json, where: string) => void) & { readonly schema: JsonSchema };
type Shape = { readonly [name: string]: Check };

export function refuse(where: string, wanted: string): never {
  throw new LogError("invalid_entry", `${where} must be ${wanted}`, { where });
}

export function checkOf(schema: JsonSchema, check: (value: Json, where: string) => void): Check {
  return Object.assign(check, { schema });
}

/** The same check, with a name for its schema. */
function titled(title: string, check: Check): Check {
  return checkOf({ title, ...check.schema }, (value, where) => check(value, where));
}

export const text: Check = checkOf({ type: "string" }, (value, where) => {
  if (typeof value !== "string") refuse(where, "a string");
});
export const nonBlank: Check = checkOf({ type: "string", pattern: "\\S" }, (value, where) => {
  if (typeof value !== "string" || value.trim() === "")
    refuse(where, "a string with at least one visible character");
});
export const flag: Check = checkOf({ type: "boolean" }, (value, where) => {
  if (typeof value !== "boolean") refuse(where, "true or false");
});
export const count: Check = checkOf({ type: "number", minimum: 0 }, (value, where) => {
  if (typeof value !== "number" || !(value >= 0)) refuse(where, "a number of at least 0");
});
export const anything: Check = checkOf({}, () => undefined);
export const entryId: Check = checkOf({ type: "string", minLength: 1, maxLength: 128 }, (value, where) => {
  try {
    parseEntryId(value);
  } catch {
    refuse(where, "an entry id");
  }
});
export const object: Check = checkOf({ type: "object" }, (value, where) => {
  if (typeof value !== "object" || value === null || Array.isArray(value)) refuse(where, "an object");
});

export function oneOf(...values: readonly string[]): Check {
  return checkOf({ type: "string", enum: values }, (value, where) => {
    if (typeof value !== "string" || !values.includes(value)) refuse(where, `one of ${values.join(", ")}`);
  });
}

/** Deeper values overflow the stack of programs that copy them. */
const LEVELS_MAX = 100;

/** Its JSON has at most so many characters, and nests no deeper than programs can copy. */
export function atMost(charsMax: number, check: Check): Check {
  const description = `At most ${charsMax} characters of JSON, at most ${LEVELS_MAX} levels deep.`;
  return checkOf({ ...check.schema, description }, (value, where) => {
    check(value, where);
    if (isNestedDeeper(value, LEVELS_MAX)) refuse(where, `at most ${LEVELS_MAX} levels of JSON`);
    if (JSON.stringify(value).length > charsMax) refuse(where, `at most ${charsMax} characters of JSON`);
  });
}

/** At least one of these members is there. */
export function eitherOf(names: readonly string[], check: Check): Check {
  const anyOf = names.map((name) => ({ properties: { [name]: {} }, required: [name] }));
  return checkOf({ ...check.schema, anyOf }, (value, where) => {
    check(value, where);
    if (!names.some((name) => (value as Fields)[name] !== undefined))
      refuse(where, `an object with ${names.join(" or ")}`);
  });
}

export function orNull(check: Check): Check {
  return checkOf({ anyOf: [check.schema, { type: "null" }] }, (value, where) => {
    if (value !== null) check(value, where);
  });
}

export function listOf(check: Check): Check {
  return checkOf({ type: "array", items: check.schema }, (value, where) => {
    if (!Array.isArray(value)) return refuse(where, "an array");
    for (const [index, item] of (value as readonly Json[]).entries()) check(item, `${where}[${index}]`);
  });
}

/** An object whose named members have these shapes; others are kept and mean nothing here. */
export function shape(required: Shape, optional: Shape = {}): Check {
  const needed = Object.entries(required);
  const others = Object.entries(optional);
  return checkOf(objectSchema(required, optional), (value, where) => {
    object(value, where);
    const fields = value as Fields;
    for (const [name, check] of needed) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined)
        throw new LogError("invalid_entry", `${where} needs "${name}"`, { where, name });
      check(field, `${where}.${name}`);
    }
    for (const [name, check] of others) {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field !== undefined) check(field, `${where}.${name}`);
    }
  });
}

function objectSchema(required: Shape, optional: Shape): JsonSchema {
  const members = Object.entries({ ...required, ...optional });
  const names = Object.keys(required);
  return {
    type: "object",
    properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
    ...(names.length === 0 ? {} : { required: names }),
  };
}

/** An object whose member `by` decides which of these checks it must pass, or the last one where none is for it. */
export function union(by: string, checks: Shape, unknown: Check | null = null): Check {
  const names = Object.keys(checks);
  const schemas = Object.entries(checks).map(([name, { schema }]) => withTag(schema, by, { const: name }));
  const choices =
    unknown === null
      ? { oneOf: schemas, discriminator: { propertyName: by } }
      : { anyOf: [...schemas, withTag(unknown.schema, by, { not: { enum: names } })] };
  return checkOf({ type: "object", ...choices }, (value, where) => {
    object(value, where);
    const tag = (value as Fields)[by];
    const check =
      typeof tag === "string" && Object.hasOwn(checks, tag) ? checks[tag] : (unknown ?? undefined);
    if (check === undefined) return refuse(`${where}.${by}`, `one of ${names.join(", ")}`);
    check(value, where);
  });
}

function withTag(schema: JsonSchema, by: string, tag: JsonSchema): JsonSchema {
  const { properties = {}, required = [] } = schema as {
    readonly properties?: { readonly [name: string]: JsonSchema };
    readonly required?: readonly string[];
  };
  const { [by]: own, ...others } = properties;
  const tagged = { [by]: { ...own, type: "string", ...tag }, ...others };
  return { ...schema, properties: tagged, required: [...new Set([by, ...required])] };
}

export const usage: Check = titled(
  "EntryUsage",
  shape(
    {},
    {
      inputTokens: count,
      outputTokens: count,
      cacheReadTokens: count,
      cacheWriteTokens: count,
      costMicros: count,
    },
  ),
);

const blockExtras: Shape = { providerMetadata: object };
const data: Shape = { ...blockExtras, blob: nonBlank, data: text };

const providerBlock = titled("ProviderBlock", shape({ type: nonBlank }, blockExtras));

/** A block of a type that nothing is known of is its provider's, and kept as it is. */
export const block: Check = titled(
  "ContentBlock",
  union(
    "type",
    {
      text: titled("TextBlock", shape({ text }, blockExtras)),
      thinking: titled("ThinkingBlock", shape({ thinking: text }, { ...blockExtras, signature: text })),
      redactedThinking: titled("RedactedThinkingBlock", shape({ data: text }, blockExtras)),
      toolCall: titled("ToolCallBlock", shape({ id: nonBlank, name: text, input: anything }, blockExtras)),
      image: titled("ImageBlock", shape({ mediaType: nonBlank }, data)),
      audio: titled("AudioBlock", shape({ mediaType: nonBlank }, data)),
      file: titled("FileBlock", shape({ mediaType: nonBlank }, { ...data, name: text })),
    },
    providerBlock,
  ),
);

/** Members that any message may have. */
export const extras: Shape = { details: anything, internal: flag };

// System prompts and tool schemas are rebuilt for each request, so there is no role for them.
export const message: Check = titled(
  "Message",
  union("role", {
    user: titled("UserMessage", shape({ content: listOf(block) }, extras)),
    assistant: titled(
      "AssistantMessage",
      shape({ content: listOf(block) }, { ...extras, model: text, stopReason: text, usage }),
    ),
    toolResult: titled(
      "ToolResultMessage",
      shape({ toolCallId: nonBlank, content: listOf(block) }, { ...extras, toolName: text, isError: flag }),
    ),
  }),
);

export const origin: Check = shape({ conversation: nonBlank, entry: entryId, head: count });
export const parent: Check = shape(
  { conversation: nonBlank },
  { entry: entryId, call: nonBlank, run: nonBlank },
);
export const project: Check = shape({ id: nonBlank }, { root: text, remote: text });
export const priorContext: Check = shape(
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
