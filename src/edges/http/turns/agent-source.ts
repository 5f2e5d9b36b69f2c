import type { Holdfast } from "#conversation/holdfast";
import type { WaitingTrouble } from "#edges/http/routes/server-api";
import type { Turns } from "#turn/turns";

/** Turns that can be made to fail, for trying things out. */
interface Troubles {
  /** Lets one of its source's troubles befall the next turn. */
  strike(trouble: { readonly kind: string; readonly phase?: string }): Promise<{ readonly phase: string }>;
  /** Those that have not struck yet. */
  waitingTroubles(): readonly WaitingTrouble[];
  /** Takes them back, all or those of a kind, and gives them. */
  callOff(kind?: string): readonly WaitingTrouble[];
}

export type ServedTurns = Turns & Partial<Troubles>;

/** An agent by its name, made for each space in which it is first asked for. */
export interface AgentSource {
  open(holdfast: Holdfast): ServedTurns | Promise<ServedTurns>;
  /** The models that a client may choose; none unless given. */
  readonly models?: readonly string[];
  /** What it can be made to go through, by its names for it: a simulated one, for trying things out. */
  readonly troubles?: readonly string[];
}

/** By name; the first is asked where none is named. */
export type AgentSources = { readonly [name: string]: AgentSource };
