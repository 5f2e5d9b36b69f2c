import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { ScriptedModel } from "../scripted-model.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

export interface MemoryAgent {
  readonly holdfast: Holdfast;
  readonly memory: Memory;
  readonly model: ScriptedModel;
  readonly agent: Agent;
}

/** A process with an agent that has a memory, over data that outlives it. */
export function memoryAgent(
  script: Script,
  more: Partial<AgentOptions> & { readonly backing?: ReturnType<typeof inMemoryBacking> } = {},
): MemoryAgent {
  const { backing = inMemoryBacking(), ...options } = more;
  const holdfast = new Holdfast(inMemoryStore({ backing }), "default");
  const memory = new Memory(holdfast);
  const model = new ScriptedModel(script);
  const agent = new Agent(holdfast, {
    model,
    memory,
    permission: () => "allow",
    instructions: false,
    isDead: async () => true,
    ...options,
  });
  return { holdfast, memory, model, agent };
}

interface Request {
  readonly system: string;
  readonly reminder: string;
  readonly tools: readonly string[];
}

/** What a model was told first, and reminded of last, with a request. */
export function requestAt({ model }: Pick<MemoryAgent, "model">, at: number = -1): Request {
  const { prompt = [], tools = [] } = model.asked.at(at) ?? {};
  const [first] = prompt;
  const last = JSON.stringify(prompt.at(-1) ?? "");
  return {
    system: first?.role === "system" ? first.content : "",
    reminder: last.slice(last.indexOf("<system-reminder>")),
    tools: tools.map(({ name }) => name),
  };
}
