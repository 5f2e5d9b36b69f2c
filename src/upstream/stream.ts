import { classifyEnd, PLAIN_ENDINGS } from "#turn/rules/classify";
import type { CommandKind } from "./rules/transcript.ts";
import type { Ending } from "#turn/rules/ending";
import { isNothing, type PriorContext } from "./rules/prior-context.ts";
import { isStaleReplay, REPEAT_MS_MAX, REPLAY_MS_MAX, ReplayGuard } from "./rules/replay-guard.ts";
import { toolStarted, turnText, type TurnEvent } from "#turn/rules/turn-event";
import { asFailure } from "./sessions/bounded.ts";
import { type Choice, linkBody } from "./sessions/choose.ts";
import { oldAnswers } from "./sessions/branch-reads.ts";
import { TurnEffects } from "#turn/effects/turn-effects";
import type { OwnEffect, Recorder } from "#turn/recorder";
import type { Steer } from "#turn/steering";
import type { Turn } from "./turn-parts.ts";
import { emit } from "#turn/host";
import type { PromptEvent, PromptRequest, RawEnd, Upstream } from "./upstream.ts";
import { Watch } from "./watch-silence.ts";
import { spaceOf } from "#conversation/on-space";

interface StreamInput {
  readonly choice: Choice;
  readonly prior: PriorContext;
  readonly recorder: Recorder;
  readonly upstream: Upstream;
  readonly command: CommandKind | null;
}

export interface Streamed {
  readonly ending: Ending;
  /** The id that carried the prompt in the end; null when it was not sent. */
  readonly id: string | null;
  /** The agent itself said that the prompt is over. */
  readonly confirmed: boolean;
  /** What it said then. */
  readonly end: RawEnd | null;
  /** Anything came back before that. */
  readonly begun: boolean;
  /** The agent continued in a session of its own making, which holds nothing of what came before. */
  readonly rolled: boolean;
}

/** Sends the prompt and passes on what comes, until it ends one way or another. */
export async function stream(turn: Turn, input: StreamInput): Promise<Streamed> {
  const { choice, prior, recorder } = input;
  const { session } = choice;
  const { work, prompt, carrier } = turn;
  const { id } = work.conversation;
  const proven = isNothing(prior);
  const guard = new ReplayGuard(
    await oldAnswers(spaceOf(work.conversation), id, { ...turn.branch, lastNode: choice.lastNode }),
    choice.lastNode !== null,
  );
  // From here to the prompt nothing is waited for: a cancel ends the turn before it, or follows it on the wire.
  if (work.cancelled.aborted) return UNSENT;
  using watch = new Watch(
    { ...turn.options, cancelled: work.cancelled },
    {
      cancel: () => session.cancel(),
      tell: (forMs) => emit(work, choice.id, { type: "silent", forMs }),
    },
  );
  recorder.onFailure = () => watch.giveUp();
  const { content, wire } = prompt;
  const { settings } = turn.branch;
  using reader = new PromptReader(turn, input, guard, watch);
  using effects = new TurnEffects({
    turn: prompt.turn,
    cancelled: work.cancelled,
    record: (event, own) => reader.record(event, own),
    note: (body) => recorder.note(body),
    keepBlob: (bytes) => work.conversation.putBlob(bytes),
    clock: turn.options.clock,
  });
  const runEffects: PromptRequest["runEffects"] = (calls, where) => effects.run(calls, where);
  const updates = session.prompt({
    content,
    ...(wire === undefined ? {} : { wire }),
    prior,
    proven,
    settings,
    runEffects,
  });
  const events = updates[Symbol.asyncIterator]();
  carrier.steering.deliver = (steer) => reader.steer(steer);
  try {
    return await reader.read(events);
  } catch (error) {
    // We cannot record any more, so nobody may go on.
    session.cancel().catch(() => undefined);
    throw error;
  } finally {
    carrier.steering.deliver = null;
    Promise.resolve(events.return?.(undefined)).catch(() => undefined);
  }
}

/** Reads what an agent says to one prompt. One event at a time is asked for, and none while an intent is written. */
class PromptReader implements Disposable {
  readonly #turn: Turn;
  readonly #input: StreamInput;
  readonly #guard: ReplayGuard;
  readonly #watch: Watch;
  readonly #startMs: number;
  #id: string;
  #moment: AbortController | null = null;
  #begun: boolean = false;
  #rolled: boolean = false;
  #over: boolean = false;

  constructor(turn: Turn, input: StreamInput, guard: ReplayGuard, watch: Watch) {
    this.#turn = turn;
    this.#input = input;
    this.#guard = guard;
    this.#watch = watch;
    this.#startMs = turn.options.clock.steadyMs();
    this.#id = input.choice.id;
  }

  async read(events: AsyncIterator<PromptEvent>): Promise<Streamed> {
    for (;;) {
      const next = await this.#watch.next(nextEvent(events));
      this.#input.recorder.check();
      if (next === "given_up" || next instanceof Error || next.done === true) return this.#brokenOff(next);
      if (next.value.type === "end") return this.#end(next.value.end);
      if ((await this.#receive(next.value)) === "given_up") return this.#brokenOff("given_up");
    }
  }

  /** Words that the agent does not take, or that it took too late for this prompt, go out with the next one. */
  async steer({ steer, content }: Steer): Promise<boolean> {
    const accepted = await this.#input.choice.session.steer?.(content).catch(() => false);
    if (accepted !== true || this.#over) return false;
    await this.record({ type: "steered", steer, content });
    return true;
  }

  /** Something that happened in the turn and was not read from the agent. */
  record(event: TurnEvent, own?: OwnEffect): Promise<unknown> {
    this.#release();
    this.#pass(event, own);
    this.#watch.restart(this.#input.recorder.inTool, true);
    return this.#input.recorder.written;
  }

  async #receive(event: TurnEvent): Promise<unknown> {
    this.#begun = true;
    const { recorder, upstream } = this.#input;
    if (event.type === "session" && event.id.trim() !== "" && event.id !== this.#id) {
      this.#id = event.id;
      this.#rolled ||= event.renamed !== true;
      const reason = event.renamed === true ? "renamed_by_upstream" : "rolled_by_upstream";
      // The new id is durable before anything later is passed on under it.
      await recorder.settled();
      await this.#turn.work.owner.append(linkBody({ id: this.#id, reason }, upstream));
    }
    // Whoever is asked may answer at once, and then the tool runs.
    if (event.type === "permission" && (await this.#intentWritten()) === "given_up") return "given_up";
    const elapsedMs = this.#turn.options.clock.steadyMs() - this.#startMs;
    for (const free of this.#guard.add(event, elapsedMs)) this.#pass(free);
    if (this.#guard.holding && this.#moment === null) this.#passOnSoon();
    this.#watch.restart(recorder.inTool, WORK.has(event.type));
    // An agent in our own process acts when it is asked for its next event: not before the intent is durable.
    return upstream.toolsElsewhere === true ? null : this.#intentWritten();
  }

  async #intentWritten(): Promise<unknown> {
    const intent = this.#input.recorder.unawaitedIntent();
    if (intent === null) return null;
    const written = await this.#watch.next(intent);
    this.#input.recorder.check();
    return written;
  }

  /** Bytes are passed on first and recorded at once after. */
  #pass(event: TurnEvent, own?: OwnEffect): void {
    emit(this.#turn.work, this.#id, { type: "update", event });
    this.#input.recorder.add(event, own);
  }

  #release(events: readonly TurnEvent[] = this.#guard.release()): void {
    for (const event of events) this.#pass(event);
  }

  #passOnSoon(): void {
    const moment = new AbortController();
    this.#moment = moment;
    const { clock } = this.#turn.options;
    void clock
      .sleep(REPLAY_MS_MAX, moment.signal)
      .then(() => (moment.signal.aborted ? undefined : this.#release(this.#guard.afterMoment())));
    void clock
      .sleep(REPEAT_MS_MAX, moment.signal)
      .then(() => (moment.signal.aborted ? undefined : this.#release()));
  }

  #end(end: RawEnd): Streamed {
    const { upstream } = this.#input;
    this.#moment?.abort("over");
    const { silent } = this.#watch;
    const evidence = {
      ...this.#input,
      end,
      guard: this.#guard,
      cancelled: this.#turn.work.cancelled,
      silent,
    };
    const ending = judge(classifyEnd(upstream.endings ?? PLAIN_ENDINGS, end), evidence);
    if (ending.class !== "stale_replay") this.#release();
    return { ending, ...this.#sofar(), confirmed: true, end };
  }

  /** Who breaks off has not answered at once: what is held was meant. */
  #brokenOff(next: "given_up" | Error | IteratorReturnResult<unknown>): Streamed {
    this.#release();
    const unsaid = { ...this.#sofar(), confirmed: false, end: null };
    // An agent in our process that is told to stop may well throw.
    const stopped = next === "given_up" || (next instanceof Error && this.#turn.work.cancelled.aborted);
    if (stopped) return { ending: this.#watch.silent ? SILENT : CANCELLED, ...unsaid };
    return { ending: next instanceof Error ? asFailure(next).ending : WENT_AWAY, ...unsaid };
  }

  #sofar(): Pick<Streamed, "id" | "begun" | "rolled"> {
    return { id: this.#id, begun: this.#begun, rolled: this.#rolled };
  }

  [Symbol.dispose](): void {
    this.#over = true;
    this.#moment?.abort("over");
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
export const UNSENT: Streamed = {
  ending: CANCELLED,
  id: null,
  confirmed: true,
  end: null,
  begun: false,
  rolled: false,
};
const WENT_AWAY: Ending = {
  class: "crashed",
  message: "The agent disconnected during the turn",
  resetAtMs: null,
};
const SILENT: Ending = {
  class: "crashed",
  message: "The agent stopped responding, and did not stop when asked",
  resetAtMs: null,
};

interface JudgeInput extends StreamInput {
  readonly end: RawEnd;
  readonly guard: ReplayGuard;
  readonly cancelled: AbortSignal;
  readonly silent: boolean;
}

/** What the agent calls a success may be nothing, or the last answer again. */
function judge(ending: Ending, input: JudgeInput): Ending {
  const { guard, recorder, cancelled, choice } = input;
  const ended = ending.class === "completed" || ending.class === "failed" || ending.class === "cancelled";
  if (input.silent && ended)
    return { ...ending, class: "lost", message: "The agent stopped responding and was stopped" };
  if (cancelled.aborted && ended) return { ...ending, class: "cancelled" };
  // What the agent's program does itself costs nothing, may be said at once, and may say nothing.
  if (ending.class !== "completed" || input.command !== null) return ending;
  const { durationMs, usage } = input.end;
  const used = { reused: choice.lastNode !== null, cutOff: choice.suspicious, unproven: !choice.proven };
  const worked = toolStarted(recorder.events);
  if (!worked && isStaleReplay({ ...used, repeated: guard.repeated, durationMs, usage }))
    return { ...ending, class: "stale_replay", message: "The agent repeated an earlier answer" };
  const hasText = turnText(recorder.events).trim() !== "" || guard.holding || worked;
  return hasText ? ending : { ...ending, class: "empty", message: "The agent returned no answer" };
}
