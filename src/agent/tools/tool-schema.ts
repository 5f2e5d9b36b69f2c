import type { ToolDefinition } from "#agent/models/model-answer";
import { LogError } from "#log/errors";
import { fieldsIn } from "#log/json/json-fields";
import { type Json, writeJsonObject } from "#log/json/json-text";
import { errorText } from "#turn/effects/tool-output";
import type { StandardIssue, StandardSchema, Tool } from "#turn/effects/tool";
import { checkSchema, type JsonSchema, problemsIn } from "./json-schema.ts";

const NAME = /^[A-Za-z0-9_-]{1,64}$/; // what every provider takes
const ISSUES_MAX = 20;
const ANY_OBJECT: JsonSchema = { type: "object", properties: {} };

// By the tool itself: the same text in every request, or the cache of the provider begins anew.
const definitions = new WeakMap<Tool, ToolDefinition>();

/** A tool as a model is told of it. Throws where it cannot be told: before anything is asked. */
export function toolDefinition(tool: Tool): ToolDefinition {
  const known = definitions.get(tool);
  if (known !== undefined) return known;
  const { name, description = "" } = tool;
  if (!NAME.test(name))
    throw new LogError(
      "invalid_request",
      `A tool cannot be called ${JSON.stringify(name)}: models take letters, digits, _ and -, 64 at most`,
      { tool: name },
    );
  const definition = { name, description, inputSchema: schemaOf(tool) };
  definitions.set(tool, definition);
  return definition;
}

/** The tools of a turn. One that cannot be told, or whose name another one has, is found out before anything is written. */
export function toolsByName(tools: readonly Tool[]): ReadonlyMap<string, Tool> {
  const named = new Map<string, Tool>();
  for (const tool of tools) {
    const { name } = toolDefinition(tool);
    if (named.has(name))
      throw new LogError(
        "invalid_request",
        `Two tools are called ${name}, and a call would not say which is meant; nothing was sent`,
        { tool: name },
      );
    named.set(name, tool);
  }
  return named;
}

function schemaOf(tool: Tool): JsonSchema {
  try {
    const schema = writeJsonObject(givenSchema(tool)).value;
    checkSchema(schema);
    return asObject(schema);
  } catch (cause) {
    const why = errorText(cause).replace(/; nothing was written$/, "");
    const next = "Nothing was asked; correct the schema, or say it as JSON Schema in `inputSchema`";
    throw new LogError(
      "invalid_request",
      `The input of the tool ${tool.name} cannot be told to a model: ${why}. ${next}`,
      { tool: tool.name },
      { cause },
    );
  }
}

function givenSchema({ input, inputSchema }: Tool): unknown {
  if (inputSchema !== undefined) return inputSchema;
  if (input === undefined) return ANY_OBJECT;
  if (!isStandard(input)) return input;
  const { jsonSchema, vendor } = input["~standard"];
  if (jsonSchema !== undefined) return jsonSchema.input({ target: "draft-07" });
  throw new Error(`a schema of ${vendor} does not say itself as JSON Schema`);
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
    throw new Error("it is no object; put it into one, as a member with a name");
  return { type: "object", ...schema };
}

function isStandard(schema: unknown): schema is StandardSchema {
  // Those of some libraries are functions.
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  return isHolder && "~standard" in schema;
}

export type CheckedInput =
  /** What the tool is to be given. */
  | { readonly value: Json }
  /** What the model is to be told in its place. */
  | { readonly problem: string };

/** Whether an input is what the tool asks for; never throws for what a model sent. */
export async function checkInput(tool: Tool, input: Json): Promise<CheckedInput> {
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
  const where = steps.map((step, at) =>
    typeof step === "number" ? `[${step}]` : `${at === 0 ? "" : "."}${String(step)}`,
  );
  return where.length === 0 ? message : `${where.join("")}: ${message}`;
}

function problemText(tool: Tool, problems: readonly string[]): string {
  const shown = problems.slice(0, ISSUES_MAX).map((problem) => `- ${problem}`);
  const more = problems.length > ISSUES_MAX ? [`- and ${problems.length - ISSUES_MAX} more`] : [];
  const first = `The input of ${tool.name} does not fit its schema, so it was not run:`;
  return [first, ...shown, ...more, "Call it again with an input that fits."].join("\n").toWellFormed();
}
