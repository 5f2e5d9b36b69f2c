import type { Fidelity, PriorContextCounts } from "#log/entry";
import type { EndingClass } from "#log/ending-class";
import { LogError } from "#log/errors";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";

/** What a host is told. Every event says which conversation and which upstream it is about. */
export type HostEvent = { readonly conversation: string; readonly upstream: string | null } & (
  | {
      readonly type: "accepted";
      readonly turn: string;
      readonly prompt: string;
      /** The last entry before what the turn writes from here on. */
      readonly after: number;
      /** It was begun before, had not ended, and goes on. */
      readonly resumed: boolean;
    }
  | {
      readonly type: "session";
      readonly reason: string;
      readonly fidelity: Fidelity;
      readonly silent: boolean;
      readonly restored: number;
      /** What it is told of what came before; null when it is told nothing. */
      readonly priorContext: PriorContextCounts | null;
    }
  /** The fork is durable, with its lineage, and nothing has been sent to it yet. */
  | { readonly type: "forked"; readonly source: string; readonly at: string; readonly fidelity: Fidelity }
  /** The prompt goes on from elsewhere, in the same conversation: see `SendOptions.from`. */
  | {
      readonly type: "continued";
      readonly how: "edited" | "forked" | "resumed";
      readonly at: string;
      readonly fidelity: Fidelity;
    }
  | { readonly type: "update"; readonly event: TurnEvent }
  /** The attempt is given up and another follows: what was passed on of it does not count. */
  | { readonly type: "lost"; readonly class: EndingClass; readonly message: string }
  /** Something made every request fail. It is given to no session any more, and hidden where a person agreed. */
  | {
      readonly type: "poisoned";
      readonly entry: string;
      readonly isPrompt: boolean;
      readonly hidden: boolean;
      readonly message: string;
    }
  /** A model of our own is asked once more, with what came of the step before. */
  | { readonly type: "step"; readonly step: number; readonly model: string }
  /** What was said before is a summary from here on, to the model; nothing is removed. */
  | { readonly type: "compacted"; readonly entry: string; readonly tokensBefore: number | null }
  /** A tool is not run until a person has answered; `answered` says what it was, by whomever. */
  | ({ readonly type: "asked" } & PermissionAsked)
  | {
      readonly type: "answered";
      readonly request: string;
      readonly outcome: "allowed" | "denied" | "cancelled";
    }
  | { readonly type: "backing_off"; readonly delayMs: number; readonly message: string }
  /** Another agent carries the prompt on, and the conversation with it. */
  | { readonly type: "switched"; readonly from: string; readonly to: string }
  /** The agent has said nothing for so long; it may be at work all the same. */
  | { readonly type: "silent"; readonly forMs: number }
  /** Turns found in the agent's own record are in the log now: on the branch, or beside it when both went on. */
  | { readonly type: "adopted"; readonly messages: number; readonly aside: boolean }
  | {
      readonly type: "parked";
      readonly class: EndingClass;
      readonly resetAtMs: number | null;
      readonly message: string;
    }
  | {
      readonly type: "ended";
      readonly outcome: "completed" | "interrupted" | "failed";
      readonly class: EndingClass;
    }
  /** The turn is parked until its questions are answered; it stays open, and nobody holds it. */
  | { readonly type: "waiting"; readonly requests: readonly string[] }
);

/** A call that waits for a person. */
export interface PermissionAsked {
  /** The name an answer calls it by. */
  readonly request: string;
  readonly call: string;
  readonly tool: string;
  readonly input: Json;
}

export interface Limit {
  readonly agent: string;
  readonly next: string;
  readonly message: string;
  readonly resetAtMs: number | null;
}

export interface Poison {
  /** The entry that makes every request fail, as far as can be told. */
  readonly entry: string;
  /** It is the prompt that was just sent. */
  readonly isPrompt: boolean;
  /** What the agent said. */
  readonly message: string;
}

/** Who is told, and asked. Whoever leaves something out is not. */
export interface Host {
  /**
   * Stops the turn, as `cancel` does: the result of a call is kept, and the turn ends interrupted. Aborted before the turn began,
   * nothing is written or sent and the call rejects with the signal's reason.
   */
  readonly signal?: AbortSignal;
  onEvent?(event: HostEvent): void;
  /** Asked when the agent wants a login; true when there is a new one. */
  onAuth?(message: string): Promise<boolean>;
  /** Asked when the agent is limited and `whenLimited` is `ask`; true when the next agent should carry on. */
  onLimit?(limit: Limit): Promise<boolean>;
  /** Asked when something makes every request fail; true when it should be hidden from the model for good. */
  onPoisoned?(poison: Poison): Promise<boolean>;
  /**
   * Asked whether a tool may run, where the rules say that a person decides; `later` parks the turn, `nobody` refuses the call
   * because no person is there.
   */
  onPermission?(
    request: PermissionAsked,
    signal: AbortSignal,
  ): Promise<"allow" | "deny" | "later" | "nobody">;
}

type EventBody = HostEvent extends infer E
  ? E extends HostEvent
    ? Omit<E, "conversation" | "upstream">
    : never
  : never;

/** Every event says which conversation and which upstream it is about. */
export function emit(
  { host, conversation }: { readonly host: Host; readonly conversation: { readonly id: string } },
  upstream: string | null,
  event: EventBody,
): void {
  host.onEvent?.({ ...event, conversation: conversation.id, upstream });
}

/** Whoever writes plain JavaScript hears of a wrong part here, by its name. */
export function checkHost(host: unknown): void {
  const parts = (typeof host === "object" ? host : null) as { readonly [name: string]: unknown } | null;
  if (parts === null)
    throw new LogError(
      "invalid_request",
      `options must be an object (got ${host === null ? "null" : typeof host})`,
    );
  for (const name of ["onEvent", "onAuth", "onLimit", "onPoisoned", "onPermission"])
    if (parts[name] !== undefined && typeof parts[name] !== "function")
      throw new LogError("invalid_request", `${name} must be a function (got ${typeof parts[name]})`, {
        name,
      });
  const { signal } = parts;
  if (signal !== undefined && !(signal instanceof AbortSignal))
    throw new LogError("invalid_request", "signal must be an AbortSignal", { name: "signal" });
}

/** What became of a turn. */
export interface TurnResult {
  readonly turn: string;
  readonly prompt: EntryId;
  readonly outcome: "completed" | "interrupted" | "failed";
  readonly class: EndingClass;
  readonly text: string;
  readonly upstream: string | null;
  readonly resetAtMs: number | null;
  readonly message: string;
  /** The turn was sent under this key before, and nothing was sent now; whether it was another prompt then. */
  readonly repeated?: { readonly differs: boolean };
}
