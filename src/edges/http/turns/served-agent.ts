import type { Holdfast } from "#conversation/holdfast";
import type { WaitingTrouble } from "#edges/http/routes/server-api";
import type { SteerTime, TurnOutcome } from "#log/entry";
import type { PromptContent } from "#turn/accept";
import type { Host } from "#turn/host";
import type { Steered } from "#turn/steering";

/** What is known of a turn that a server had carried. */
export interface CarriedTurn {
  readonly turn: string;
  readonly prompt: string;
  readonly outcome: TurnOutcome | "waiting";
  readonly repeated?: { readonly differs: boolean };
}

interface CarryOptions extends Host {
  readonly key?: string;
  readonly model?: string;
}

/** Who carries turns in one space: an `Agent` of `holdfast/agent`, a `Runtime`, or whatever else has these verbs. */
export interface ServedAgent {
  send(to: string, content: PromptContent, options: CarryOptions): Promise<CarriedTurn>;
  continue(to: string, options: CarryOptions): Promise<CarriedTurn>;
  /** Sends the last prompt once more; one without it goes on instead. */
  retry?(to: string, options: CarryOptions): Promise<CarriedTurn>;
  steer(
    to: string,
    content: PromptContent,
    options: { readonly steer?: string; readonly when?: SteerTime },
  ): Promise<Steered>;
  /** Goes back before a message of a person's, so that others can stand in its place. */
  goBackTo(to: string, entry: string): Promise<unknown>;
  cancel(of: string): boolean;
  /** Lets one of its source's troubles befall the next turn. */
  strike?(trouble: { readonly kind: string; readonly phase?: string }): Promise<{ readonly phase: string }>;
  /** Those that have not struck yet. */
  waitingTroubles?(): readonly WaitingTrouble[];
  /** Takes them back, all or those of a kind, and gives them. */
  callOff?(kind?: string): readonly WaitingTrouble[];
  close(): Promise<void>;
}

/** An agent by its name, made for each space in which it is first asked for. */
export interface AgentSource {
  open(holdfast: Holdfast): ServedAgent | Promise<ServedAgent>;
  /** The models that a client may choose; none unless given. */
  readonly models?: readonly string[];
  /** What it can be made to go through, by its names for it: a simulated one, for trying things out. */
  readonly troubles?: readonly string[];
}

/** By name; the first is asked where none is named. */
export type AgentSources = { readonly [name: string]: AgentSource };
