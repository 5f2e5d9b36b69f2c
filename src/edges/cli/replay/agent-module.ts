import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import type { ReplayAgent } from "#agent/replay/replay-options";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";

/** What the module of `--agent` is given. */
export interface AgentModuleInput {
  readonly holdfast: Holdfast;
  /** Where the replay is worked on; null where the original says nothing of a folder. */
  readonly cwd: string | null;
}

/**
 * A host's own agent: the options of `new Agent` that a module gives, by a function that it exports as `agent` or as its default.
 * A model that stands among them is not asked: those of `--model` are.
 */
export async function loadAgentModule(path: string, input: AgentModuleInput): Promise<ReplayAgent> {
  const wrong = (why: string, cause?: unknown): LogError =>
    new LogError(
      "invalid_request",
      `--agent ${path}: ${why}. Nothing was sent or written`,
      { module: path },
      cause === undefined ? {} : { cause },
    );
  const exported = (await import(pathToFileURL(resolve(path)).href).catch((cause: unknown) => {
    throw wrong(`it cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  })) as { readonly [name: string]: unknown };
  const make = exported["agent"] ?? exported["default"];
  if (typeof make !== "function")
    throw wrong(
      "it exports no function `agent`, and none as its default, that gives the options of an agent",
    );
  const given: unknown = await (make as (input: AgentModuleInput) => unknown)(input);
  if (typeof given !== "object" || given === null)
    throw wrong(
      "its function gives no object with the options of an agent: tools, system, permission and so on",
    );
  const { model: _, ...options } = given as { readonly model?: unknown };
  return options;
}
