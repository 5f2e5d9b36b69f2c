import { NEVER } from "#conversation/clock";
import { type TurnResult, emit } from "#turn/host";
import type { EntryBody } from "#log/entry";
import { type EntryId, parseEntryId } from "#log/ids";
import type { Ending, NextStep, Parked } from "#turn/rules/ending";
import { attemptEnd } from "#turn/rules/attempt-record";
import { turnMessages } from "#turn/rules/turn-record";
import { turnText, usedBy, type TurnEvent } from "#turn/rules/turn-event";
import { type Attempted, endKnowledge, type Progress } from "./attempt.ts";
import { bounded, boundsOf } from "./sessions/bounded.ts";
import type { Live, Turn } from "./turn-parts.ts";
import type { RawEnd, Upstream } from "./upstream.ts";

export interface SendResult extends TurnResult {
  /** What the agent that carried it last said at its end; null when it said nothing. */
  readonly end: RawEnd | null;
}

/** How a turn ended, and what is left of the session that carried it. */
export interface TurnEnd {
  readonly result: SendResult;
  readonly upstream: Upstream;
  readonly live: Live | null;
}

export interface EndedAttempt {
  readonly attempted: Attempted;
  readonly step: NextStep;
}

function isReply(body: EntryBody): boolean {
  return body.type === "message" && body.message.role === "assistant";
}

/** What is left of an attempt that gave no message: it is given up, or the turn ends with it. */
export function unanswered(turn: Turn, attempted: Attempted): readonly EntryBody[] {
  const usage = usedBy(attempted.recorder.events, attempted.end?.usage ?? null);
  const { id: upstream, ending } = attempted;
  const model = modelOf(attempted, turn);
  return attemptEnd({ turn: turn.prompt.turn, class: ending.class, upstream, model, usage });
}

export function endOf(upstream: string, reason: string, poison: EntryId | null): EntryBody {
  return { type: "upstream_end", upstream, reason, ...(poison === null ? {} : { node: poison }) };
}

/** Whoever is told that the turn is over may rely on it: an agent that has not confirmed it is closed first. */
async function letGoInTime(turn: Turn, progress: Progress): Promise<void> {
  const { live } = progress;
  progress.live = null;
  if (live !== null)
    await bounded(
      { ...boundsOf(turn), resumeMs: turn.options.cancelMs, cancelled: NEVER },
      live.session.close(),
    ).catch(() => undefined);
}

export function letGo(progress: Progress): void {
  progress.live?.session.close().catch(() => undefined);
  progress.live = null;
}

export async function finish(turn: Turn, progress: Progress, at: EndedAttempt): Promise<TurnEnd> {
  const { attempted, step } = at;
  const { ending, id, recorder } = attempted;
  const outcome =
    step.do === "finish"
      ? step.outcome
      : turn.work.cancelled.aborted || ending.class === "crashed"
        ? "interrupted"
        : "failed";
  const usage = usedBy(recorder.events, attempted.end?.usage ?? null);
  const model = modelOf(attempted, turn);
  const events =
    outcome === "completed" ? recorder.events : withoutErrorText(recorder.events, ending.message);
  const stopReason = outcome === "completed" ? "endTurn" : outcome;
  const bodies = turnMessages(events, { model, stopReason, usage });
  const nodes = bodies.map((body) => Object.assign(body, { id: turn.options.newId() }));
  const node = nodes.at(-1)?.id ?? turn.prompt.id;
  const drop = step.do === "roll" || (step.do === "finish" && step.upstream === "drop");
  const ended = { outcome, node: parseEntryId(node), events };
  const { holds, written } = endKnowledge(turn, attempted, ended);
  const reset = outcome === "completed" && attempted.command === "reset";
  const { parked } = progress;
  const last = [
    ...nodes,
    ...(nodes.some(isReply) ? [] : unanswered(turn, attempted)),
    ...endBodies(turn, {
      ending,
      outcome,
      node,
      written,
      id,
      drop,
      parked,
      poison: progress.poison,
    }),
    ...(reset ? [{ type: "reset", reason: "cleared" } as const] : []),
  ];
  await turn.work.owner.append(last, { releases: turn.work.endsLease() });
  if (drop && ending.class === "cancelled") await letGoInTime(turn, progress);
  else if (drop || reset) letGo(progress);
  if (step.do === "park")
    emit(turn.work, id, {
      type: "parked",
      class: ending.class,
      resetAtMs: ending.resetAtMs,
      message: ending.message,
    });
  emit(turn.work, id, { type: "ended", outcome, class: ending.class });
  const { resetAtMs, message } = ending;
  const result = {
    turn: turn.prompt.turn,
    prompt: turn.prompt.id,
    outcome,
    class: ending.class,
    text: turnText(events),
    upstream: id,
    resetAtMs,
    message,
    end: attempted.end,
  };
  const { live } = progress;
  if (live === null || id === null) return { result, upstream: progress.upstream, live };
  return { result, upstream: progress.upstream, live: { ...live, holds } };
}

function modelOf({ choice, end }: Attempted, { branch }: Turn): string | null {
  const model = end?.model ?? choice?.session.model;
  return model === undefined ? branch.settings.model : model;
}

interface FinishInput {
  readonly ending: Ending;
  readonly outcome: SendResult["outcome"];
  readonly node: string;
  /** What its carrier holds, where that does not follow from how it ended. */
  readonly written: { readonly held?: EntryId | null };
  readonly id: string | null;
  readonly drop: boolean;
  readonly parked: readonly Parked[];
  readonly poison: EntryId | null;
}

function endBodies(turn: Turn, closing: FinishInput): readonly EntryBody[] {
  const { ending, outcome, node, written, id, drop, parked } = closing;
  const carrier = id === null ? {} : { upstream: id, node, ...written };
  const reset = ending.resetAtMs === null ? {} : { resetAt: new Date(ending.resetAtMs).toISOString() };
  const limits = parked.length === 0 ? {} : { parked };
  const end: EntryBody = {
    type: "turn_end",
    turn: turn.prompt.turn,
    outcome,
    class: ending.class,
    ...carrier,
    ...reset,
    ...limits,
  };
  return drop && id !== null ? [end, endOf(id, ending.class, closing.poison)] : [end];
}

const ERROR_CHARS_MIN = 12; // a word or two of a partial answer may stand in any error

/**
 * What is left of an attempt that failed: some agents say their error as if it were an answer before they report it,
 * and such words must not stand in the history as one.
 */
export function withoutErrorText(events: readonly TurnEvent[], message: string): readonly TurnEvent[] {
  const last = events.findLastIndex((event) => event.type === "text" && event.text.trim() !== "");
  const end = events[last];
  if (end?.type !== "text") return events;
  const first = lastMessage(events, last);
  const text = turnText(events.slice(first)).trim();
  const error = message.trim();
  const same =
    error !== "" && (text.includes(error) || (text.length >= ERROR_CHARS_MIN && error.includes(text)));
  if (!same && end.adapterText !== true) return events;
  // Without ids a partial answer and the error are one stretch of text: only the error is not an answer.
  const from =
    end.message === undefined && error !== "" && text.includes(error)
      ? errorStart(events, first, error)
      : first;
  return events.filter((event, at) => at < from || event.type !== "text");
}

/** Where the message begins whose words stand last; one without an id reaches back no further than a tool. */
function lastMessage(events: readonly TurnEvent[], last: number): number {
  const end = events[last];
  let first = last;
  for (let at = last - 1; at >= 0; at--) {
    const event = events[at];
    if (event?.type === "tool" && end?.type === "text" && end.message === undefined) break;
    if (event?.type !== "text") continue;
    if (end?.type !== "text" || event.message !== end.message || event.adapterText !== end.adapterText) break;
    first = at;
  }
  return first;
}

/** The piece of text in which the error begins. */
function errorStart(events: readonly TurnEvent[], first: number, error: string): number {
  let at = events.length;
  for (let text = ""; at > first && !text.includes(error);) {
    const event = events[--at];
    if (event?.type === "text") text = event.text + text;
  }
  return at;
}
