import type { AgentSource, AgentSources } from "#edges/http/index";
import type { Skills } from "#agent/skills/skills";
import { LogError } from "#log/errors";
import type { Call } from "#edges/cli/command";
import { servedModel } from "./served-model.ts";
import { SIMULATED, simulatedSource } from "./simulated-agent.ts";

const LOOP = "holdfast"; // as editors call it

/** Who carries turns, as the command line says; the simulated agent where it says nothing. */
export async function servedAgents(call: Call, skills: Skills): Promise<AgentSources> {
  const { flags } = call;
  const loop = await servedModel(call, skills);
  const named = flags.list("agent");
  const others = named.map((text): readonly [string, AgentSource] => {
    if (text !== SIMULATED)
      throw new LogError("invalid_request", `--agent takes ${SIMULATED}, not "${text}"`);
    return [SIMULATED, simulatedSource(speedOf(call))];
  });
  const given = [...(loop === null ? [] : [[LOOP, loop] as const]), ...others];
  return Object.fromEntries(given.length === 0 ? [[SIMULATED, simulatedSource(speedOf(call))]] : given);
}

function speedOf({ flags }: Call): number {
  const speed = flags.count("speed") ?? 1;
  if (speed > 0) return speed;
  throw new LogError("invalid_request", "--speed is a number from 1 on");
}
