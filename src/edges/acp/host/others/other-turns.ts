import { readBase64 } from "#conversation/image-blobs";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { BridgeParts } from "#edges/acp/host/bridge-parts";
import { withData } from "#edges/acp/host/sessions/blocks";
import { ShownTurns } from "./shown-turns.ts";

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
export class OtherTurns {
  readonly #parts: BridgeParts;
  readonly #id: ConversationId;
  readonly #view: View;
  readonly #onSettings: () => void;
  readonly #turns: ShownTurns;
  #following: AbortController | null = null;
  #closed: boolean = false;
  /** The last turn of this host. */
  #turn: string | null = null;
  /** The last entry that was looked at. */
  #seq: number = 0;
  /** Settles when a prompt of this host that is on its way is accepted or refused: until then nobody knows whose it is. */
  #sending: PromiseWithResolvers<void> | null = null;

  /** `onSettings` is called when the log has other settings than before, whoever wrote them. */
  constructor(parts: BridgeParts, view: View, onSettings: () => void) {
    this.#parts = parts;
    this.#id = view.id;
    this.#view = view;
    this.#onSettings = onSettings;
    const [agent] = parts.upstreams;
    this.#turns = new ShownTurns((call) => agent.describeCall(call, null));
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
    const { space } = this.#parts.holdfast;
    const { headSeq: seq } = await space.head(this.#id);
    if (this.#following !== null || this.#closed) return;
    const types = ["config_change", "reset", "turn_start"] as const;
    const looked = { conversation: this.#id, after: this.#seq, limit: GAP_ENTRIES_MAX, types };
    this.showAfter(seq);
    // Written while nobody looked: by this host's own turn, or by another right behind it.
    const unseen = (await space.read(looked)).map((entry) => decodeEntry(entry));
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
    const stored = await this.#parts.holdfast.space.read({
      conversation: this.#id,
      after: this.#seq,
      limit: GAP_ENTRIES_MAX,
    });
    const entries = stored.map((entry) => decodeEntry(entry));
    const own = entries.findIndex((entry) => entry.type === "turn_start" && entry.turn === turn);
    for (const entry of entries.slice(0, Math.max(own, 0))) await this.#show(entry);
    // What was said last is the prompt of this host.
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
    const read = (blob: string): Promise<string> => readBase64(holdfast.space, this.#id, blob);
    for (const update of this.#turns.updatesOf(entry)) wire.update(this.#id, await withData(update, read));
  }
}
