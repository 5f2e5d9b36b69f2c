import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import type { ToolCall } from "#log/message";
import type { PermissionAsked } from "#turn/host";
import { type LoopTurn, tell } from "./loop-turn.ts";
import type { AnswerPlace } from "#agent/rules/open-calls";

export type Approval = "allowed" | "denied" | "nobody" | "waiting";

const OPTIONS = [
  { id: "allow", name: "Allow", kind: "allow_once" },
  { id: "deny", name: "Deny", kind: "reject_once" },
] as const;

/** The same for the same call in whichever process it is asked for. */
export function requestName({ turn, step }: AnswerPlace, call: string): string {
  return `${turn}/${step}/${call}`;
}

/** What was asked and answered since an entry. */
export class Approvals {
  readonly #at: LoopTurn;
  readonly #asked = new Set<string>();
  readonly #answers = new Map<string, "allowed" | "denied" | "cancelled">();
  #after: number;

  constructor(at: LoopTurn, after: number) {
    this.#at = at;
    this.#after = after;
  }

  async #read(): Promise<void> {
    const { space, id: conversation } = this.#at.work.conversation;
    const types = ["permission", "permission_answer"] as const;
    const page = await space.read({ conversation, after: this.#after, limit: 1_024, types });
    for (const stored of page) this.#keep(decodeEntry(stored));
    this.#after = page.at(-1)?.seq ?? this.#after;
  }

  #keep(entry: Entry): void {
    if (entry.type === "permission" && entry.request !== undefined) this.#asked.add(entry.request);
    // The first answer counts: whoever comes later finds the question answered.
    if (entry.type === "permission_answer" && !this.#answers.has(entry.request))
      this.#answers.set(entry.request, entry.outcome);
  }

  /** Whether a person was asked before: that question stays theirs, also where nobody can be asked now. */
  async wasAsked(place: AnswerPlace, call: ToolCall): Promise<boolean> {
    await this.#read();
    return this.#asked.has(requestName(place, call.id));
  }

  /** Asks a person once; an answer may come from the host, or from any process. */
  async ask(place: AnswerPlace, call: ToolCall): Promise<Approval> {
    await this.#read();
    const request = requestName(place, call.id);
    const known = this.#answers.get(request);
    if (known !== undefined) return known === "allowed" ? "allowed" : "denied";
    const { work } = this.#at;
    const asked: PermissionAsked = { request, call: call.id, tool: call.name, input: call.input };
    if (!this.#asked.has(request))
      await work.owner.append({
        type: "permission",
        request,
        call: call.id,
        turn: place.turn,
        options: OPTIONS,
        data: { tool: call.name, input: call.input },
      });
    this.#asked.add(request);
    tell(work, { type: "asked", ...asked });
    const answer = await this.#answer(asked);
    if (answer === null) {
      // A question that a cancel cut off is not left for others to answer.
      if (work.cancelled.aborted) await work.owner.append(answerBody(request, "cancelled", "host"));
      return "waiting";
    }
    const { outcome, from } = answer;
    if (from !== "log") await work.owner.append(answerBody(request, outcome, from));
    this.#answers.set(request, outcome);
    tell(work, { type: "answered", request, outcome });
    if (from === "nobody") return "nobody";
    return outcome === "allowed" ? "allowed" : "denied";
  }

  async #answer(asked: PermissionAsked): Promise<{
    readonly outcome: "allowed" | "denied" | "cancelled";
    readonly from: "host" | "nobody" | "log";
  } | null> {
    const { work } = this.#at;
    if (work.host.onPermission === undefined) return null;
    const over = new AbortController();
    const signal = AbortSignal.any([work.cancelled, over.signal]);
    const host = work.host.onPermission(asked, signal).then(
      (reply) =>
        reply === "later"
          ? null
          : ({
              outcome: reply === "allow" ? "allowed" : "denied",
              from: reply === "nobody" ? "nobody" : "host",
            } as const),
      () => null, // whoever cannot answer has not
    );
    const stopped = new Promise<null>((resolve) =>
      work.cancelled.addEventListener("abort", () => resolve(null), { once: true }),
    );
    try {
      return await Promise.race([host, this.#answerInLog(asked.request, signal), stopped]);
    } finally {
      over.abort();
    }
  }

  /** Resolves when another process has answered. */
  async #answerInLog(
    request: string,
    signal: AbortSignal,
  ): Promise<{ readonly outcome: "allowed" | "denied" | "cancelled"; readonly from: "log" }> {
    const wait = { after: this.#after, signal };
    // In a store that cannot be watched the answer is found when the turn is taken up again.
    const outcome = await this.#at.work.conversation.waitForAnswer(request, wait).catch(() => null);
    return outcome === null ? new Promise(() => undefined) : { outcome, from: "log" };
  }
}

function answerBody(
  request: string,
  outcome: "allowed" | "denied" | "cancelled",
  by: "host" | "nobody",
): EntryBody {
  return { type: "permission_answer", request, outcome, by };
}
