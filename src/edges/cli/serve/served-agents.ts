import { resolve } from "node:path";
import { UnattendedAgent } from "#edges/acp/index";
import type { AgentSource, AgentSources } from "#edges/http/index";
import type { Skills } from "#agent/skills/skills";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import { agentsOf, SIMULATED } from "#edges/cli/known-agents";
import { packageVersion } from "#edges/cli/version";
import { servedModel } from "./served-model.ts";
import { simulatedSource, speedOf } from "./simulated-agent.ts";

const LOOP = "holdfast"; // as editors call it

/** The agents that the command line names; without one no turn is run. */
export async function servedAgents(call: Call, skills: Skills): Promise<AgentSources> {
  const { flags } = call;
  const loop = await servedModel(call, skills);
  const named = flags.list("agent");
  const simulated = simulatedSource(speedOf(call));
  const given = [
    ...(loop === null ? [] : [[LOOP, loop] as const]),
    ...acpAgents(call),
    ...(named.includes(SIMULATED) ? [[SIMULATED, simulated] as const] : []),
  ];
  const names = given.map(([name]) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new LogError("invalid_request", `Two agents are called ${twice}; give each a name of its own`);
  return Object.fromEntries(given);
}

/** Agents that speak ACP, each with a process in every space that asks for it. */
function acpAgents({ flags, args, io }: Call): readonly (readonly [string, AgentSource])[] {
  const named = flags.list("agent").filter((text) => text !== SIMULATED);
  if (named.length === 0 && args.length === 0) return [];
  const given = flags.text("cwd");
  if (given === undefined)
    throw new LogError("invalid_request", "An agent works in a folder: say in which with --cwd");
  const cwd = resolve(given);
  const version = packageVersion();
  return agentsOf({ named, command: args, accounts: flags.list("account") }, io.env).map((spec) => {
    const here = { ...spec, command: { ...spec.command, cwd } };
    return [spec.name, { open: (holdfast) => new UnattendedAgent(holdfast, here, { cwd, version }) }];
  });
}
