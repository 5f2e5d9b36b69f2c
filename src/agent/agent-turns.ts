import { isLogError } from "#log/errors";
import { parseConversationId, parseKey } from "#log/ids";
import type { Holdfast } from "#conversation/holdfast";
import type { PromptContent } from "#turn/accept";
import { checkHost, type Host } from "#turn/host";
import { KeyedTurns } from "#turn/known-turn";
import { type Claim, type Note, OneAtATime, type Owned } from "#turn/one-at-a-time";
import { PoolPart } from "#turn/pool/pool-part";
import type { AgentCarryOptions, AgentResult, SettledOptions } from "./agent-options.ts";
import { knownResult } from "./agent-result.ts";
import type { AgentWork } from "./loop/loop-turn.ts";
import { ownServers } from "./mcp/given-servers.ts";
import { attemptIn } from "./steps/step-names.ts";
import type { TurnCarrier } from "./turn-carrier.ts";
import { WarmConversation } from "./warm-conversation.ts";

interface TurnAsked {
  readonly verb: "send" | "continue";
  readonly content: PromptContent | null;
  readonly options: AgentCarryOptions;
}

/** An agent's work in conversations that it has to itself, with what it holds of each. */
export class AgentTurns {
  /** What is held of conversations between turns. */
  readonly warm: PoolPart<WarmConversation>;
  readonly #turns: OneAtATime;
  readonly #keyed: KeyedTurns<AgentResult>;
  readonly #carried: TurnCarrier;

  constructor(holdfast: Holdfast, options: SettledOptions, carried: TurnCarrier) {
    this.warm = new PoolPart(options.pool, (id) => {
      const conversation = holdfast.unopened(id);
      return new WarmConversation(conversation, () => ownServers(options.servers, id));
    });
    this.#turns = new OneAtATime(holdfast, options);
    this.#keyed = new KeyedTurns(holdfast.space, (known) => knownResult(known));
    this.#carried = carried;
  }

  /** Whoever was overtaken in it holds nothing of the conversation any more. */
  alone<T>(
    id: string,
    host: Host,
    inside: (work: AgentWork) => Promise<T>,
    claim: Claim | null = null,
  ): Promise<T> {
    const held = (owned: Owned): Promise<T> =>
      this.warm.use(owned.conversation.id, (warm) =>
        inside({ ...owned, host, warm }).catch(async (error: unknown) => {
          if (isLogError(error, "fenced")) await this.warm.letGo(owned.conversation.id);
          throw error;
        }),
      );
    return this.#turns.run(id, held, claim);
  }

  /** A turn under a key is carried once: whoever asks again gets what became of it. */
  async once(
    id: string,
    asked: TurnAsked,
    work: (work: AgentWork, key: string | undefined) => Promise<AgentResult>,
  ): Promise<AgentResult> {
    const { verb, content, options } = asked;
    checkHost(options);
    const { steps } = options;
    const claim = steps === undefined ? null : attemptIn(steps, id).claim;
    const alone = (inside: (at: AgentWork) => Promise<AgentResult>): Promise<AgentResult> =>
      this.alone(id, options, inside, claim);
    const key = options.key === undefined ? undefined : parseKey(`${verb}/${options.key}`);
    if (steps !== undefined)
      return alone((at) => this.#carried.inSteps(at, steps, { content, key, options }));
    if (key === undefined) return alone((at) => work(at, undefined));
    const send = async (at: AgentWork): Promise<AgentResult> =>
      // The turn was begun under this key and has not ended: it is gone on with, not sent again.
      (await at.conversation.findAppend(key)) === null ? work(at, key) : this.#carried.continue(at, options);
    const settle = async (): Promise<void> => undefined;
    return this.#keyed.run(parseConversationId(id), { key, content }, { alone, settle, send });
  }

  note(id: string, note: Note): Promise<void> {
    return this.#turns.note(id, note);
  }

  cancel(id: string): boolean {
    return this.#turns.cancel(id);
  }

  async close(): Promise<void> {
    await this.#turns.cancelAll();
    await this.warm.letAllGo();
  }
}
