import { readWaiting } from "#agent/read-waiting";
import type { Holdfast } from "#conversation/holdfast";
import type { ConversationId } from "#log/ids";
import { isHeld } from "#log/plans/lease";
import { isDeadProcess } from "#turn/running-process";

const LOOK_MS = 2_000;
const LATE_MS = 5_000; // a renewal may be late

/** Whether a turn is open and nobody carries it: its process died, or let its lease lapse. One that waits for a person is not left. */
export async function isLeft(
  holdfast: Holdfast,
  at: { readonly conversation: ConversationId; readonly turn: string },
): Promise<boolean> {
  const conversation = holdfast.handle(at.conversation);
  const open = await conversation.openTurn();
  if (open?.turn !== at.turn) return false;
  const { lease } = open;
  if (isHeld(lease, LATE_MS) && !(await isDeadProcess(lease.writer))) return false;
  return (await readWaiting(conversation)).length === 0;
}

/** Looks whenever nothing was heard for a while. */
export class LeftWatch implements Disposable {
  readonly #isLeft: () => Promise<boolean>;
  readonly #left = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #heard = false;

  constructor(look: () => Promise<boolean>) {
    this.#isLeft = look;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Aborted once it is. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  heard(): void {
    this.#heard = true;
  }

  async look(): Promise<void> {
    const wasHeard = this.#heard;
    this.#heard = false;
    if (wasHeard) return;
    // What cannot be read now is looked at again.
    if (await this.#isLeft().catch(() => false)) this.#left.abort();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
