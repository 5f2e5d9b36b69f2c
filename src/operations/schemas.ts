import * as v from "valibot";
import type { AppendResult } from "#log/batch";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { Issue } from "#log/projections/issues";

/** What a value must be like. Its type follows from it, and so does the JSON Schema that documents it. */
export type Schema<T = unknown> = v.GenericSchema<T>;
/** A field that may be left out. */
export type OptionalSchema<T = unknown> = Schema<T> & { readonly type: "exact_optional" };
export type Fields = { readonly [name: string]: Schema };
export type TypeOf<S extends Schema> = v.InferInput<S>;

type OptionalName<F extends Fields> = {
  [K in keyof F]: F[K] extends OptionalSchema ? K : never;
}[keyof F];
type Flat<T> = { readonly [K in keyof T]: T[K] };

/** The object that has these fields. */
export type ObjectOf<F extends Fields> = Flat<
  { [K in Exclude<keyof F, OptionalName<F>>]: TypeOf<F[K]> } & { [K in OptionalName<F>]?: TypeOf<F[K]> }
>;

/** The names under which the document describes a schema once. */
export const SCHEMA_NAMES: WeakMap<Schema, string> = new WeakMap();

const TEXT_MAX = 10_000;

interface TextLimits {
  readonly max?: number;
  readonly min?: number;
  readonly pattern?: RegExp;
  readonly about?: string;
}

export function text({ min = 0, max = TEXT_MAX, pattern, about }: TextLimits = {}): Schema<string> {
  return piped(v.string("must be text"), about, [
    min > 0 && v.minLength(min, `must have at least ${min} characters`),
    v.maxLength(max, `must have at most ${max} characters`),
    pattern !== undefined && v.regex(pattern, `must consist of ${about ?? pattern.source}`),
  ]);
}

interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
  readonly about?: string;
}

/** A whole number. */
export function count({ min = 0, max = Number.MAX_SAFE_INTEGER, about }: NumberLimits = {}): Schema<number> {
  const message = `must be a whole number from ${min} to ${max}`;
  const limits = [v.integer(message), v.minValue(min, message), v.maxValue(max, message)];
  return piped(v.number(message), about, limits);
}

export function number(): Schema<number> {
  return v.number("must be a number");
}

export function flag(about?: string): Schema<boolean> {
  return piped(v.boolean("must be true or false"), about);
}

export function choice<const V extends string>(values: readonly V[], about?: string): Schema<V> {
  return piped(v.picklist(values, `must be one of ${values.join(", ")}`), about);
}

export function list<T>(
  item: Schema<T>,
  { max, min = 0 }: { readonly max?: number; readonly min?: number } = {},
): Schema<readonly T[]> {
  const schema = v.array(item, "must be a list") as Schema as Schema<readonly T[]>;
  return piped(schema, undefined, [
    min > 0 && v.minLength(min, `must have at least ${min} items`),
    max !== undefined && v.maxLength(max, `must have at most ${max} items`),
  ]);
}

export function optional<T>(schema: Schema<T>): OptionalSchema<T> {
  return v.exactOptional(schema);
}

export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  return v.nullable(schema);
}

/** A value that fits one of these schemas. */
function either<T>(message: string, ...schemas: readonly Schema<T>[]): Schema<T> {
  return v.union(schemas, message);
}

/** Any JSON value. */
export function anything<T = unknown>(): Schema<T> {
  return v.unknown() as Schema as Schema<T>;
}

const FIELD_PROBLEM = ({ expected }: { readonly expected: string | null }): string =>
  expected === "never" ? "is unknown" : expected === "Object" ? "must be an object" : "is missing";

/** An object with these fields and no others. */
export function object<const F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  return v.strictObject(fields, FIELD_PROBLEM) as Schema as Schema<ObjectOf<F>>;
}

/** An object that has at least these fields; later versions may add others. `T` names the type where one exists. */
export function open<T extends object>(fields: { readonly [K in keyof T]?: Schema }): Schema<T> {
  return v.looseObject(fields as Fields, FIELD_PROBLEM) as Schema as Schema<T>;
}

/** What an operation returns: these fields, beside the version of their shape. */
export function answer<const F extends Fields>(fields: F): Schema<ObjectOf<F>> {
  return v.looseObject({ schemaVersion: count(), ...fields }, FIELD_PROBLEM) as Schema as Schema<ObjectOf<F>>;
}

/** An object whose field names the caller chooses. */
export function record<T>(value: Schema<T>): Schema<{ readonly [name: string]: T }> {
  const schema = v.record(v.string(), value, "must be an object");
  // The library takes a list for an object.
  return {
    ...schema,
    "~run": (dataset, config) =>
      schema["~run"](Array.isArray(dataset.value) ? { ...dataset, value: null } : dataset, config),
  };
}

/** The same schema, which the document describes once under this name. */
export function named<T>(name: string, schema: Schema<T>): Schema<T> {
  SCHEMA_NAMES.set(schema, name);
  return schema;
}

/** What of a value does not fit, by the path of each field. */
export function problemsOf(schema: Schema, value: unknown): readonly string[] {
  const { issues = [] } = v.safeParse(schema, value);
  return issues.map((issue) => `${v.getDotPath(issue) ?? "the input"} ${issue.message}`);
}

/** A value that stands as text in an address or on a command line; what cannot be read stays text, and does not fit. */
export function readText(schema: Schema, texts: readonly string[]): unknown {
  const { type, wrapped, item } = schema as Schema & { readonly wrapped?: Schema; readonly item?: Schema };
  if (wrapped !== undefined) return readText(wrapped, texts);
  if (item !== undefined) return texts.map((one) => readText(item, [one]));
  const [one = ""] = texts;
  if (type === "number") return /^\d{1,16}$/.test(one) ? Number(one) : one;
  if (type === "boolean") return one === "true" ? true : one === "false" ? false : one;
  return one;
}

/** Whether a field takes several values. */
export function isList(schema: Schema): boolean {
  const { wrapped, item } = schema as Schema & { readonly wrapped?: Schema; readonly item?: Schema };
  return wrapped === undefined ? item !== undefined : isList(wrapped);
}

/** What is checked after the type, and what the document says of it. */
function piped<T>(schema: Schema<T>, about?: string, checks: readonly (object | false)[] = []): Schema<T> {
  const actions = checks.filter((one) => one !== false);
  if (about !== undefined) actions.push(v.description(about));
  // The actions fit the type by construction: the library's own types cannot say so of a list.
  return actions.length === 0
    ? schema
    : (v.pipe(
        schema,
        ...(actions as readonly v.PipeItem<T, T, v.BaseIssue<unknown>>[]),
      ) as Schema as Schema<T>);
}

const ID = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9_-])?$/;

export const idField: Schema<string> = text({
  min: 1,
  max: 128,
  pattern: ID,
  about: "letters, digits and . _ : -",
});
export const time: Schema<string> = text({ max: 40, about: "a time in ISO 8601" });
export const pageLimit: Schema<number> = count({ min: 1, max: 500, about: "maximum number of items" });
export const cursor: Schema<string> = text({
  min: 1,
  max: 1_000,
  about: "the cursor returned with the previous page",
});
/** Where the next page begins; null: there is none. */
export const nextCursor: Schema<string | null> = nullable(text({ max: 1_000 }));
export const jsonFields: Schema<{ readonly [name: string]: unknown }> = record(anything());

export const entryShape: Schema<Entry> = named(
  "Entry",
  open<Entry>({ id: text(), seq: count(), time: text(), type: text() }),
);

/** An entry that a caller sends; the log checks the rest of it. */
export const newEntry: Schema<object> = named(
  "NewEntry",
  open<{ readonly type: string }>({ type: text() }) as Schema as Schema<object>,
);

/** A prompt: text, or blocks. */
export const content: Schema<string | readonly ContentBlock[]> = either<string | readonly ContentBlock[]>(
  "must be text or a list of blocks",
  text({ min: 1, max: 10_000_000 }),
  list(open<ContentBlock>({ type: text() }), { min: 1, max: 1_000 }),
);

export const issue: Schema<Issue> = named("Issue", open<Issue>({ message: text({ max: 100_000 }) }));

/** What an append left in the log. */
export type Written = Omit<AppendResult, "ownerLink"> & { readonly conversation: string };

export const written: Schema<Written> = named(
  "Written",
  open<Written>({
    conversation: text(),
    fromSeq: count(),
    toSeq: count(),
    lastId: text(),
    ids: list(text()),
    deduped: flag("the key was used before: nothing was written, and this is the stored result"),
    differs: flag("the key was used before with another body; the stored one is unchanged"),
  }),
);

const tokens = { inputTokens: count(), outputTokens: count() };
const cost = { costMicros: nullable(count()), unpricedAnswers: count() };
/** What was used, added up. */
export const usageSumFields = { ...tokens, ...cost };
/** The same with what was read from a provider's cache and written to it. */
export const usageFields = { ...tokens, cacheReadTokens: count(), cacheWriteTokens: count(), ...cost };
