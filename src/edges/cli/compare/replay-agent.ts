import { stat } from "node:fs/promises";
import { Memory } from "#agent/memory/memory";
import type { AgentModel, ModelInput } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import type { ReplayAgent } from "#agent/replay/replay-options";
import { codingTools } from "#agent/tools/coding-tools";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import { mcpServersOf } from "#edges/cli/chat/mcp-file";
import { ownSkills } from "#edges/cli/chat/own-skills";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** Whose tools and prompt the replay has: those of a host's module, or those of a chat on the command line. */
export async function replayAgent(call: Call, holdfast: Holdfast, cwd: string): Promise<ReplayAgent> {
  const open = modelOpener(call);
  const module = call.flags.text("agent");
  if (module !== undefined) return { openModel: open, ...(await loadAgentModule(module, { holdfast, cwd })) };
  const env = withoutModelKeys(call.io.env);
  return {
    tools: (folder) => codingTools({ cwd: folder ?? cwd, env }),
    skills: ownSkills(env),
    memory: call.flags.has("no-memory") ? null : new Memory(holdfast),
    servers: await mcpServersOf(call),
    // What was allowed for good in the original is a part of what may come from elsewhere.
    permission: DEFAULT_POLICY,
    openModel: open,
  };
}

/** Where models are served is said here, not by the record: it may come from elsewhere, and keys are sent there. */
export function modelOpener(call: Call): (given: ModelInput) => Promise<AgentModel> {
  const baseUrl = call.flags.text("base-url");
  const providers = new Set(call.flags.list("model").map((name) => name.split("/")[0]));
  if (baseUrl !== undefined && providers.size !== 1)
    throw new LogError(
      "invalid_request",
      "--base-url is where the models of one provider are served: name those alone",
    );
  return (given) => openModel(given, { env: call.io.env, ...(baseUrl === undefined ? {} : { baseUrl }) });
}

/** The folder of the original, or where that is not here, the one the command was called in. */
export async function folderHere(
  recorded: string | null,
): Promise<{ readonly cwd: string; readonly isOther: boolean }> {
  const found = recorded === null ? null : await stat(recorded).catch(() => null);
  if (recorded !== null && found?.isDirectory() === true) return { cwd: recorded, isOther: false };
  return { cwd: process.cwd(), isOther: recorded !== null };
}

/** What the module of `--agent` is given. */
interface AgentModuleInput {
  readonly holdfast: Holdfast;
  /** Where the replay is worked on; null where the original says nothing of a folder. */
  readonly cwd: string | null;
}

/**
 * A host's own agent: the options of `new Agent` that a module gives, by a function that it exports as `agent` or as its default.
 * A model that stands among them is not asked: those of `--model` are.
 */
async function loadAgentModule(path: string, input: AgentModuleInput): Promise<ReplayAgent> {
  const wrong = (why: string, cause?: unknown): LogError =>
    new LogError(
      "invalid_request",
      `--agent ${path}: ${why}`,
      { module: path },
      cause === undefined ? {} : { cause },
    );
  const exported = (await import(pathToFileURL(resolve(path)).href).catch((cause: unknown) => {
    throw wrong(`it cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, cause);
  })) as { readonly [name: string]: unknown };
  const make = exported["agent"] ?? exported["default"];
  if (typeof make !== "function")
    throw wrong("it must export a function `agent`, or a default function, that returns agent options");
  const given: unknown = await (make as (input: AgentModuleInput) => unknown)(input);
  if (typeof given !== "object" || given === null)
    throw wrong(
      "its function gives no object with the options of an agent: tools, system, permission and so on",
    );
  const { model: _, ...options } = given as { readonly model?: unknown };
  return options;
}
