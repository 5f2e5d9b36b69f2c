import type { ToolDefinition } from "#agent/models/model";
import { LogError } from "#log/errors";
import { fieldsIn, isSameJson } from "#log/json/json-fields";
import { type Json, writeJsonObject } from "#log/json/json-text";
import { errorText } from "#turn/effects/tool-output";
import type { StandardIssue, StandardSchema, Tool, ToolOutput, ToolRun } from "#turn/effects/tool";
import { checkNumbers } from "#log/with-defaults";

const NAME = /^[A-Za-z0-9_-]{1,64}$/; // what every provider takes
const ISSUES_MAX = 20;
const ANY_OBJECT: JsonSchema = { type: "object", properties: {} };

// By tool: every request needs the same text, or the provider's cache misses.
const definitions = new WeakMap<Tool, ToolDefinition>();

/** A tool as a model is told of it. Throws where it cannot be told: before anything is asked. */
export function toolDefinition(tool: Tool): ToolDefinition {
  const cached = definitions.get(tool);
  if (cached !== undefined) return cached;
  const { name, description = "" } = tool;
  if (!NAME.test(name))
    throw new LogError(
      "invalid_request",
      `Invalid tool name ${JSON.stringify(name)}. Use 1 to 64 letters, digits, "_" and "-".`,
      { tool: name },
    );
  const definition = { name, description, inputSchema: schemaOf(tool) };
  definitions.set(tool, definition);
  return definition;
}

/** The tools of a turn. One that cannot be told, or whose name another one has, is found out before anything is written. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const byName = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = toolDefinition(tool);
    if (byName.has(name))
      throw new LogError("invalid_request", `Two tools have the name ${name}. Rename one.`, { tool: name });
    byName.set(name, tool);
  }
  return byName;
}

function schemaOf(tool: Tool): JsonSchema {
  try {
    const schema = writeJsonObject(schemaInput(tool)).value;
    checkSchema(schema);
    return asObject(schema);
  } catch (cause) {
    const why = errorText(cause);
    const next = "Correct it, or set `inputSchema` to a JSON Schema.";
    throw new LogError(
      "invalid_request",
      `Tool ${tool.name} has an invalid input schema: ${why}. ${next}`,
      { tool: tool.name },
      { cause },
    );
  }
}

function schemaInput({ input, inputSchema }: Tool): unknown {
  if (inputSchema !== undefined) return inputSchema;
  if (input === undefined) return ANY_OBJECT;
  if (!isStandard(input)) return input;
  const { jsonSchema, vendor } = input["~standard"];
  if (jsonSchema !== undefined) return jsonSchema.input({ target: "draft-07" });
  throw new Error(`schemas of ${vendor} cannot be converted to JSON Schema`);
}

/** Models send an object as input, so that is what has to be asked for. */
function asObject(schema: JsonSchema): JsonSchema {
  if (schema["type"] === "object") return schema;
  const alternatives = ["anyOf", "oneOf"].map((name) => schema[name]).find((one) => Array.isArray(one));
  const isUnion =
    Array.isArray(alternatives) &&
    (alternatives as readonly Json[]).every((one) => fieldsIn(one)?.["type"] === "object");
  const isOpen = schema["properties"] !== undefined || Object.keys(schema).length === 0;
  if (schema["type"] !== undefined || !(isUnion || isOpen))
    throw new Error("it must describe an object. Wrap the value in an object with a named field");
  return { type: "object", ...schema };
}

function isStandard(schema: unknown): schema is StandardSchema {
  // Those of some libraries are functions.
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  return isHolder && "~standard" in schema;
}

export type InputCheck =
  /** What the tool is to be given. */
  | { readonly value: Json }
  /** What the model is to be told in its place. */
  | { readonly problem: string };

/** Whether an input is what the tool asks for; never throws for what a model sent. */
export async function checkInput(tool: Tool, input: Json): Promise<InputCheck> {
  const { input: schema } = tool;
  if (!isStandard(schema)) {
    const problems = problemsIn(input, tool.inputSchema ?? schema ?? ANY_OBJECT);
    return problems.length === 0 ? { value: input } : { problem: problemText(tool, problems) };
  }
  try {
    const result = await schema["~standard"].validate(input);
    if (result.issues === undefined) return { value: result.value as Json };
    return { problem: problemText(tool, result.issues.map(issueText)) };
  } catch (error) {
    return { problem: problemText(tool, [`it could not be checked: ${errorText(error)}`]) };
  }
}

function issueText({ message, path = [] }: StandardIssue): string {
  const steps = path.map((step) => (typeof step === "object" ? step.key : step));
  const where = steps.map((step, index) =>
    typeof step === "number" ? `[${step}]` : `${index === 0 ? "" : "."}${String(step)}`,
  );
  return where.length === 0 ? message : `${where.join("")}: ${message}`;
}

function problemText(tool: Tool, problems: readonly string[]): string {
  const lines = problems.slice(0, ISSUES_MAX).map((problem) => `- ${problem}`);
  const more = problems.length > ISSUES_MAX ? [`- and ${problems.length - ISSUES_MAX} more`] : [];
  const first = `${tool.name} was not run: the input does not match its schema:`;
  return [first, ...lines, ...more, "Call it again with valid input."].join("\n").toWellFormed();
}

type JsonSchema = { readonly [name: string]: Json };

const TYPES = new Set(["object", "array", "string", "number", "integer", "boolean", "null"]);
const DEPTH_MAX = 100;
const LISTS = ["anyOf", "oneOf", "allOf"];

/** Refuses what no reader of JSON Schema could take for one, by the path to it. */
function checkSchema(schema: Json, where: string = "the schema", depth: number = 0): void {
  if (typeof schema === "boolean") return;
  const fields = fieldsIn(schema);
  if (fields === null) throw wrong(`${where} must be an object`);
  if (depth > DEPTH_MAX) throw wrong(`${where} is nested more than ${DEPTH_MAX} levels deep`);
  const { type, properties, required, items } = fields;
  const types = Array.isArray(type) ? (type as readonly Json[]) : type === undefined ? [] : [type];
  for (const one of types)
    if (typeof one !== "string" || !TYPES.has(one))
      throw wrong(`${where} has the unknown type ${JSON.stringify(one)}`);
  if (required !== undefined && !isListOf(required, "string"))
    throw wrong(`${where}.required must be an array of names`);
  if (fields["enum"] !== undefined && !Array.isArray(fields["enum"]))
    throw wrong(`${where}.enum must be an array`);
  if (properties !== undefined && fieldsIn(properties) === null)
    throw wrong(`${where}.properties must be an object`);
  for (const [name, inner] of Object.entries(fieldsIn(properties) ?? {}))
    checkSchema(inner, `${where}.properties.${name}`, depth + 1);
  if (items !== undefined && !Array.isArray(items)) checkSchema(items, `${where}.items`, depth + 1);
  for (const name of LISTS) {
    const list = fields[name];
    if (list === undefined) continue;
    if (!Array.isArray(list)) throw wrong(`${where}.${name} must be an array`);
    for (const [index, one] of (list as readonly Json[]).entries())
      checkSchema(one, `${where}.${name}[${index}]`, depth + 1);
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
function problemsIn(value: Json, schema: Json, path: string = ""): readonly string[] {
  if (typeof schema === "boolean") return schema ? [] : [`${path || "the input"} is not allowed`];
  const fields = fieldsIn(schema) ?? {};
  const name = path || "the input";
  const { type, items } = fields;
  const types = Array.isArray(type) ? (type as readonly string[]) : typeof type === "string" ? [type] : [];
  if (types.length > 0 && !types.some((one) => isOfType(value, one)))
    return [`${name} must be ${types.join(" or ")} (got ${typeName(value)})`];
  const allowed = fields["enum"];
  if (Array.isArray(allowed) && !(allowed as readonly Json[]).some((one) => isSameJson(one, value)))
    return [`${name} must be one of ${JSON.stringify(allowed)}`];
  if (fields["const"] !== undefined && !isSameJson(fields["const"], value))
    return [`${name} must be ${JSON.stringify(fields["const"])}`];
  const inside = Array.isArray(value)
    ? (value as readonly Json[]).flatMap((one, index) =>
        items === undefined || Array.isArray(items) ? [] : problemsIn(one, items, `${path}[${index}]`),
      )
    : memberProblems(value, fields, path);
  return [...inside, ...alternativeProblems(value, fields, path)];
}

function memberProblems(value: Json, schema: JsonSchema, path: string): readonly string[] {
  const members = fieldsIn(value);
  if (members === null) return [];
  const pathTo = (name: string): string => (path === "" ? name : `${path}.${name}`);
  const properties = fieldsIn(schema["properties"]) ?? {};
  const required = Array.isArray(schema["required"]) ? (schema["required"] as readonly string[]) : [];
  const missing = required
    .filter((name) => !Object.hasOwn(members, name))
    .map((name) => `${pathTo(name)} is missing`);
  const others = schema["additionalProperties"];
  const inside = Object.entries(members).flatMap(([name, inner]) => {
    const own = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (own !== undefined) return problemsIn(inner, own, pathTo(name));
    if (others === false) return [`${pathTo(name)} is an unknown field`];
    return others === undefined ? [] : problemsIn(inner, others, pathTo(name));
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
        `${path || "the input"} does not match any alternative: ${tried.map(([first]) => first).join("; or ")}`,
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

/** What a schema makes of an input. */
type OutputOf<S extends StandardSchema> = S extends StandardSchema<infer T> ? T : never;

/** A tool whose `run` and `dryRun` take what its schema makes of the input. */
export interface TypedTool<S extends StandardSchema> extends Omit<Tool, "input" | "run" | "dryRun"> {
  readonly input: S;
  run(input: OutputOf<S>, call: ToolRun): Promise<ToolOutput | string>;
  dryRun?(input: OutputOf<S>, call: ToolRun): Promise<ToolOutput | string>;
}

/**
 * A tool whose input has the type of its schema (zod, valibot, arktype, anything that speaks Standard Schema). The agent loop checks
 * every call by that schema before it runs. A tool that no model can be told of is refused here.
 */
export function tool<S extends StandardSchema>(definition: TypedTool<S>): Tool;
export function tool(definition: Tool): Tool;
export function tool(definition: unknown): Tool {
  const checkedTool = definition as Tool;
  checkNumbers(checkedTool, { timeoutMs: "limit", outputChars: "count" });
  toolDefinition(checkedTool);
  return checkedTool;
}
