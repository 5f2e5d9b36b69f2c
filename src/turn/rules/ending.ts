import type { EndingClass } from "#log/ending-class";
import type { Entry, FactBodies, EntryBody, TurnOutcome } from "#log/entry";
import type { LinkRecord } from "#log/projections/link-records";

export interface Ending {
  readonly class: EndingClass;
  /** What the agent said, for people. */
  readonly message: string;
  /** When a limit ends, in ms since the epoch. */
  readonly resetAtMs: number | null;
}

/** What the turn knows when an attempt ends. */
export interface AttemptFacts {
  /** A tool may have started: nothing is ever sent again by itself. */
  readonly toolStarted: boolean;
  /** The one recovery of this prompt was spent. */
  readonly recovered: boolean;
  /** How often the same id was tried again after an overload. */
  readonly backoffs: number;
  /** The cancel was confirmed by the upstream in time. */
  readonly cancelConfirmed: boolean;
  /** The limit is known to end so soon that waiting for it is better than asking a person. */
  readonly limitIsShort?: boolean;
  /** What made the request fail stands in the prompt itself, so the same prompt would fail again. */
  readonly promptPoisoned: boolean;
  /** The session failed an earlier prompt with an unknown error and has answered none since. */
  readonly failedBefore: boolean;
}

export type NextStep =
  | {
      readonly do: "finish";
      readonly outcome: "completed" | "interrupted" | "failed";
      readonly upstream: "keep" | "unproven" | "drop";
    }
  | { readonly do: "park" }
  | { readonly do: "ask_auth" }
  | { readonly do: "back_off"; readonly delayMs: number }
  | { readonly do: "roll" }
  | { readonly do: "restart" };

type Action =
  | "done"
  | "show_empty"
  | "park"
  | "back_off"
  | "ask_auth"
  | "roll"
  | "restart"
  | "leave_out"
  | "stop"
  | "interrupt"
  | "fail";

/** One row per class; the reasons are in docs/decisions/0007-sending.md. */
export const ACTIONS: { readonly [C in EndingClass]: Action } = {
  completed: "done",
  empty: "show_empty",
  limit: "park",
  credit: "park",
  overloaded: "back_off",
  auth: "ask_auth",
  expired: "roll",
  lost: "roll",
  crashed: "restart",
  too_long: "roll",
  poisoned: "leave_out",
  stale_replay: "roll",
  turn_limit: "stop",
  cancelled: "interrupt",
  failed: "fail",
};

const BACKOFFS_MAX = 4; // then people decide; the id and the prompt are kept
const BACKOFF_MS = 1_000;

function failed(upstream: "keep" | "unproven" | "drop"): NextStep {
  return { do: "finish", outcome: "failed", upstream };
}

/** Decides what follows an ending. One recovery per prompt, and none once a tool may have started. */
export function nextStep(ending: EndingClass, facts: AttemptFacts): NextStep {
  const mayResend = !facts.toolStarted && !facts.recovered;
  const mayBackOff = !facts.toolStarted && facts.backoffs < BACKOFFS_MAX;
  const backOff: NextStep = { do: "back_off", delayMs: BACKOFF_MS * 2 ** facts.backoffs };
  switch (ACTIONS[ending]) {
    case "done":
      return { do: "finish", outcome: "completed", upstream: "keep" };
    case "show_empty":
      return mayResend ? { do: "roll" } : { do: "finish", outcome: "completed", upstream: "unproven" };
    case "park":
      return ending === "limit" && facts.limitIsShort === true && mayBackOff ? backOff : { do: "park" };
    case "ask_auth":
      return facts.toolStarted ? failed("keep") : { do: "ask_auth" };
    case "back_off":
      return mayBackOff ? backOff : failed("keep");
    case "roll":
      return mayResend ? { do: "roll" } : failed("drop");
    case "restart":
      return mayResend ? { do: "restart" } : { do: "finish", outcome: "interrupted", upstream: "unproven" };
    case "leave_out":
      return mayResend && !facts.promptPoisoned ? { do: "roll" } : failed("drop");
    case "stop":
      return { do: "finish", outcome: "interrupted", upstream: "keep" };
    case "interrupt":
      return { do: "finish", outcome: "interrupted", upstream: facts.cancelConfirmed ? "keep" : "drop" };
    case "fail":
      // One unknown error may be the prompt's; a second one may be the session's, and another session would work.
      if (!facts.failedBefore) return failed("unproven");
      return mayResend ? { do: "roll" } : failed("drop");
  }
}

export type Parked = NonNullable<FactBodies["turn_end"]["parked"]>[number];

interface Agent {
  readonly agent: string;
  readonly account: string | null;
}

/**
 * Until when an agent asked to be left alone, by the last turn that concerned it; null when that turn said nothing of
 * the kind. Whether the moment has passed is for whoever has a clock.
 */
export function parkedUntil(
  facts: readonly Entry[],
  records: readonly LinkRecord[],
  agent: Agent,
): string | null {
  const mine = new Set(records.filter((record) => isSame(record, agent)).map((record) => record.upstream));
  for (const fact of facts.toReversed()) {
    if (fact.type !== "turn_end") continue;
    const parked = fact.parked?.findLast((one) =>
      isSame({ agent: one.agent, account: one.account ?? null }, agent),
    );
    if (parked !== undefined) return parked.resetAt;
    if (fact.upstream !== undefined && mine.has(fact.upstream)) return null;
  }
  return null;
}

function isSame(one: Agent, other: Agent): boolean {
  return one.agent === other.agent && one.account === other.account;
}

const MESSAGE_CHARS_MAX = 1_000; // a provider's page of HTML helps nobody in a list

/** How the turn ended that a run ends with. */
interface RunEnding {
  readonly outcome: TurnOutcome;
  readonly class: string;
  readonly message: string;
}

/** What ends a run together with its turn; nothing for a turn of no run. */
export function runEnd(run: string | null | undefined, ending: RunEnding): readonly EntryBody[] {
  if (run === null || run === undefined) return [];
  if (ending.outcome === "completed") return [{ type: "run_end", run, status: "completed" }];
  const message = ending.message.slice(0, MESSAGE_CHARS_MAX).toWellFormed();
  if (ending.class === "cancelled")
    return [{ type: "run_end", run, status: "cancelled", error: { message } }];
  return [{ type: "run_end", run, status: "failed", error: { message, code: ending.class } }];
}
