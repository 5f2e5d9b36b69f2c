import type { ContentBlock } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { PriorBudget } from "./rules/prior-budget.ts";
import type { Owner } from "#conversation/owner";
import type { SessionInputs, Live } from "./choose.ts";
import type { FactReader } from "./facts.ts";
import type { Host, HostEvent } from "#turn/host";
import type { Steering } from "#turn/steering";
import type { Upstream } from "./upstream.ts";
import type { WireMessage } from "#turn/wire-message";

/** Everything one turn works with. */
export interface TurnInputs extends SessionInputs {
  readonly owner: Owner;
  readonly facts: FactReader;
  readonly host: Host;
  readonly turn: string;
  readonly prompt: EntryId;
  readonly content: readonly ContentBlock[];
  readonly wire: WireMessage | undefined;
  readonly cancelMs: number;
  readonly silenceMs: number;
  readonly toolSilenceMs: number;
  readonly onSilence: "stop" | "tell";
  readonly prior: PriorBudget | null;
  readonly onLimit: "park" | "switch" | "ask";
  /** Why the first session that is asked has to be a new one; null when it need not be. */
  readonly fresh: string | null;
  /** How the running prompt is steered; nothing while none runs. */
  readonly steering: Steering;
  newId(): string;
  /** The session held for an agent, if one is. */
  liveOf(upstream: Upstream): Live | null;
  /** Asks for a login; true when there is a new one. */
  login(upstream: Upstream, message: string): Promise<boolean>;
}

type TurnEvent = HostEvent extends infer E
  ? E extends HostEvent
    ? Omit<E, "conversation" | "upstream">
    : never
  : never;

/** Every event says which conversation and which upstream it is about. */
export function emit(
  inputs: Pick<TurnInputs, "host" | "conversation">,
  upstream: string | null,
  event: TurnEvent,
): void {
  inputs.host.onEvent({ ...event, conversation: inputs.conversation, upstream });
}
