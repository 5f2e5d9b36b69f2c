import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { Config } from "#log/projections/config";
import type { HostedAgent } from "#edges/acp/bridge-upstream";
import type { BridgeTurns } from "#edges/acp/bridge-turns";
import type { HostWire } from "./wire/host-wire.ts";

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
