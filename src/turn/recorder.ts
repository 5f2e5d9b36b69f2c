import type { EntryBody } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";
import { beginsAnew, callKey } from "./rules/turn-record.ts";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { Owner } from "#conversation/owner";
import type { Clock } from "#conversation/clock";

const UPDATE_MS_MAX = 150; // with the write that follows, a crash costs less than a quarter of a second of streamed text
const UPDATE_CHARS_MAX = 4_096;
const BATCH_MAX = 256; // entries in one append, so that a slow store is not handed one that never ends

type ToolEvent = Extract<TurnEvent, { type: "tool" }>;

type Gathered = Extract<
  TurnEvent,
  { type: "text" | "thinking" | "tool" | "other" | "final_text" | "waiting" | "steered" }
>;

/** What is declared of a tool that Holdfast runs. */
export interface OwnEffect {
  readonly replay: "never" | "safe";
  readonly idempotencyKey: string;
}

/** Records what is said in a turn, in the order it came, after it was passed on. Streamed text is gathered; that a tool begins or ends is not. */
export class Recorder {
  readonly events: TurnEvent[] = [];
  /** Called when something could not be recorded. */
  onFailure: () => void = () => undefined;
  readonly #owner: Owner;
  readonly #turn: string;
  readonly #clock: Clock;
  /** The calls that were told of, and whether each has ended. */
  readonly #calls = new Map<string, { readonly input: Json; readonly ended: boolean }>();
  #inTools: number = 0;
  #pending: Gathered[] = [];
  #chars: number = 0;
  #timer: AbortController | null = null;
  /** What goes out with the next append, while the one before is under way. */
  #batch: EntryBody[] | null = null;
  #written: Promise<unknown> = Promise.resolve();
  /** The write that holds the latest intent; null once somebody waits for it. */
  #intent: Promise<unknown> | null = null;
  #failure: { readonly error: unknown } | null = null;

  constructor(owner: Owner, turn: string, clock: Clock) {
    this.#owner = owner;
    this.#turn = turn;
    this.#clock = clock;
  }

  /** A tool was started and has not ended. */
  get inTool(): boolean {
    return this.#inTools > 0;
  }

  /** Everything recorded so far is written when this resolves; it is refused when something could not be. */
  get written(): Promise<unknown> {
    return this.#written;
  }

  /** `own`: what is declared of a tool of ours; its outcome is as durable as its intent. */
  add(event: TurnEvent, own?: OwnEffect): void {
    const stored = "wire" in event ? withoutWire(event) : event;
    this.events.push(stored);
    if (stored.type === "usage" || stored.type === "session" || stored.type === "forward_only") return;
    if (stored.type === "plan" || stored.type === "permission") {
      this.#flush();
      this.#append(stored);
      return;
    }
    this.#gather(stored, "wire" in event ? (event.wire?.size ?? null) : null);
    if (event.type === "tool" && !this.#isKnown(event)) {
      this.#flush();
      this.#addTool(event, own);
    } else if (event.type === "steered") {
      this.#flush();
      this.#append({ type: "steer", steer: event.steer, state: "delivered" });
    } else if (this.#chars >= UPDATE_CHARS_MAX) this.#flush();
    else if (this.#timer === null) void this.#flushSoon();
  }

  /** The attempt that is recorded, before anything that comes of it. */
  begin(attempt: Extract<EntryBody, { type: "attempt" }>): void {
    this.#written = this.#owner.append(attempt, { durability: "relaxed" });
    this.#watch();
  }

  /** A fact of a tool of ours, beside what is said in the turn; in the log when this resolves. */
  note(body: Extract<EntryBody, { type: "tool_progress" }>): Promise<unknown> {
    this.#append(body);
    return this.#written;
  }

  /** A call that was told of, with the same input, and has not ended: what a tool prints is streamed like text. */
  #isKnown(event: ToolEvent): boolean {
    const call = this.#calls.get(callKey(event));
    return event.state === "started" && call?.ended === false && isSameJson(event.input, call.input);
  }

  #addTool(event: ToolEvent, own: OwnEffect | undefined): void {
    const { call, name, input, state, step } = event;
    const key = callKey(event);
    const open = this.#calls.get(key);
    if (state !== "started") {
      if (open?.ended === false) this.#inTools--;
      this.#calls.set(key, { input, ended: true });
      if (own !== undefined) this.#append({ type: "tool_progress", call, data: { state } });
      return;
    }
    // A call may be told of more than once; it is one intent.
    const begins = open === undefined || beginsAnew(event, open);
    this.#calls.set(key, { input, ended: !begins && open.ended });
    if (!begins) return;
    this.#inTools++;
    const more = { ...own, ...(step === undefined ? {} : { step }) };
    this.#append({ type: "tool_intent", call, name, input, replay: "never", turn: this.#turn, ...more });
    this.#intent = this.#written;
  }

  /** `size` is that of the line it came in: what has one is not made text only to be measured. */
  #gather(event: Gathered, size: number | null): void {
    const last = this.#pending.at(-1);
    const isText = event.type === "text" || event.type === "thinking";
    if (isText) this.#chars += event.text.length;
    else if (event.type === "other") this.#chars += size ?? JSON.stringify(event.data).length;
    else if (event.type === "tool") this.#chars += size ?? JSON.stringify(event).length;
    if (isText && last?.type === event.type && last.message === event.message)
      this.#pending[this.#pending.length - 1] = { ...event, text: last.text + event.text };
    else this.#pending.push(event);
  }

  /**
   * An agent that falls silent must not keep its last words from the log. The timer runs on when they are written
   * sooner: to stop one per tool costs more than to be early now and then.
   */
  async #flushSoon(): Promise<void> {
    const timer = new AbortController();
    this.#timer = timer;
    await this.#clock.sleep(UPDATE_MS_MAX, timer.signal);
    if (timer.signal.aborted) return;
    this.#timer = null;
    this.#flush();
  }

  #flush(): void {
    if (this.#pending.length > 0)
      this.#append({ type: "update", turn: this.#turn, data: { events: this.#pending } as never });
    this.#pending = [];
    this.#chars = 0;
  }

  // Appends follow each other: the order of the log is the order of the wire. What comes while one is under way goes
  // out together, so that a burst does not cost a commit per word. A failure surfaces at `check`.
  #append(body: EntryBody): void {
    if (this.#batch !== null && this.#batch.length < BATCH_MAX) {
      this.#batch.push(body);
      return;
    }
    const batch = [body];
    this.#batch = batch;
    this.#written = this.#written.then(() => {
      if (this.#batch === batch) this.#batch = null;
      return this.#owner.append(batch);
    });
    this.#watch();
  }

  #watch(): void {
    this.#written.catch((error: unknown) => {
      this.#failure ??= { error };
      this.onFailure();
    });
  }

  /** The write of an intent that nobody has waited for yet. Until it is done, the agent is not asked on. */
  unawaitedIntent(): Promise<unknown> | null {
    const intent = this.#intent;
    this.#intent = null;
    return intent;
  }

  /** Throws once something could not be recorded: whoever took over must not find us still at work. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Everything recorded so far is in the log, or this throws. */
  async settled(): Promise<void> {
    this.#flush();
    await this.superseded();
  }

  /** The same without words and tool states that are still gathered: the reply is about to be written, and holds them. */
  async answered(): Promise<void> {
    if (this.#pending.every((event) => isInReply(event))) return this.superseded();
    await this.settled();
  }

  /** The same without what is still gathered: a message that holds it is about to be written. */
  async superseded(): Promise<void> {
    this.#timer?.abort("over");
    this.#timer = null;
    this.#pending = [];
    this.#chars = 0;
    await this.#written;
  }
}

function isInReply({ type }: Gathered): boolean {
  return type === "text" || type === "thinking" || type === "final_text" || type === "tool";
}

/** As it is kept: what an edge hands through is not. Most events have none, and need no copy. */
function withoutWire({ wire: _, ...rest }: TurnEvent): TurnEvent {
  return rest;
}
