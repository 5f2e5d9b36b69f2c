import { isLogError, LogError } from "#log/errors";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { Holdfast } from "#conversation/holdfast";
import { checkHost, type Host } from "#turn/host";
import { KeyedTurns } from "#turn/known-turn";
import { type Claim, type CloseOptions, type Note, OneAtATime, type Owned } from "#turn/one-at-a-time";
import { PoolPart } from "#turn/pool-part";
import { turnKey } from "#turn/turns";
import type { AgentResult, AgentSendOptions, ResolvedOptions } from "./agent-options.ts";
import { knownResult, type TurnRequest, type TurnRunner } from "./turn-runner.ts";
import type { AgentWork } from "./loop/loop-turn.ts";
import { ownServers } from "./mcp/conversation-servers.ts";
import {
  checkRunInput,
  type RunTrigger,
  type StartedRun,
  type StartRunOptions,
  triggerKey,
} from "./loop/run-options.ts";
import { attemptIn } from "./steps/turn-in-steps.ts";
import { WarmConversation } from "./agent-pool.ts";
import type { Conversation } from "#conversation/conversation";

interface VerbRequest extends Omit<TurnRequest, "key"> {
  readonly verb: "send" | "continue";
}

/** An agent's work in conversations that it has to itself, with what it holds of each. */
export class AgentTurns {
  /** The state of conversations between turns. */
  readonly warm: PoolPart<WarmConversation>;
  readonly #turns: OneAtATime;
  readonly #keyed: KeyedTurns<AgentResult>;
  readonly #runner: TurnRunner;
  readonly #holdfast: Holdfast;
  /** Runs that are being started here, by conversation and key. */
  readonly #starting = new Map<string, Promise<StartedRun>>();

  constructor(holdfast: Holdfast, options: ResolvedOptions, runner: TurnRunner) {
    this.#holdfast = holdfast;
    this.warm = new PoolPart(options.pool, (id) => {
      const conversation = holdfast.handle(id);
      return new WarmConversation(conversation, () => ownServers(options.servers, id));
    });
    this.#turns = new OneAtATime(holdfast, options);
    this.#keyed = new KeyedTurns(holdfast, (turn) => knownResult(turn));
    this.#runner = runner;
  }

  /** Works in a conversation as its owner. Drops the cached state if another process took over or the log is another one. */
  alone<T>(
    id: string,
    host: Host,
    inside: (work: AgentWork) => Promise<T>,
    claim: Claim | null = null,
  ): Promise<T> {
    const useWarm = (owned: Owned): Promise<T> =>
      this.warm.use(owned.conversation.id, async (warm) => {
        warm.context.follow(owned.owner);
        warm.steers.follow(owned.owner);
        return inside({ ...owned, host, warm });
      });
    return this.#turns.run(id, useWarm, { claim, signal: host.signal }).catch(async (error: unknown) => {
      if (isLogError(error, "fenced") || isLogError(error, "diverged"))
        await this.warm.letGo(parseConversationId(id));
      throw error;
    });
  }

  /** Runs a turn with a key once. A second call with the same key returns the result of the first. */
  async once(id: string, request: VerbRequest): Promise<AgentResult> {
    const { content } = request;
    checkHost(request.options);
    const options = await this.#withRun(parseConversationId(id), request.options);
    const { steps } = options;
    const claim = steps === undefined ? null : attemptIn(steps, id).claim;
    const alone = (inside: (work: AgentWork) => Promise<AgentResult>): Promise<AgentResult> =>
      this.alone(id, options, inside, claim);
    const key = keyOf(request.verb, options);
    const runRequest = (work: AgentWork, under?: string): Promise<AgentResult> =>
      this.#runner.run(work, { content, key: under, options });
    if (steps !== undefined)
      return alone((work) => this.#runner.inSteps(work, steps, { content, key, options }));
    if (key === undefined) return alone((work) => runRequest(work));
    // An open turn with this key continues; its prompt is not sent again.
    const send = (work: AgentWork, isOpen: boolean): Promise<AgentResult> =>
      isOpen
        ? this.#runner.run(work, { content: null, key: undefined, options: leftOptions(options) })
        : runRequest(work, key);
    const settle = async (): Promise<void> => undefined;
    return this.#keyed.run(parseConversationId(id), { key, content }, { alone, settle, send });
  }

  /** Starts the run of a trigger once. A second call with the same trigger returns the same run. */
  async startRun(id: string, trigger: RunTrigger, options: StartRunOptions): Promise<StartedRun> {
    checkRunInput(trigger, options);
    const conversation = parseConversationId(id);
    const key = triggerKey(trigger);
    const name = `${conversation}/${key}`;
    const running = this.#starting.get(name);
    if (running !== undefined) return { ...(await running), repeated: true };
    const starting = this.#startRun(conversation, trigger, options).finally(() =>
      this.#starting.delete(name),
    );
    this.#starting.set(name, starting);
    return starting;
  }

  async #startRun(id: ConversationId, trigger: RunTrigger, options: StartRunOptions): Promise<StartedRun> {
    const key = triggerKey(trigger);
    const findRun = async (): Promise<StartedRun | null> => {
      const started = await findStarted(this.#holdfast.handle(id), key);
      return started === null ? null : { run: started.run, repeated: true };
    };
    return (
      (await findRun()) ??
      this.alone(id, {}, async (work) => {
        return (await findRun()) ?? this.#runner.startRun(work, { ...options, trigger }, key);
      })
    );
  }

  /** A prompt whose run was started before goes out in that run. */
  async #withRun(id: ConversationId, options: AgentSendOptions): Promise<AgentSendOptions> {
    const { run } = options;
    if (typeof run !== "object") return options;
    checkRunInput(run.trigger, run);
    if (run.trigger.id === undefined) return options;
    const started = await findStarted(this.#holdfast.handle(id), triggerKey(run.trigger));
    return started === null || started.hasTurn ? options : { ...options, run: started.run };
  }

  note(id: string, note: Note): Promise<void> {
    return this.#turns.note(id, note);
  }

  cancel(id: string): boolean {
    return this.#turns.cancel(id);
  }

  async close(options: CloseOptions): Promise<void> {
    await this.#turns.close(options);
    await this.warm.letAllGo();
  }
}

/** The same key is the same turn: the caller's, that of the trigger whose run begins with it, or that of the run it carries. */
function keyOf(verb: "send" | "continue", { key, run }: AgentSendOptions): string | undefined {
  const isTriggered = typeof run === "object" && run.trigger.id !== undefined;
  if (isTriggered && key !== undefined)
    throw new LogError(
      "invalid_request",
      "Leave `key` out when the run's trigger has an id: the id already makes retries safe",
    );
  if (isTriggered) return triggerKey(run.trigger);
  if (key !== undefined) return turnKey(verb, key);
  return typeof run === "string" ? turnKey("send", `run/${run}`) : undefined;
}

/** A turn that is in the log has its run. */
function leftOptions({ run: _, ...options }: AgentSendOptions): AgentSendOptions {
  return options;
}

/** A run that its trigger started, and whether its first turn began in the same batch. */
interface FoundRun {
  readonly run: string;
  readonly hasTurn: boolean;
}

/** Finds the run that a trigger started; null if there is none. */
async function findStarted(conversation: Conversation, key: string): Promise<FoundRun | null> {
  const batch = await conversation.findAppend(key);
  if (batch === null) return null;
  const { fromSeq, toSeq } = batch;
  const types = ["run_start", "turn_start"] as const;
  const range = { after: fromSeq - 1, until: toSeq, limit: 2 };
  const [start, turn] = await conversation.read({ ...range, types });
  return start?.type === "run_start" ? { run: start.run, hasTurn: turn !== undefined } : null;
}
