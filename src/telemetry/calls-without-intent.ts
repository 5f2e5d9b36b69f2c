import { detailsOf } from "#log/message";
import type { StampedDraft } from "#log/batch";
import type { Bodies } from "#log/entry";
import { fieldsIn } from "#log/json/json-fields";

/** A call that an answer made. */
export interface CallMade {
  readonly name: string;
  readonly time: string;
}

/**
 * The calls of the latest answers that have no intent: a tool without effects is recorded by its result alone. An agent's reply
 * has its calls and their results in one batch, after the intents: those are not meant.
 */
export class CallsWithoutIntent {
  readonly #made = new Map<string, CallMade>();

  /** A call was begun by its intent. */
  begun(call: string): void {
    this.#made.delete(call);
  }

  /** The call that ran by what its result says; null where it did not run, or has an intent. */
  ran(body: Bodies["message"]): CallMade | null {
    const { message } = body;
    if (message.role !== "toolResult") return null;
    const made = this.#made.get(message.toolCallId) ?? null;
    this.#made.delete(message.toolCallId);
    return fieldsIn(detailsOf(body))?.["notRun"] === true ? null : made;
  }

  /** The calls of a batch, once all of it was looked at. */
  add(drafts: readonly StampedDraft[]): void {
    const answered = new Set<string>();
    for (const { draft, time } of drafts) {
      if (draft.type !== "message") continue;
      const { message } = draft.body as Bodies["message"];
      if (message.role === "toolResult") answered.add(message.toolCallId);
      if (message.role !== "assistant") continue;
      for (const block of message.content)
        if (block.type === "toolCall") this.#made.set(block.id, { name: block.name, time });
    }
    for (const call of answered) this.#made.delete(call);
  }

  clear(): void {
    this.#made.clear();
  }
}
