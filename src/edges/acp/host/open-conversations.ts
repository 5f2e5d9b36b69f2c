import { type ConversationId, parseConversationId } from "#log/ids";
import type { BridgeParts } from "./bridge-parts.ts";
import { OpenConversation } from "./open-conversation.ts";
import type { ListCache } from "./list-sessions.ts";

/** The answer to a request of the host. */
export interface BridgeContext extends BridgeParts {
  readonly conversations: OpenConversations;
  readonly listCache: ListCache;
}

/** The conversations the host has open. */
export class OpenConversations {
  readonly #parts: BridgeParts;
  readonly #open = new Map<ConversationId, OpenConversation>();
  readonly #opening = new Map<ConversationId, Promise<OpenConversation>>();
  #closed: boolean = false;

  constructor(parts: BridgeParts) {
    this.#parts = parts;
  }

  /** The host is gone: what waits does not begin. */
  get isClosed(): boolean {
    return this.#closed;
  }

  /** Opens a conversation if it is not open; one that does not exist is an error. */
  async open(id: string): Promise<OpenConversation> {
    const conversation = parseConversationId(id);
    const open = this.#open.get(conversation);
    if (open !== undefined) return open;
    // Opened once, so that waiting requests continue in their order: a cancel after its prompt.
    const opening = this.#opening.get(conversation) ?? this.#read(conversation);
    this.#opening.set(conversation, opening);
    return opening;
  }

  async #read(id: ConversationId): Promise<OpenConversation> {
    try {
      const conversation = await OpenConversation.open(this.#parts, id);
      this.#open.set(id, conversation);
      return conversation;
    } finally {
      this.#opening.delete(id);
    }
  }

  /** The conversation if it is open. */
  get(id: ConversationId): OpenConversation | null {
    return this.#open.get(id) ?? null;
  }

  /** The host does not have it open any more. */
  remove(id: ConversationId): void {
    this.#open.get(id)?.close();
    this.#open.delete(id);
  }

  closeAll(): void {
    this.#closed = true;
    for (const conversation of this.#open.values()) {
      conversation.close();
      conversation.cancel();
    }
  }
}
