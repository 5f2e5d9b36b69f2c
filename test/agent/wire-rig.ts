import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { openModel } from "#agent/models/open-model";
import { type Clock, systemClock } from "#conversation/clock";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import type { ModelServer } from "../support/model-server.ts";
import type { WireName } from "../support/model-server/scripted-answer.ts";

export const WIRE_MODELS: { readonly [W in WireName]: string } = {
  anthropic: "anthropic/claude-sonnet-5",
  openai: "openai/gpt-5",
  "openai-compatible": "openai-compatible/local",
  google: "google/gemini-3-pro",
};
export const WIRES: readonly WireName[] = Object.keys(WIRE_MODELS) as readonly WireName[];

const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
/** Backs off without waiting; a lease and a silence are as long as they are. */
export class HurriedClock implements Clock {
  readonly waited: number[] = [];
  readonly #day: string | null;

  constructor(day: string | null = null) {
    this.#day = day;
  }

  nowMs(): number {
    return this.#day === null ? Date.now() : Date.parse(this.#day);
  }

  steadyMs(): number {
    return systemClock.steadyMs();
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    if (ms < 1_000 || ms > 8_000) return systemClock.sleep(ms, signal);
    this.waited.push(ms);
    return Promise.resolve();
  }
}

/** A process with an agent whose models are the real packages, over the scripted server. */
export function wireAgent(
  server: ModelServer,
  wire: WireName,
  more: Partial<AgentOptions> & { readonly backing?: ReturnType<typeof inMemoryBacking> } = {},
): { readonly agent: Agent; readonly holdfast: Holdfast } {
  const { backing = inMemoryBacking(), ...options } = more;
  const holdfast = new Holdfast(inMemoryStore({ backing }), "default");
  const agent = new Agent(holdfast, {
    model: WIRE_MODELS[wire],
    permission: () => "allow",
    instructions: false,
    isDead: async () => true,
    clock: new HurriedClock(),
    openModel: (given) => {
      if (typeof given !== "string") return openModel(given);
      const asked = WIRES.find((one) => given.startsWith(`${one}/`));
      return openModel(given, asked === undefined ? {} : { env, baseUrl: server.baseUrl(asked) });
    },
    ...options,
  });
  return { agent, holdfast };
}
