import type { Conversation } from "#conversation/conversation";
import { type ContextNow, isSameHead, KeptContext } from "#conversation/kept-context";
import type { HeadView } from "#store/requests";
import type { HeldWeight } from "#turn/pool/choose-evicted";
import type { Held } from "#turn/pool/pool-part";
import type { Restored } from "./restore.ts";

/**
 * What an agent holds of a conversation between turns, so that it need not be read again. Nothing of it is believed before
 * the head was compared: what another process has written since is in it, or it is read anew.
 */
export class WarmConversation implements Held {
  readonly context: KeptContext;
  #restored: { readonly restored: Restored; readonly head: HeadView } | null = null;

  constructor({ space, id }: Conversation) {
    this.context = new KeptContext(space, id);
  }

  weight(): HeldWeight | null {
    const messages = this.context.size;
    return messages === null ? null : { messages, processes: 0 };
  }

  /**
   * What a turn would go on from. As long as nobody has written, only the lease is looked at; what is missing on this host
   * is then as it was found before.
   */
  async restored(read: (now: ContextNow) => Promise<Restored>): Promise<Restored> {
    const now = await this.context.now();
    const known = this.#restored;
    if (known === null || !isSameHead(known.head, now.head)) {
      const restored = await read(now);
      this.#restored = { restored, head: now.head };
      return restored;
    }
    const { restored } = known;
    const { openTurn } = restored;
    return openTurn === null ? restored : { ...restored, openTurn: { ...openTurn, lease: now.head.lease } };
  }

  async letGo(): Promise<void> {
    // The log has everything.
  }
}
