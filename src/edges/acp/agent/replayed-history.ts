import type { ShownMessage } from "../../../conversation/sending/upstream.ts";
import type { Json } from "../../../log/json-text.ts";
import { fieldsOf } from "./dialect.ts";

/** Gathers the history an agent tells again when a session is loaded. */
export class ReplayedHistory {
  readonly #messages: { readonly role: ShownMessage["role"]; readonly id: Json; text: string }[] = [];
  /** Counts what came, so that one who waits can tell when nothing more does. */
  heard: number = 0;

  take(update: { readonly [name: string]: Json }): void {
    this.heard++;
    const kind = update["sessionUpdate"];
    const role = kind === "user_message_chunk" ? "user" : kind === "agent_message_chunk" ? "assistant" : null;
    const { type, text } = fieldsOf(update["content"]);
    if (role === null || type !== "text" || typeof text !== "string") return;
    const id = update["messageId"] ?? null;
    const last = this.#messages.at(-1);
    if (last?.role === role && last.id === id) last.text += text;
    else this.#messages.push({ role, id, text });
  }

  get messages(): readonly ShownMessage[] {
    return this.#messages.map(({ role, text }) => ({ role, text }));
  }
}
