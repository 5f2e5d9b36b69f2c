import type { Ending } from "../../log/sending/ending.ts";
import type { PriorContext } from "../../log/sending/prior-context.ts";
import { isStaleReplay, REPLAY_MS_MAX, ReplayGuard } from "../../log/sending/replay-guard.ts";
import { toolStarted, turnText, type UpstreamEvent } from "../../log/sending/turn-record.ts";
import { asFailure } from "./bounded.ts";
import type { Choice } from "./choose.ts";
import { oldAnswers } from "./facts.ts";
import { linkBody } from "./link.ts";
import type { Recorder } from "./recorder.ts";
import { emit, type TurnGround } from "./turn-ground.ts";
import type { PromptEvent, RawEnd, Upstream } from "./upstream.ts";
import { Watch } from "./watch.ts";

interface Streaming {
  readonly choice: Choice;
  readonly prior: PriorContext;
  readonly recorder: Recorder;
  readonly upstream: Upstream;
}

export interface Streamed {
  readonly ending: Ending;
  /** The id that carried the prompt in the end; null when it was not sent. */
  readonly id: string | null;
  /** The agent itself said that the prompt is over. */
  readonly confirmed: boolean;
  /** What it said then. */
  readonly end: RawEnd | null;
}

/** Sends the prompt and passes on what comes, until it ends one way or another. */
export async function stream(ground: TurnGround, at: Streaming): Promise<Streamed> {
  const { choice, prior, recorder, upstream } = at;
  const { session, proven } = choice;
  const guard = new ReplayGuard(
    await oldAnswers(ground.space, ground.conversation, { leaf: ground.leaf, lastNode: choice.lastNode }),
    choice.lastNode !== null,
  );
  // From here to the prompt nothing is waited for: a cancel ends the turn before it, or follows it on the wire.
  if (ground.cancelled.aborted) return UNSENT;
  using watch = new Watch(ground, {
    cancel: () => session.cancel(),
    tell: (forMs) => emit(ground, choice.id, { type: "silent", forMs }),
  });
  recorder.onFailure = () => watch.giveUp();
  const startMs = ground.clock.nowMs();
  const { content, native, settings } = ground;
  const updates = session.prompt({ content, native, prior, proven, settings });
  const events = updates[Symbol.asyncIterator]();
  let { id } = choice;
  let moment: AbortController | null = null;
  try {
    for (;;) {
      const next = await watch.next(nextEvent(events));
      recorder.check();
      const unsaid = { id, confirmed: false, end: null };
      // Who breaks off has not answered at once: what is held was meant.
      if (typeof next === "string" || next instanceof Error || next.done === true)
        for (const held of guard.release()) pass(ground, recorder, id, held);
      if (next === "given_up") return { ending: watch.silent ? SILENT : CANCELLED, ...unsaid };
      if (next instanceof Error) return { ending: asFailure(next).ending, ...unsaid };
      if (next.done === true) return { ending: WENT_AWAY, ...unsaid };
      const event = next.value;
      if (event.type === "end") {
        moment?.abort();
        const ending = judge(upstream.classify(event.end), {
          end: event.end,
          guard,
          recorder,
          ground,
          choice,
          silent: watch.silent,
        });
        if (ending.class !== "stale_replay")
          for (const held of guard.release()) pass(ground, recorder, id, held);
        return { ending, id, confirmed: true, end: event.end };
      }
      if (event.type === "session" && event.id.trim() !== "" && event.id !== id) {
        id = event.id;
        // The new id is durable before anything later is passed on under it.
        await recorder.settled();
        await ground.owner.append(linkBody({ id, reason: "rolled_by_upstream" }, upstream));
      }
      for (const free of guard.take(event, ground.clock.nowMs() - startMs)) pass(ground, recorder, id, free);
      if (guard.holding && moment === null) {
        const passOn = (): void => guard.release().forEach((held) => pass(ground, recorder, id, held));
        moment = new AbortController();
        void ground.clock
          .sleep(REPLAY_MS_MAX, moment.signal)
          .then(() => (moment?.signal.aborted === true ? undefined : passOn()));
      }
      watch.heard(recorder.inTool, WORK.has(event.type));
    }
  } catch (error) {
    // We cannot record any more, so nobody may go on.
    session.cancel().catch(() => undefined);
    throw error;
  } finally {
    moment?.abort();
    Promise.resolve(events.return?.(undefined)).catch(() => undefined);
  }
}

/** What an agent says only while its turn runs: its usage comes with the end. */
const WORK: ReadonlySet<PromptEvent["type"]> = new Set(["text", "thinking", "tool", "permission", "plan"]);

/** An adapter that throws is told apart from a store that does. */
function nextEvent(events: AsyncIterator<PromptEvent>): Promise<IteratorResult<PromptEvent> | Error> {
  return events.next().catch((error: unknown) => asFailure(error));
}

const CANCELLED: Ending = { class: "cancelled", message: "Cancelled", resetAtMs: null };
/** A person stopped the prompt before it had left. */
export const UNSENT: Streamed = { ending: CANCELLED, id: null, confirmed: true, end: null };
const WENT_AWAY: Ending = {
  class: "crashed",
  message: "The agent went away without ending the turn",
  resetAtMs: null,
};
const SILENT: Ending = {
  class: "crashed",
  message: "The agent went silent and could not be stopped",
  resetAtMs: null,
};

/** Bytes are passed on first and recorded at once after. */
function pass(ground: TurnGround, recorder: Recorder, id: string, event: UpstreamEvent): void {
  emit(ground, id, { type: "update", event });
  recorder.add(event);
}

interface Judging {
  readonly end: RawEnd;
  readonly guard: ReplayGuard;
  readonly recorder: Recorder;
  readonly ground: TurnGround;
  readonly choice: Choice;
  readonly silent: boolean;
}

/** What the agent calls a success may be nothing, or the last answer again. */
function judge(ending: Ending, at: Judging): Ending {
  const { guard, recorder, ground, choice } = at;
  const ended = ending.class === "completed" || ending.class === "failed" || ending.class === "cancelled";
  if (at.silent && ended)
    return { ...ending, class: "lost", message: "The agent went silent and was stopped" };
  if (ground.cancelled.aborted && ended) return { ...ending, class: "cancelled" };
  if (ending.class !== "completed") return ending;
  const { durationMs, usage } = at.end;
  const used = { reused: choice.lastNode !== null, cutOff: choice.suspicious };
  const worked = toolStarted(recorder.events);
  if (!worked && isStaleReplay({ ...used, repeated: guard.repeated, durationMs, usage }))
    return { ...ending, class: "stale_replay", message: "The agent repeated an old answer" };
  const said = turnText(recorder.events).trim() !== "" || guard.holding || worked;
  return said ? ending : { ...ending, class: "empty", message: "The agent answered nothing" };
}
