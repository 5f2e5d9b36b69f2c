import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import { SERVER_SPACE } from "#edges/http/access/grant";
import { hashOf } from "#edges/http/access/grant";

const LOG = "cancels";
const TYPE = "http_cancel";

/** A turn that is to be stopped, wherever it runs. */
export interface CancelRequest {
  readonly space: string;
  readonly conversation: string;
  readonly turn: string;
}

/** Whom to stop, as a log that every server process on the store follows while it carries turns. */
export class CancelRequests {
  readonly #holdfast: Holdfast;
  #following: { readonly stop: AbortController; readonly begun: Promise<void> } | null = null;

  constructor(holdfast: Holdfast) {
    this.#holdfast = holdfast.inSpace(SERVER_SPACE);
  }

  /** Asked for once for each turn, however often. */
  async ask(request: CancelRequest): Promise<void> {
    const log = await this.#log();
    const key = hashOf(JSON.stringify([request.space, request.conversation, request.turn]));
    await log.append({ type: "custom", customType: TYPE, data: { ...request } }, { key });
  }

  /** Resolves when every request from here on is heard. */
  follow(onRequest: (request: CancelRequest) => void): Promise<void> {
    if (this.#following !== null) return this.#following.begun;
    const stop = new AbortController();
    const following = { stop, begun: this.#begin(stop.signal, onRequest) };
    this.#following = following;
    following.begun.catch(() => this.#forget(stop));
    return following.begun;
  }

  stop(): void {
    this.#following?.stop.abort();
    this.#following = null;
  }

  async #begin(signal: AbortSignal, onRequest: (request: CancelRequest) => void): Promise<void> {
    const log = await this.#log();
    const { headSeq } = await log.head();
    void this.#hear(log, { after: headSeq, signal }, onRequest);
  }

  async #hear(
    log: Conversation,
    from: { readonly after: number; readonly signal: AbortSignal },
    onRequest: (request: CancelRequest) => void,
  ): Promise<void> {
    try {
      for await (const entry of log.tail(from)) {
        if (entry.type !== "custom" || entry.customType !== TYPE) continue;
        const { space, conversation, turn } = fieldsOf(entry.data);
        onRequest({ space: wordsIn(space), conversation: wordsIn(conversation), turn: wordsIn(turn) });
      }
    } catch {
      // A store that is gone, or cannot be followed: the next turn tries again.
    }
    if (!from.signal.aborted) this.#following = null;
  }

  #forget(stop: AbortController): void {
    if (this.#following?.stop === stop) this.#following = null;
  }

  #log(): Promise<Conversation> {
    return this.#holdfast.create({ id: LOG, unlisted: true, key: LOG });
  }
}
