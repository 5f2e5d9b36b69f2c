import type { Entry } from "#log/entry";
import type { Fields } from "#log/json/json-fields";
import { type AssistantMessage, type ToolCall, type ToolResultMessage, textOfBlocks } from "#log/message";
import { recordedEvents } from "#turn/rules/attempt-record";
import { type Describe, EventUpdates } from "#edges/acp/host/event-updates";
import { replayOf } from "#edges/acp/host/sessions/replay";

/** Turns of others as the updates a host would have been sent. */
export class ShownTurns {
  readonly #describe: Describe;
  /** What people said since the last turn began: the prompt of the next is among it. */
  #said: Entry[] = [];
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
    // What is said while a loop runs is of its turn, and not the prompt of the next.
    if (message.role === "user" && this.#isLoop) yield* replayOf([{ ...entry, hidden: false }]);
    else if (message.role === "user") this.#said.push(entry);
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
    this.#said = [];
  }

  *#begin(): Generator<Fields> {
    yield* replayOf(this.#said.map((said) => ({ ...said, hidden: false })));
    this.#said = [];
    this.#replies = [];
    this.#calls.clear();
    this.#streamed = false;
    this.#isLoop = false;
    this.#events = new EventUpdates(this.#describe);
  }
}
