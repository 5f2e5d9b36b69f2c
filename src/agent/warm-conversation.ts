import type { Conversation } from "#conversation/conversation";
import { ContextCache, type ContextNow } from "#conversation/context-cache";
import { isSameMark } from "#conversation/live-projection";
import { inheritedLogs } from "#conversation/read-log";
import { SteerQueue } from "#conversation/steer-queue";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { PoolWeight } from "#turn/pool/pool";
import type { Pooled } from "#turn/pool/pool-part";
import type { McpServers } from "./mcp/mcp-servers.ts";
import { restoreAgain, type Restored, restoreFrom, type RestoreInput } from "./restore.ts";

/**
 * What an agent holds of a conversation between turns, so that it need not be read again. Nothing of it is believed before
 * the head was compared: what another process has written since is in it, or it is read anew.
 */
export class WarmConversation implements Pooled {
  readonly context: ContextCache;
  /** What people have said that waits. */
  readonly steers: SteerQueue;
  readonly #conversation: Conversation;
  readonly #servers: () => readonly McpServers[];
  readonly #heldServers = new Set<McpServers>();
  #root: { readonly createdAt: string; readonly id: ConversationId } | null = null;
  #restored: { readonly restored: Restored; readonly head: HeadView } | null = null;

  /** `servers`: those that are there for this conversation alone, now. */
  constructor(conversation: Conversation, servers: () => readonly McpServers[]) {
    this.context = new ContextCache(conversation.space, conversation.id);
    this.steers = new SteerQueue(conversation.space, conversation.id);
    this.#conversation = conversation;
    this.#servers = servers;
  }

  weight(): PoolWeight | null {
    const messages = this.context.size;
    const servers = this.#servers();
    // A host may give others from one turn to the next.
    for (const one of servers) {
      if (!this.#heldServers.has(one)) one.hold();
      this.#heldServers.add(one);
    }
    const processes = servers.reduce((sum, { weight }) => sum + weight, 0);
    return messages === null && processes === 0 ? null : { messages: messages ?? 0, processes };
  }

  /** The conversation that it was forked from in the first place. Forks send what that has sent, and share what a provider keeps of it. */
  async root({ origin, createdAt }: HeadView): Promise<ConversationId> {
    const { space, id } = this.#conversation;
    if (origin === null) return id;
    if (this.#root?.createdAt !== createdAt)
      this.#root = { createdAt, id: (await inheritedLogs(space, id))[0]?.source ?? id };
    return this.#root.id;
  }

  /** What a turn would go on from; as long as nobody has written, next to nothing is looked at. */
  async restored(input: RestoreInput): Promise<Restored> {
    const now: ContextNow = await this.context.now();
    const cache = this.#restored;
    const isSame = cache !== null && isSameMark(cache.head, now.head);
    const restored = isSame
      ? await restoreAgain(cache.restored, now.head, input)
      : await restoreFrom(this.#conversation, now, input);
    this.#restored = { restored, head: now.head };
    return restored;
  }

  async letGo(): Promise<void> {
    await Promise.all([...this.#heldServers].map((one) => one.releaseHolder()));
  }
}
