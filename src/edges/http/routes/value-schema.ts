import type { Json } from "#log/json/json-text";

export type JsonSchema = { readonly [name: string]: Json };

/** What a value must be like: checked by it, and told by its JSON Schema. */
export interface Schema<T> {
  readonly json: JsonSchema;
  /** The schemas that it names, by their names. */
  readonly named: ReadonlyMap<string, JsonSchema>;
  /** What of a value does not fit, by its path. */
  problems(value: unknown, path: string): readonly string[];
  /** The value that stands in an address, where all is text; what does not read as one stays text. */
  fromText(texts: readonly string[]): unknown;
  /** Whether an address may have several of it. */
  readonly takesList?: boolean;
  /** Of an object that has certain members. */
  readonly members?: { readonly [name: string]: Schema<unknown> };
  /** Nothing has this member: it ties the schema to its type. */
  readonly type?: T;
}

/** A member that may be left out. */
export interface OptionalSchema<T> extends Schema<T> {
  readonly isOptional: true;
}

type MemberSchemas<T> = {
  readonly [K in keyof T]-?: undefined extends T[K] ? OptionalSchema<Exclude<T[K], undefined>> : Schema<T[K]>;
};

const NONE: ReadonlyMap<string, JsonSchema> = new Map();

function of<T>(
  json: JsonSchema,
  problems: Schema<T>["problems"],
  more: Partial<Pick<Schema<T>, "named" | "fromText" | "members" | "takesList">> = {},
): Schema<T> {
  return { json, problems, named: NONE, fromText: ([first]) => first, ...more };
}

interface TextLimits {
  readonly max?: number;
  readonly min?: number;
  readonly pattern?: RegExp;
  readonly about?: string;
}

const TEXT_MAX = 10_000;

export function text(limits: TextLimits = {}): Schema<string> {
  const { min = 0, max = TEXT_MAX, pattern, about } = limits;
  return of(
    {
      type: "string",
      ...(min > 0 ? { minLength: min } : {}),
      maxLength: max,
      ...(pattern === undefined ? {} : { pattern: pattern.source }),
      ...(about === undefined ? {} : { description: about }),
    },
    (value, path) => {
      if (typeof value !== "string") return [`${path} is no text`];
      if (value.length > max) return [`${path} has more than ${max} characters`];
      if (value.length < min) return [`${path} has less than ${min} characters`];
      if (pattern !== undefined && !pattern.test(value))
        return [`${path} is not of the form ${about ?? pattern.source}`];
      return [];
    },
  );
}

/** A whole number. */
export function count(
  limits: { readonly min?: number; readonly max?: number; readonly about?: string } = {},
): Schema<number> {
  const { min = 0, max = Number.MAX_SAFE_INTEGER, about } = limits;
  return of(
    { type: "integer", minimum: min, maximum: max, ...(about === undefined ? {} : { description: about }) },
    (value, path) =>
      Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
        ? []
        : [`${path} is no whole number from ${min} to ${max}`],
    { fromText: ([given = ""]) => (/^\d{1,16}$/.test(given) ? Number(given) : given) },
  );
}

export function flag(about?: string): Schema<boolean> {
  return of(
    { type: "boolean", ...(about === undefined ? {} : { description: about }) },
    (value, path) => (typeof value === "boolean" ? [] : [`${path} is neither true nor false`]),
    { fromText: ([given]) => (given === "true" ? true : given === "false" ? false : given) },
  );
}

export function choice<const V extends string>(values: readonly V[], about?: string): Schema<V> {
  return of(
    { type: "string", enum: values, ...(about === undefined ? {} : { description: about }) },
    (value, path) => (values.includes(value as V) ? [] : [`${path} is none of ${values.join(", ")}`]),
  );
}

export function list<T>(
  item: Schema<T>,
  limits: { readonly max?: number; readonly min?: number } = {},
): Schema<readonly T[]> {
  const { max, min = 0 } = limits;
  return of(
    {
      type: "array",
      items: item.json,
      ...(max === undefined ? {} : { maxItems: max }),
      ...(min > 0 ? { minItems: min } : {}),
    },
    (value, path) => {
      if (!Array.isArray(value)) return [`${path} is no list`];
      if (max !== undefined && value.length > max) return [`${path} has more than ${max} members`];
      if (value.length < min) return [`${path} has less than ${min} members`];
      return value.flatMap((one, at) => item.problems(one, `${path}[${at}]`));
    },
    { named: item.named, takesList: true, fromText: (texts) => texts.map((one) => item.fromText([one])) },
  );
}

export function optional<T>(schema: Schema<T>): OptionalSchema<T> {
  return { ...schema, isOptional: true };
}

export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return of<T | null>(
    { anyOf: [schema.json, { type: "null" }] },
    (value, path) => (value === null ? [] : schema.problems(value, path)),
    { named: schema.named },
  );
}

/** Any of these. */
export function either<T>(...schemas: readonly Schema<T>[]): Schema<T> {
  return of(
    { anyOf: schemas.map(({ json }) => json) },
    (value, path) => {
      const tried = schemas.map((schema) => schema.problems(value, path));
      if (tried.some((problems) => problems.length === 0)) return [];
      return [tried.map(([first]) => first).join(", and ")];
    },
    { named: merged(schemas) },
  );
}

/** Whatever JSON can say. */
export function anything<T>(about?: string): Schema<T> {
  return of(about === undefined ? {} : { description: about }, (value, path) =>
    value === undefined ? [`${path} is missing`] : [],
  );
}

/** An object with these members and no others. */
export function object<T extends object>(members: MemberSchemas<T>): Schema<T> {
  return withMembers(members, false);
}

/** An object of which these members are promised; it may have more, and more may come. */
export function open<T extends object>(members: { readonly [name: string]: Schema<unknown> }): Schema<T> {
  return withMembers(members, true);
}

/** What an operation answers: these members, after the version of their shape; more may come. */
export function answer<T extends object>(members: MemberSchemas<T>): Schema<T> {
  return withMembers({ schemaVersion: count(), ...members }, true);
}

/** An object whose members are named by whoever wrote it. */
export function record<V>(value: Schema<V>): Schema<{ readonly [name: string]: V }> {
  return of(
    { type: "object", additionalProperties: value.json },
    (given, path) =>
      isObject(given)
        ? Object.entries(given).flatMap(([name, inner]) => value.problems(inner, `${path}.${name}`))
        : [`${path} is no object`],
    { named: value.named },
  );
}

function withMembers<T>(members: { readonly [name: string]: Schema<unknown> }, isOpen: boolean): Schema<T> {
  const schemas = Object.entries(members);
  const required = Object.keys(members).filter((name) => !isOptional(members[name]));
  return of(
    {
      type: "object",
      properties: Object.fromEntries(Object.entries(members).map(([name, { json }]) => [name, json])),
      ...(required.length > 0 ? { required } : {}),
      ...(isOpen ? {} : { additionalProperties: false }),
    },
    (value, path) => {
      if (!isObject(value)) return [`${path} is no object`];
      const found: string[] = [];
      for (const name of isOpen ? [] : Object.keys(value))
        if (!Object.hasOwn(members, name)) found.push(`${inside(path, name)} is not known`);
      for (const [name, schema] of schemas)
        if (Object.hasOwn(value, name)) found.push(...schema.problems(value[name], inside(path, name)));
        else if (!isOptional(schema)) found.push(`${inside(path, name)} is missing`);
      return found;
    },
    { named: merged(Object.values(members)), members },
  );
}

/** The same, told once under a name. */
export function named<T>(name: string, schema: Schema<T>): Schema<T> {
  return {
    ...schema,
    json: { $ref: `#/components/schemas/${name}` },
    named: new Map([...schema.named, [name, schema.json]]),
  };
}

function isOptional(schema: Schema<unknown> | undefined): boolean {
  return schema !== undefined && "isOptional" in schema;
}

function inside(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

function isObject(value: unknown): value is { readonly [name: string]: unknown } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function merged(schemas: readonly Schema<unknown>[]): ReadonlyMap<string, JsonSchema> {
  return new Map(schemas.flatMap(({ named: inner }) => [...inner]));
}
