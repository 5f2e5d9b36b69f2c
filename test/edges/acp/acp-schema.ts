/**
 * Holds a message against the protocol's published schema. Stricter than the protocol: a member that no version of it
 * knows is an error too, unless it stands in `_meta`, so that nothing of ours is where an editor does not expect it.
 */
import stable from "@agentclientprotocol/sdk/schema/v1/schema.json" with { type: "json" };
import unstable from "@agentclientprotocol/sdk/schema/v1/schema.unstable.json" with { type: "json" };
import { type Fields, fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";

interface Checked {
  readonly errors: readonly string[];
  /** The members some part of the schema speaks of; null when it speaks of none and any may be there. */
  readonly names: ReadonlySet<string> | null;
}

class Schema {
  readonly #definitions: Fields;

  constructor(root: unknown) {
    this.#definitions = fieldsOf(fieldsOf(root)["$defs"]);
  }

  /** The name of the definition that a method's messages have; null when it knows none. */
  find(method: string, side: string, ending: string): string | null {
    const found = Object.entries(this.#definitions).find(([name, schema]) => {
      const { "x-method": of, "x-side": where } = fieldsOf(schema);
      return of === method && where === side && name.endsWith(ending);
    });
    return found === undefined ? null : found[0];
  }

  check(name: string, value: unknown): readonly string[] {
    return this.#value(this.#definitions[name], value, name);
  }

  #value(schema: unknown, value: unknown, at: string): readonly string[] {
    const { errors, names } = this.#parts(fieldsOf(schema), value, at);
    if (names === null || Array.isArray(value)) return errors;
    const strange = Object.keys(fieldsOf(value)).filter((name) => !names.has(name));
    return [...errors, ...strange.map((name) => `${at}.${name} is not in the schema`)];
  }

  #parts(schema: Fields, value: unknown, at: string): Checked {
    const { $ref, properties, items, not, const: only } = schema;
    const parts: Checked[] = [{ errors: [...typeErrors(schema, value, at)], names: null }];
    if (typeof $ref === "string")
      parts.push(this.#parts(fieldsOf(this.#definitions[$ref.replace("#/$defs/", "")]), value, at));
    for (const part of listOf(schema["allOf"])) parts.push(this.#parts(fieldsOf(part), value, at));
    for (const choice of [schema["anyOf"], schema["oneOf"]])
      if (choice !== undefined) parts.push(this.#oneOf(listOf(choice), value, at));
    if (properties !== undefined) parts.push(this.#members(fieldsOf(properties), fieldsOf(value), at));
    if (items !== undefined && Array.isArray(value))
      parts.push({
        errors: value.flatMap((item, index) => this.#value(items, item, `${at}[${index}]`)),
        names: null,
      });
    if (not !== undefined && this.#parts(fieldsOf(not), value, at).errors.length === 0)
      parts.push({ errors: [`${at} is what it must not be`], names: null });
    if (only !== undefined && value !== only)
      parts.push({ errors: [`${at} is not ${JSON.stringify(only)}`], names: null });
    return together(parts);
  }

  #members(properties: Fields, value: Fields, at: string): Checked {
    const errors = Object.entries(properties).flatMap(([name, schema]) =>
      value[name] === undefined ? [] : this.#value(schema, value[name], `${at}.${name}`),
    );
    return { errors, names: new Set(Object.keys(properties)) };
  }

  /** The first that fits; where none does, what is wrong with the one that comes closest. */
  #oneOf(choices: readonly unknown[], value: unknown, at: string): Checked {
    const tried = choices.map((choice) => this.#parts(fieldsOf(choice), value, at));
    const [best] = tried.toSorted((one, other) => one.errors.length - other.errors.length);
    return best ?? { errors: [`${at} has no choices`], names: null };
  }
}

function together(parts: readonly Checked[]): Checked {
  const named = parts.flatMap(({ names }) => (names === null ? [] : [...names]));
  const known = parts.some(({ names }) => names !== null);
  return { errors: parts.flatMap(({ errors }) => errors), names: known ? new Set(named) : null };
}

function* typeErrors(schema: Fields, value: unknown, at: string): Generator<string> {
  const { type, enum: some, required, minimum, maximum } = schema;
  const types = typeof type === "string" ? [type] : listOf(type);
  const own = value === null ? "null" : Array.isArray(value) ? "array" : typeof value;
  const fits = types.includes(own) || (types.includes("integer") && Number.isInteger(value));
  if (types.length > 0 && !fits) yield `${at} is ${own}, not ${types.join(" or ")}`;
  if (some !== undefined && !listOf(some).includes(value)) yield `${at} is ${JSON.stringify(value)}`;
  if (own === "object")
    for (const name of listOf(required))
      if (fieldsOf(value)[textOf(name)] === undefined) yield `${at} lacks ${textOf(name)}`;
  if (typeof value === "number" && typeof minimum === "number" && value < minimum) yield `${at} is too small`;
  if (typeof value === "number" && typeof maximum === "number" && value > maximum) yield `${at} is too large`;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

const VERSIONS = [new Schema(stable), new Schema(unstable)];

/** Errors of the stable schema where it knows the method; the unstable one knows more members. */
function errorsOf(find: (schema: Schema) => string | null, value: unknown): readonly string[] {
  const found = VERSIONS.map((schema) => {
    const name = find(schema);
    return name === null ? null : schema.check(name, value);
  });
  const [old, recent] = found;
  if (recent === null || recent === undefined) return ["no definition"];
  const real = (old ?? []).filter((error) => !error.endsWith("is not in the schema"));
  return [...new Set([...real, ...recent])];
}

/** What is wrong with a line an agent sends; `asked` gives the method of a request by its id. */
export function wrongWith(message: Fields, asked: (id: unknown) => string | undefined): readonly string[] {
  const { id, method, params, result, error, jsonrpc, ...strange } = message;
  const frame = [
    ...(jsonrpc === "2.0" ? [] : ["jsonrpc is not 2.0"]),
    ...Object.keys(strange).map((name) => `${name} is not in a message`),
  ];
  if (typeof method === "string") {
    const ending = id === undefined ? "Notification" : "Request";
    const side = method.startsWith("$/") ? "protocol" : "client";
    return [...frame, ...errorsOf((schema) => schema.find(method, side, ending), params)];
  }
  if (error !== undefined) return [...frame, ...errorsOf(() => "Error", error)];
  const of = asked(id);
  if (of === undefined) return [...frame, "answers nothing that was asked"];
  return [...frame, ...errorsOf((schema) => schema.find(of, "agent", "Response"), result)];
}
