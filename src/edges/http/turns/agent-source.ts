import type { Holdfast } from "#conversation/holdfast";
import type { FaultInjection } from "#edges/http/faults/fault-handlers";
import type { Turns } from "#turn/turns";

/** An agent by its name, made for each space in which it is first asked for. */
export interface AgentSource {
  open(holdfast: Holdfast): Turns | Promise<Turns>;
  /** The models that a client may choose; none unless given. */
  readonly models?: readonly string[];
  /** Injects faults into it: of a simulated agent alone. The routes for faults exist only where an agent has it. */
  readonly faults?: FaultInjection;
}

/** By name; the first is asked where none is named. */
export type AgentSources = { readonly [name: string]: AgentSource };
