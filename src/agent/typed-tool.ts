import { checkNumbers } from "#log/with-defaults";
import type { StandardSchema, Tool, ToolOutput, ToolRun } from "#turn/effects/tool";
import { toolDefinition } from "./tools/tool-schema.ts";

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
  const made = definition as Tool;
  checkNumbers(made, { timeoutMs: "limit", outputChars: "count" });
  toolDefinition(made);
  return made;
}
