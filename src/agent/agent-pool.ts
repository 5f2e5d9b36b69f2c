import { AsyncLocalStorage } from "node:async_hooks";
import { LogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { Conversation } from "#conversation/conversation";
import type { PromptContent } from "#turn/accept";
import { ConversationQueues } from "#turn/one-at-a-time";
import type { PoolUse, PoolWeight } from "#turn/pool";
import type { PoolPart, Pooled } from "#turn/pool-part";
import type { Steered, SteerOptions } from "#turn/steering";
import type { Agent } from "./agent.ts";
import type { AgentCarryOptions, AgentResult, AgentSendOptions, AgentTurnOptions } from "./agent-options.ts";
import type { RunTrigger, StartedRun, StartRunOptions } from "./loop/run-options.ts";
import { type Restored, restoreAgain, restoreFrom, type RestoreInput } from "./restore.ts";
import { ContextCache, type ContextNow } from "#conversation/context-cache";
import { isSameMark } from "#conversation/live-projection";
import { inheritedLogs } from "#conversation/read-log";
import { SteerQueue } from "#conversation/steer-queue";
import type { HeadView } from "#store/requests";
import type { McpServers } from "./mcp/mcp-servers.ts";
import { spaceOf } from "#conversation/on-space";

interface AgentPoolParts {
  readonly agent: Agent;
  readonly part: PoolPart<WarmConversation>;
  open(of: Conversation | string): Promise<Conversation>;
  restored(conversation: ConversationId, warm: WarmConversation): Promise<Restored>;
}

/** A conversation that is held for the time of one piece of work. */
export class PooledConversation {
  readonly conversation: Conversation;
  /**
   * Everything a turn goes on from, as the log was when the work began; memory, and what is missing on this host, as they were
   * last looked at. `restore` looks at all of it.
   */
  readonly restored: Restored;
  readonly #agent: Agent;

  constructor(agent: Agent, conversation: Conversation, restored: Restored) {
    this.#agent = agent;
    this.conversation = conversation;
    this.restored = restored;
  }

  send(content: PromptContent, options: AgentSendOptions = {}): Promise<AgentResult> {
    return this.#agent.send(this.conversation, content, options);
  }

  startRun(
    trigger: RunTrigger & { readonly id: string },
    options: StartRunOptions = {},
  ): Promise<StartedRun> {
    return this.#agent.startRun(this.conversation, trigger, options);
  }

  carryRun(run: string, options: AgentCarryOptions = {}): Promise<AgentResult> {
    return this.#agent.carryRun(this.conversation, run, options);
  }

  continue(options: AgentTurnOptions = {}): Promise<AgentResult> {
    return this.#agent.continue(this.conversation, options);
  }

  answer(
    request: string,
    outcome: "allowed" | "denied",
    options: AgentTurnOptions & { readonly by?: string } = {},
  ): Promise<AgentResult> {
    return this.#agent.answer(this.conversation, request, outcome, options);
  }

  steer(content: PromptContent, options: SteerOptions = {}): Promise<Steered> {
    return this.#agent.steer(this.conversation, content, options);
  }

  cancel(): boolean {
    return this.#agent.cancel(this.conversation);
  }

  /** The same as `restored`, as it is now. */
  restore(): Promise<Restored> {
    return this.#agent.restore(this.conversation);
  }
}

/** The conversations that an agent holds between turns, within the limits of its pool. */
export class AgentPool {
  readonly #parts: AgentPoolParts;
  readonly #queues = new ConversationQueues();
  /** Those that the work which is under way has: it would wait for itself. */
  readonly #within = new AsyncLocalStorage<ReadonlySet<ConversationId>>();

  constructor(parts: AgentPoolParts) {
    this.#parts = parts;
  }

  /**
   * Works with a conversation: one piece of work at a time in each, in the order they were asked for. It is not let go of
   * meanwhile. What is held of it is compared with the log first; where nothing is held, it is restored.
   */
  async with<R>(of: Conversation | string, work: (chat: PooledConversation) => Promise<R>): Promise<R> {
    const id = parseConversationId(typeof of === "string" ? of : of.id);
    const within = this.#within.getStore() ?? new Set();
    if (within.has(id))
      throw new LogError(
        "invalid_request",
        `Deadlock: \`with("${id}")\` was called inside \`with("${id}")\`. Use the conversation passed to the outer call.`,
        { conversation: id },
      );
    return this.#queues.run(id, () =>
      this.#parts.part.use(id, async (warm) => {
        const conversation = await this.#parts.open(of);
        const restored = await this.#parts.restored(id, warm);
        const chat = new PooledConversation(this.#parts.agent, conversation, restored);
        return this.#within.run(new Set([...within, id]), () => work(chat));
      }),
    );
  }

  /** How much is held now: of the whole pool, where it is shared. */
  use(): PoolUse {
    return this.#parts.part.pool.use();
  }

  /** Removes a conversation from the pool, after its current work. */
  release(of: Conversation | string): Promise<void> {
    return this.#parts.part.letGo(parseConversationId(typeof of === "string" ? of : of.id));
  }
}

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
    const space = spaceOf(conversation);
    this.context = new ContextCache(space, conversation.id);
    this.steers = new SteerQueue(space, conversation.id);
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
    const { id } = this.#conversation;
    if (origin === null) return id;
    if (this.#root?.createdAt !== createdAt) {
      const [oldest] = await inheritedLogs(spaceOf(this.#conversation), id);
      this.#root = { createdAt, id: oldest?.source ?? id };
    }
    return this.#root.id;
  }

  /** Returns everything a turn would continue from. Reads almost nothing if the log has not changed. */
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
