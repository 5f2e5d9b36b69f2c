import { textOfBlocks } from "#log/message";
import { type Clock, NEVER } from "#conversation/clock";
import type { NativeMessage, ShownMessage } from "#upstream/upstream";
import type { Json } from "#log/json/json-text";
import { fieldsOf } from "#log/json/json-fields";

const LATE_REPLAY_MS = 150; // an agent that answers in the middle of its replay does not say when it is over
const LATE_REPLAY_MS_MAX = 3_000;

/** Gathers the history an agent tells again when a session is loaded. */
export class ReplayedHistory {
  readonly #messages: { readonly role: ShownMessage["role"]; readonly id: Json; text: string }[] = [];
  #heard: number = 0;

  add(update: { readonly [name: string]: Json }): void {
    this.#heard++;
    const kind = update["sessionUpdate"];
    const role = kind === "user_message_chunk" ? "user" : kind === "agent_message_chunk" ? "assistant" : null;
    const { type, text } = fieldsOf(update["content"]);
    if (role === null || type !== "text" || typeof text !== "string") return;
    const id = update["messageId"] ?? null;
    const last = this.#messages.at(-1);
    if (last?.role === role && last.id === id) last.text += text;
    else this.#messages.push({ role, id, text });
  }

  /** Resolves when nothing more has come for a while. */
  async quiet(clock: Clock): Promise<void> {
    const untilMs = clock.steadyMs() + LATE_REPLAY_MS_MAX;
    for (let heard = -1; heard !== this.#heard && clock.steadyMs() < untilMs;) {
      heard = this.#heard;
      await clock.sleep(LATE_REPLAY_MS, NEVER);
    }
  }

  get messages(): readonly ShownMessage[] {
    return this.#messages.map(({ role, text }) => ({ role, text }));
  }
}

/** The same from an agent's own record: the words, without its tools. */
export function shownOf(messages: readonly NativeMessage[]): readonly ShownMessage[] {
  return messages.flatMap(({ message }) => {
    if (message.role === "toolResult") return [];
    const text = textOfBlocks(message.content);
    return text === "" ? [] : [{ role: message.role, text }];
  });
}
