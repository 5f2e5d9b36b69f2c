import { LogError } from "#log/errors";
import { fieldsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/same-json";

export type JsonSchema = { readonly [name: string]: Json };

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
const DEPTH_MAX = 100;
const LISTS = ["anyOf", "oneOf", "allOf"];

/** Refuses what no reader of JSON Schema could take for one, by the path to it. */
export function checkSchema(schema: Json, where: string = "the schema", depth: number = 0): void {
  if (typeof schema === "boolean") return;
  const fields = fieldsIn(schema);
  if (fields === null) throw wrong(`${where} is no object`);
  if (depth > DEPTH_MAX) throw wrong(`${where} nests more than ${DEPTH_MAX} levels deep`);
  const { type, properties, required, items } = fields;
  const types = Array.isArray(type) ? (type as readonly Json[]) : type === undefined ? [] : [type];
  for (const one of types)
    if (typeof one !== "string" || !TYPES.has(one))
      throw wrong(`${where} has the type ${JSON.stringify(one)}`);
  if (required !== undefined && !isListOf(required, "string"))
    throw wrong(`${where}.required is no list of names`);
  if (fields["enum"] !== undefined && !Array.isArray(fields["enum"])) throw wrong(`${where}.enum is no list`);
  if (properties !== undefined && fieldsIn(properties) === null)
    throw wrong(`${where}.properties is no object`);
  for (const [name, inner] of Object.entries(fieldsIn(properties) ?? {}))
    checkSchema(inner, `${where}.properties.${name}`, depth + 1);
  if (items !== undefined && !Array.isArray(items)) checkSchema(items, `${where}.items`, depth + 1);
  for (const name of LISTS) {
    const given = fields[name];
    if (given === undefined) continue;
    if (!Array.isArray(given)) throw wrong(`${where}.${name} is no list`);
    for (const [at, one] of (given as readonly Json[]).entries())
      checkSchema(one, `${where}.${name}[${at}]`, depth + 1);
  }
}

function wrong(why: string): LogError {
  return new LogError("invalid_request", why);
}

function isListOf(value: Json, type: "string"): boolean {
  return Array.isArray(value) && (value as readonly Json[]).every((one) => typeof one === type);
}

/**
 * What of a value does not fit a JSON Schema, by its path: types, required members, members that are not allowed, lists,
 * constants and alternatives. What is stricter (patterns, bounds, references) is left to the tool.
 */
export function problemsIn(value: Json, schema: Json, path: string = ""): readonly string[] {
  if (typeof schema === "boolean") return schema ? [] : [`${path || "the input"} is not allowed`];
  const fields = fieldsIn(schema) ?? {};
  const name = path || "the input";
  const { type, items } = fields;
  const types = Array.isArray(type) ? (type as readonly string[]) : typeof type === "string" ? [type] : [];
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return [`${name} is ${typeName(value)}, not ${types.join(" or ")}`];
  const allowed = fields["enum"];
  if (Array.isArray(allowed) && !(allowed as readonly Json[]).some((one) => isSameJson(one, value)))
    return [`${name} is none of ${JSON.stringify(allowed)}`];
  if (fields["const"] !== undefined && !isSameJson(fields["const"], value))
    return [`${name} is not ${JSON.stringify(fields["const"])}`];
  const inside = Array.isArray(value)
    ? (value as readonly Json[]).flatMap((one, at) =>
        items === undefined || Array.isArray(items) ? [] : problemsIn(one, items, `${path}[${at}]`),
      )
    : memberProblems(value, fields, path);
  return [...inside, ...alternativeProblems(value, fields, path)];
}

function memberProblems(value: Json, schema: JsonSchema, path: string): readonly string[] {
  const given = fieldsIn(value);
  if (given === null) return [];
  const at = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const properties = fieldsIn(schema["properties"]) ?? {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly string[]) : [];
  const missing = required
    .filter((name) => !Object.hasOwn(given, name))
    .map((name) => `${at(name)} is missing`);
  const others = schema["additionalProperties"];
  const inside = Object.entries(given).flatMap(([name, inner]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) return problemsIn(inner, own, at(name));
    if (others === false) return [`${at(name)} is not known`];
    return others === undefined ? [] : problemsIn(inner, others, at(name));
  });
  return [...missing, ...inside];
}

function alternativeProblems(value: Json, schema: JsonSchema, path: string): readonly string[] {
  const all = Array.isArray(schema["allOf"]) ? (schema["allOf"] as readonly Json[]) : [];
  const problems = all.flatMap((one) => problemsIn(value, one, path));
  for (const name of ["anyOf", "oneOf"]) {
    const alternatives = schema[name];
    if (!Array.isArray(alternatives)) continue;
    const tried = (alternatives as readonly Json[]).map((one) => problemsIn(value, one, path));
    if (tried.every((one) => one.length > 0))
      problems.push(
        `${path || "the input"} fits no alternative: ${tried.map(([first]) => first).join("; or ")}`,
      );
  }
  return problems;
}

function isOfType(value: Json, type: string): boolean {
  if (type === "integer") return Number.isInteger(value);
  return typeName(value) === type;
}

function typeName(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}
