import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { Config } from "#log/projections/config";
import type { BridgeTurns, HostedAgent } from "#edges/acp/bridge-agents";
import type { HostWire } from "./host-wire.ts";
import { listIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** What everything on the host's side works with. */
export interface BridgeParts {
  readonly holdfast: Holdfast;
  /** Carries their turns. */
  readonly turns: BridgeTurns;
  readonly wire: HostWire;
  /** The agents a conversation may be carried by; the first is the default. */
  readonly upstreams: readonly [HostedAgent, ...HostedAgent[]];
  readonly onLimit: "park" | "switch" | "ask";
  readonly clock: Clock;
  /** The host has a place of its own for notices. */
  showsNotices(): boolean;
}

/** The agent that carries a conversation with this config. */
export function agentOf({ upstreams }: BridgeParts, { agent }: Config): HostedAgent {
  return upstreams.find((upstream) => upstream.agent === agent) ?? upstreams[0];
}

/** The names of the agents there are to choose from. */
export function agentNames({ upstreams }: BridgeParts): readonly string[] {
  return upstreams.map(({ agent }) => agent);
}

/** The option that chooses the agent; absent when there is only one. */
export const AGENT_OPTION = "holdfast.agent";
export const AGENT_COMMAND = "agent";

export function agentOption(names: readonly string[], current: string): Json | null {
  if (names.length < 2) return null;
  return {
    id: AGENT_OPTION,
    name: "Agent",
    description: "The agent that runs this conversation",
    category: "_holdfast_agent",
    type: "select",
    currentValue: current,
    options: names.map((name) => ({ value: name, name })),
  };
}

export function agentCommand(names: readonly string[]): Json | null {
  if (names.length < 2) return null;
  return {
    name: AGENT_COMMAND,
    description: "Switch to another agent",
    input: { hint: names.join(" | ") },
  };
}

/** The options of a session with ours among them. */
export function withAgentOption(options: Json, own: Json | null): Json {
  return own === null ? options : [...listIn(options), own];
}
