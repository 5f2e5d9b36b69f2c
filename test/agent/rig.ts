import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import type { ContextMessage } from "#log/projections/pairs";
import type { HostEvent } from "#turn/host";
import type { Tool } from "#turn/effects/tool";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { dyingClock } from "../support/dying-clock.ts";
import { ScriptedModel } from "./scripted-model.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

interface Process {
  readonly holdfast: Holdfast;
  readonly model: ScriptedModel;
  readonly agent: Agent;
}

export interface AgentRig extends Process {
  readonly conversation: Conversation;
  readonly events: HostEvent[];
  readonly host: { readonly onEvent: (event: HostEvent) => void };
  another(script: Script, more?: Partial<AgentOptions>): Process;
  /** Kills the first process: from here on it does nothing any more. */
  die(): void;
}

/** An agent with a scripted model over a store in memory; `another` is a process that comes after it. */
export async function agentRig(script: Script, more: Partial<AgentOptions> = {}): Promise<AgentRig> {
  const backing = inMemoryBacking();
  const holdfast = new Holdfast(inMemoryStore({ backing }), "default");
  const model = new ScriptedModel(script);
  const events: HostEvent[] = [];
  const host = { onEvent: (event: HostEvent): void => void events.push(event) };
  const clock = dyingClock();
  const options: AgentOptions = {
    model,
    permission: () => "allow",
    instructions: false,
    isDead: async () => true,
    ...more,
  };
  const agent = new Agent(holdfast, { clock, ...options });
  const conversation = await holdfast.create({ id: "c" });
  const another: AgentRig["another"] = (next, other = {}) => {
    const later = new ScriptedModel(next);
    const space = new Holdfast(inMemoryStore({ backing }), "default");
    return { model: later, agent: new Agent(space, { ...options, model: later, ...other }), holdfast: space };
  };
  return { holdfast, model, agent, conversation, events, host, another, die: () => clock.die() };
}

/** What the model would be sent, in short. */
export async function said(conversation: Conversation): Promise<readonly string[]> {
  return (await conversation.context()).messages.map(inShort);
}

export function inShort({ role, content }: Pick<ContextMessage, "role" | "content">): string {
  const parts = content.map((block) => {
    if (block.type === "text") return block.text;
    return block.type === "toolCall" ? `${block.name}(${JSON.stringify(block.input)})` : `[${block.type}]`;
  });
  return `${role}: ${parts.join(" ")}`;
}

/** A tool that counts how often it ran. */
export function counter(name: string, more: Partial<Tool> = {}): Tool & { readonly runs: unknown[] } {
  const runs: unknown[] = [];
  return {
    name,
    runs,
    async run(input) {
      runs.push(input);
      return `${name} ${runs.length}`;
    },
    ...more,
  };
}
