import { readBase64 } from "#conversation/image-blobs";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { BridgeParts } from "./bridge-parts.ts";
import { type Describe, EventUpdates, withData } from "./updates.ts";
import type { Fields } from "#log/json/json-fields";
import { type AssistantMessage, type ToolCall, type ToolResultMessage, textOfBlocks } from "#log/message";
import { recordedEvents } from "#turn/rules/attempt-record";
import { replayOf } from "./history.ts";

const GAP_ENTRIES_MAX = 1_000;

/** Where a host is shown what others do. */
interface View {
  readonly id: ConversationId;
  /** The agent starts empty from here on. */
  tellReset(reason: string): void;
}

/**
 * Shows a host what other processes do in a conversation it has open: another window is at work in it, or a program. It
 * stops while a turn of this host runs, since nobody else can write one then, and so its own turns are not shown twice.
 */
export class ExternalTurns {
  readonly #parts: BridgeParts;
  readonly #id: ConversationId;
  readonly #view: View;
  readonly #onSettings: () => void;
  readonly #turns: TurnUpdates;
  #following: AbortController | null = null;
  #closed: boolean = false;
  /** The last turn of this host. */
  #turn: string | null = null;
  /** The last entry that was looked at. */
  #seq: number = 0;
  /** Settles when a prompt of this host was accepted or rejected: until then its author is unknown. */
  #sending: PromiseWithResolvers<void> | null = null;

  /** `onSettings` is called when the settings in the log change, whoever changed them. */
  constructor(parts: BridgeParts, view: View, onSettings: () => void) {
    this.#parts = parts;
    this.#id = view.id;
    this.#view = view;
    this.#onSettings = onSettings;
    const [agent] = parts.upstreams;
    this.#turns = new TurnUpdates((call) => agent.describeCall(call, null));
  }

  /** From this entry on. */
  showAfter(seq: number): void {
    this.#following?.abort();
    const following = new AbortController();
    this.#following = following;
    this.#seq = seq;
    void this.#tail(following.signal).catch(() => undefined);
  }

  /** Shows no more, for good. */
  close(): void {
    this.#closed = true;
    this.#stop();
  }

  #stop(): void {
    this.#following?.abort();
    this.#following = null;
  }

  /** A prompt of this host is on its way. */
  promptSent(): void {
    this.#sending ??= Promise.withResolvers<void>();
  }

  /** It is in the log as this turn; what others did before it is still shown. */
  promptAccepted(turn: string): void {
    this.#turn = turn;
    this.#stop();
    this.#settle();
    void this.#showUntil(turn).catch(() => undefined);
  }

  /** It is over, one way or another. */
  async promptEnded(): Promise<void> {
    this.#settle();
    if (this.#following !== null || this.#closed) return;
    const conversation = this.#parts.holdfast.handle(this.#id);
    const { headSeq: seq } = await conversation.head();
    if (this.#following !== null || this.#closed) return;
    const types = ["config_change", "reset", "turn_start"] as const;
    const gap = { after: this.#seq, limit: GAP_ENTRIES_MAX, types };
    this.showAfter(seq);
    // Written between two reads: by this host's own turn, or by another turn right after it.
    const unseen = await conversation.read(gap);
    if (unseen.some(({ type }) => type === "config_change")) this.#onSettings();
    for (const entry of unseen) this.#yield(entry);
    // A turn that clears the context says so itself.
    const reset = unseen.findLast((entry) => entry.type === "reset" && entry.reason !== "cleared");
    if (reset !== undefined) this.#tellReset(reset);
  }

  #settle(): void {
    this.#sending?.resolve();
    this.#sending = null;
  }

  async #tail(signal: AbortSignal): Promise<void> {
    const conversation = await this.#parts.holdfast.conversation(this.#id);
    for await (const entry of conversation.tail({ after: this.#seq, signal })) {
      await this.#sending?.promise;
      if (signal.aborted) return;
      this.#yield(entry);
      await this.#show(entry);
    }
  }

  async #showUntil(turn: string): Promise<void> {
    const conversation = this.#parts.holdfast.handle(this.#id);
    const stored = await conversation.entries({ after: this.#seq, limit: GAP_ENTRIES_MAX });
    const entries = stored.map((entry) => decodeEntry(entry));
    const own = entries.findIndex((entry) => entry.type === "turn_start" && entry.turn === turn);
    for (const entry of entries.slice(0, Math.max(own, 0))) await this.#show(entry);
    // The latest message is the prompt of this host.
    this.#turns.forget();
  }

  /** A turn of another client may need the session; the next prompt here resumes it. */
  #yield(entry: Entry): void {
    if (entry.type !== "turn_start" || entry.turn === this.#turn) return;
    for (const upstream of this.#parts.upstreams) void upstream.yieldSession(this.#id).catch(() => undefined);
  }

  #tellReset(entry: Entry): void {
    if (entry.type === "reset") this.#view.tellReset(entry.reason ?? "new_chat");
  }

  async #show(entry: Entry): Promise<void> {
    this.#seq = entry.seq;
    if (entry.type === "config_change" || entry.type === "model_change") this.#onSettings();
    this.#tellReset(entry);
    const { holdfast, wire } = this.#parts;
    const conversation = holdfast.handle(this.#id);
    const read = (blob: string): Promise<string> => readBase64(conversation, blob);
    for (const update of this.#turns.updatesOf(entry)) wire.update(this.#id, await withData(update, read));
  }
}

/** Turns of others as the updates a host would have been sent. */
class TurnUpdates {
  readonly #describe: Describe;
  /** User messages since the last turn began, among them the prompt of the next. */
  #prompts: Entry[] = [];
  /** The replies of the turn that runs, for one of which nothing was streamed. */
  #replies: Entry[] = [];
  #streamed: boolean = false;
  /** The text of a loop's answer that was streamed so far, by kind. */
  readonly #streamedText = { text: "", thinking: "" };
  #events: EventUpdates;
  /** An agent loop carries the turn: its messages come as they are whole, and its tools in them. */
  #isLoop: boolean = false;
  readonly #calls = new Map<string, ToolCall>();

  constructor(describe: Describe) {
    this.#describe = describe;
    this.#events = new EventUpdates(describe);
  }

  *updatesOf(entry: Entry): Generator<Fields> {
    if (entry.type === "turn_start") yield* this.#begin();
    else if (entry.type === "attempt") this.#attempt(entry.upstream === undefined);
    else if (entry.type === "message") yield* this.#message(entry);
    else if (entry.type === "update") yield* this.#streamedIn(entry);
    else if (entry.type === "turn_end") yield* this.#end();
  }

  #attempt(isLoop: boolean): void {
    this.#isLoop = isLoop;
    Object.assign(this.#streamedText, { text: "", thinking: "" });
  }

  *#end(): Generator<Fields> {
    if (!this.#streamed) yield* replayOf(this.#replies.map((reply) => ({ ...reply, hidden: false })));
    this.#replies = [];
    this.#isLoop = false;
  }

  *#streamedIn(entry: Extract<Entry, { type: "update" }>): Generator<Fields> {
    for (const event of recordedEvents(entry) ?? []) {
      const update = this.#events.updateOf(event);
      if (update === null) continue;
      this.#streamed = true;
      if (event.type === "text" || event.type === "thinking") this.#streamedText[event.type] += event.text;
      yield update;
    }
  }

  *#message(entry: Extract<Entry, { type: "message" }>): Generator<Fields> {
    const { message } = entry;
    // A message during a turn of the loop belongs to that turn; it is not the next prompt.
    if (message.role === "user" && this.#isLoop) yield* replayOf([{ ...entry, hidden: false }]);
    else if (message.role === "user") this.#prompts.push(entry);
    else if (!this.#isLoop) this.#replies.push(entry);
    else if (message.role === "assistant") yield* this.#answer(message);
    else yield* this.#result(message);
  }

  /** The end of a streamed answer is in its message alone. */
  *#answer({ content }: AssistantMessage): Generator<Fields> {
    const whole = { text: "", thinking: "" };
    for (const block of content) {
      if (block.type === "text") whole.text += block.text;
      if (block.type === "thinking") whole.thinking += block.thinking;
    }
    for (const type of ["thinking", "text"] as const) {
      const streamed = this.#streamedText[type];
      const text = whole[type].startsWith(streamed) ? whole[type].slice(streamed.length) : "";
      if (text !== "") yield* this.#update({ type, text });
    }
    this.#attempt(true);
    for (const call of content) {
      if (call.type !== "toolCall") continue;
      this.#calls.set(call.id, call);
      yield* this.#update({
        type: "tool",
        call: call.id,
        name: call.name,
        input: call.input,
        state: "started",
      });
    }
  }

  *#result({ toolCallId, content, isError }: ToolResultMessage): Generator<Fields> {
    const call = this.#calls.get(toolCallId);
    if (call === undefined) return;
    const output = textOfBlocks(content);
    const state = isError === true ? "failed" : "done";
    yield* this.#update({ type: "tool", call: call.id, name: call.name, input: call.input, state, output });
  }

  *#update(event: Parameters<EventUpdates["updateOf"]>[0]): Generator<Fields> {
    const update = this.#events.updateOf(event);
    if (update !== null) yield update;
  }

  forget(): void {
    this.#prompts = [];
  }

  *#begin(): Generator<Fields> {
    yield* replayOf(this.#prompts.map((prompt) => ({ ...prompt, hidden: false })));
    this.#prompts = [];
    this.#replies = [];
    this.#calls.clear();
    this.#streamed = false;
    this.#isLoop = false;
    this.#events = new EventUpdates(this.#describe);
  }
}
