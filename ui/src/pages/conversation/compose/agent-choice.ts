import { type Signal, signal } from "@preact/signals";
import type { Api } from "#edges/http/client/index";

export type Agents = Api["listAgents"]["response"]["agents"];

export interface Choice {
  readonly agent: string;
  readonly model?: string;
}

/** Who was chosen for the next turn, by conversation. */
export const chosen: Signal<ReadonlyMap<string, Choice>> = signal(new Map());

/** Who carried a conversation until now. */
export interface Carriers {
  readonly agent: string | null;
  readonly model: string | null;
}

/** What is sent along: what a person chose; else who carried it before, where the server has it; else its first is meant. */
export function choiceFor(conversation: string, agents: Agents, { agent }: Carriers): Partial<Choice> {
  const picked = chosen.value.get(conversation);
  if (picked !== undefined) return picked;
  return agent !== null && agents.slice(1).some((one) => one.agent === agent) ? { agent } : {};
}

/** The agent that answers next; none where the server has none. */
export function agentFor(conversation: string, agents: Agents, by: Carriers): Agents[number] | undefined {
  const { agent } = choiceFor(conversation, agents, by);
  return agents.find((one) => one.agent === agent) ?? agents[0];
}
