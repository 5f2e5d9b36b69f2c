import type { Holdfast } from "#conversation/holdfast";
import { Memory } from "#agent/memory/memory";
import { openModel } from "#agent/models/open-model";
import { withoutModelKeys } from "#agent/models/providers";
import { codingTools } from "#agent/tools/coding-tools";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import type { AgentLoop } from "#edges/acp/loop-agent";
import { isDeadProcess, nameOfProcess } from "#turn/running-process";
import type { Call } from "#edges/cli/command";
import { mcpServersOf } from "#edges/cli/chat/mcp-file";
import { ownSkills } from "#edges/cli/chat/own-skills";

const LOOP = "holdfast"; // what editors call it, and the log where it says who carried a conversation

/** Our own loop with this model, once the store is open; what it lacks is found before the editor is greeted. */
export async function acpLoop(call: Call, model: string): Promise<(holdfast: Holdfast) => AgentLoop> {
  const { flags, io } = call;
  const baseUrl = flags.text("base-url");
  const open: AgentLoop["loop"]["openModel"] = (request) =>
    openModel(request, {
      env: io.env,
      ...(baseUrl !== undefined && isOf(model, request) ? { baseUrl } : {}),
    });
  await open(model);
  const env = withoutModelKeys(io.env);
  const loop: AgentLoop["loop"] = {
    model,
    openModel: open,
    tools: (cwd) => (cwd === null ? [] : codingTools({ cwd, env })),
    skills: ownSkills(env),
    servers: await mcpServersOf(call),
    permission: DEFAULT_POLICY,
    writer: await nameOfProcess("holdfast acp"),
    isDead: isDeadProcess,
  };
  return (holdfast) => ({
    name: LOOP,
    loop: { ...loop, memory: flags.has("no-memory") ? null : new Memory(holdfast) },
  });
}

/** Whether a model is served where another one is. */
function isOf(model: string, request: unknown): boolean {
  return typeof request === "string" && request.split("/")[0] === model.split("/")[0];
}
