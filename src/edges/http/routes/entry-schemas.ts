import type { EntryType } from "#log/entry";
import { bodySchema, FACT_TYPES, NODE_TYPES } from "#log/entry-types";
import type { Json } from "#log/json/json-text";
import type { JsonSchema } from "./route.ts";

interface ObjectSchema {
  readonly title?: string;
  readonly properties?: JsonSchema;
  readonly required?: readonly string[];
}

const TYPES: readonly EntryType[] = [...NODE_TYPES, ...FACT_TYPES];
const ENVELOPE: JsonSchema = {
  id: { type: "string" },
  seq: { type: "integer", minimum: 1, description: "The position in the log." },
  parentId: { type: ["string", "null"], description: "The entry before it on its branch." },
  time: { type: "string", format: "date-time" },
};

/** `Entry` as a union by type, with every schema that it refers to. The table of entry types is the only list of types. */
export function entrySchemas(): ReadonlyMap<string, JsonSchema> {
  const found = new Map<string, JsonSchema>();
  const oneOf = TYPES.map(entrySchema);
  const entry = { title: "Entry", oneOf, discriminator: { propertyName: "type" }, examples: [EXAMPLE] };
  named(entry, found);
  found.set("NewEntry", newEntry);
  return found;
}

const EXAMPLE: Json = {
  id: "ask",
  seq: 2,
  parentId: "start",
  time: "2026-01-01T00:00:00.000Z",
  type: "message",
  message: { role: "user", content: [{ type: "text", text: "Good morning" }] },
};

const { seq: _seq, ...SETTABLE } = ENVELOPE;
const newEntry: JsonSchema = {
  type: "object",
  description:
    "An entry before it has a place in the log. The other fields are those of an Entry of its type.",
  properties: { ...SETTABLE, type: { type: "string", enum: TYPES } },
  required: ["type"],
  additionalProperties: true,
};

function entrySchema(type: EntryType): JsonSchema {
  const body = bodySchema(type) as ObjectSchema;
  return {
    ...body,
    title: `${type.replaceAll(/(?:^|_)([a-z])/g, (_, first: string) => first.toUpperCase())}Entry`,
    type: "object",
    properties: { ...ENVELOPE, type: { type: "string", const: type }, ...body.properties },
    required: [...Object.keys(ENVELOPE), "type", ...(body.required ?? [])],
  };
}

/** The same, in which schemas with a title are referred to by it. */
function named(json: Json, found: Map<string, JsonSchema>): Json {
  if (Array.isArray(json)) return json.map((one: Json) => named(one, found));
  if (typeof json !== "object" || json === null) return json;
  const schema = json as JsonSchema;
  const { title } = schema;
  const { discriminator, ...others } = schema;
  const parts = Object.fromEntries(Object.entries(others).map(([name, part]) => [name, named(part, found)]));
  const tag = discriminator === undefined ? null : mapping(schema);
  const whole = tag === null ? parts : { ...parts, discriminator: tag };
  if (typeof title !== "string") return whole;
  found.set(title, whole);
  return reference(title);
}

function reference(title: string): JsonSchema {
  return { $ref: `#/components/schemas/${title}` };
}

/** Which schema each value of the tag stands for; null where one of them has no name or takes several values. */
function mapping(schema: JsonSchema): JsonSchema | null {
  const { oneOf, discriminator } = schema as unknown as {
    readonly oneOf: readonly (ObjectSchema & {
      readonly properties: { readonly [name: string]: JsonSchema };
    })[];
    readonly discriminator: { readonly propertyName: string };
  };
  const { propertyName } = discriminator;
  const names: Record<string, string> = {};
  for (const { title, properties } of oneOf) {
    const value = properties[propertyName]?.["const"];
    if (title === undefined || typeof value !== "string") return null;
    names[value] = `#/components/schemas/${title}`;
  }
  return { propertyName, mapping: names };
}
