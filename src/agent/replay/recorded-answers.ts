import { callKey } from "#log/diff/diff-item";
import type { Entry, EntryOf } from "#log/entry";
import { resultsByCall } from "#log/results-by-call";
import type { MissedCall } from "./replay-tools.ts";

/** The results of a branch by the call that they answer: the same call again has the next one. */
export class RecordedAnswers {
  readonly #results = new Map<string, EntryOf<"message">[]>();

  constructor(nodes: readonly Entry[]) {
    const { of } = resultsByCall(nodes);
    for (const entry of nodes)
      if (entry.type === "message" && entry.message.role === "assistant")
        for (const block of entry.message.content)
          if (block.type === "toolCall") this.#add(callKey(block.name, block.input), of.get(block));
  }

  #add(key: string | null, entry: EntryOf<"message"> | undefined): void {
    if (key === null || entry?.message.role !== "toolResult") return;
    const known = this.#results.get(key) ?? [];
    known.push(entry);
    this.#results.set(key, known);
  }

  /** Each is given once. */
  next({ name, input }: MissedCall): EntryOf<"message"> | null {
    const key = callKey(name, input);
    return key === null ? null : (this.#results.get(key)?.shift() ?? null);
  }
}
