import type { ContentBlock, Entry, EntryBody } from "../../log/entry.ts";
import { isLogError, LogError } from "../../log/errors.ts";
import type { Leaf } from "../../log/head.ts";
import { type ConversationId, parseConversationId, parseEntryId } from "../../log/ids.ts";
import type { Json } from "../../log/json-text.ts";
import { cwdOf } from "../../log/projections/settings.ts";
import { PRIOR_BUDGET, type PriorBudget } from "../../log/sending/prior-context.ts";
import { systemMint } from "../../store/prepare.ts";
import type { Conversation } from "../conversation.ts";
import type { Hold } from "../hold.ts";
import type { Owner } from "../owner.ts";
import { readSettings } from "../reading.ts";
import { accept, type Prompt } from "./accept.ts";
import { adoptTurns } from "./adopt.ts";
import { type Choice, chooseSession, type Ground, LINKS_TRIED_MAX, type Live } from "./choose.ts";
import { readFacts, readSpoken, readUnanswered } from "./facts.ts";
import { type Clock, type Host, systemClock } from "./host.ts";
import { keepLease } from "./keep-lease.ts";
import { linkBody } from "./link.ts";
import { firstReset, freeAgents, stayParked } from "./parked.ts";
import { endLeftProcess, settleOpenTurn } from "./settle.ts";
import { emit } from "./turn-ground.ts";
import { askSwitch, runTurn, type TurnResult } from "./turn.ts";
import { type Upstream, UpstreamFailure, type UpstreamSession } from "./upstream.ts";

export interface RuntimeOptions {
  /** The agents a conversation may be carried by; the first is the default. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly clock?: Clock;
  /** Names this host; the same name may take its own conversation back after a crash. */
  readonly writer?: string;
  /** Whether the holder of a lease is known to be dead, so that nobody needs to wait for the lease to lapse. */
  readonly isDead?: (writer: string) => Promise<boolean>;
  readonly leaseMs?: number;
  /** How long a cancelled prompt may take to end before control returns without it. */
  readonly cancelMs?: number;
  /** How long an agent may take to open or resume a session. */
  readonly resumeMs?: number;
  /** How long an agent may say nothing before it is taken for dead, or told of. */
  readonly silenceMs?: number;
  /** The same while one of its tools runs. */
  readonly toolSilenceMs?: number;
  /** `stop`: a silent agent is stopped. `tell`: people are told, and it goes on. */
  readonly onSilence?: "stop" | "tell";
  /** How much an upstream is told that may not remember. */
  readonly prior?: PriorBudget;
  /** How many links are tried for resume; the chain itself is never cut. */
  readonly linksTried?: number;
  readonly newId?: () => string;
}

const DEFAULTS = {
  clock: systemClock,
  writer: "holdfast",
  isDead: async (): Promise<boolean> => false,
  leaseMs: 30_000,
  cancelMs: 5_000,
  resumeMs: 60_000,
  silenceMs: 600_000,
  toolSilenceMs: 3_600_000,
  onSilence: "stop" as const,
  prior: PRIOR_BUDGET,
  linksTried: LINKS_TRIED_MAX,
  newId: (): string => systemMint.newId(),
};

/** Which agent is meant; the first when nothing is said. */
export interface AgentRequest {
  readonly agent?: string;
  readonly account?: string;
}

export interface SendRequest extends AgentRequest {
  readonly content: string | readonly ContentBlock[];
  /** Kept with the message and never sent to a model. */
  readonly details?: Json;
  /** The same prompt in the host's own words, handed to the upstream as it is. */
  readonly native?: unknown;
  /** What to do when the agent is limited: wait for people, carry on with the next agent, or ask the host. */
  readonly onLimit?: "park" | "switch" | "ask";
  /** Tries a limited agent before its reset time. */
  readonly force?: boolean;
}

/** A session that stands ready, and how it came to know the conversation. */
export interface Connected extends Pick<Choice, "reason" | "fidelity" | "silent"> {
  readonly agent: string;
  readonly session: UpstreamSession;
}

interface Work {
  readonly conversation: Conversation;
  readonly owner: Owner;
  readonly cancelled: AbortSignal;
  readonly host: Host;
}

interface Running {
  readonly cancel: AbortController;
  /** What happened beside the turn, to be written when it has ended. */
  readonly later: EntryBody[];
  readonly done: Promise<void>;
}

type Upstreams = readonly [Upstream, ...Upstream[]];
type Sending = Omit<SendRequest, "content"> & { readonly prompt: Prompt };

/** Sends prompts so that the conversation survives whatever becomes of the upstream. */
export class Runtime implements AsyncDisposable {
  readonly #hold: Hold;
  readonly #options: Required<RuntimeOptions>;
  readonly #live = new Map<ConversationId, Map<Upstream, Live>>();
  readonly #running = new Map<ConversationId, Running>();
  readonly #noting = new Map<ConversationId, Promise<void>>();
  readonly #logins = new Map<Upstream, Promise<boolean>>();

  constructor(hold: Hold, options: RuntimeOptions) {
    this.#hold = hold;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Sends one prompt and resolves when its turn has ended, one way or another. */
  async send(id: string, request: SendRequest, host: Host): Promise<TurnResult> {
    this.#upstreams(request);
    return this.#alone(id, host, (work) => this.#send(work, { ...request, prompt: request }));
  }

  /**
   * Sends the last prompt once more, without writing it again, when nothing has answered it: after a limit, a login or
   * an outage. Refused once anything came back, since a tool may have run.
   */
  async retry(id: string, request: Omit<SendRequest, "content">, host: Host): Promise<TurnResult> {
    this.#upstreams(request);
    return this.#alone(id, host, async (work) => {
      await this.#settle(work);
      const { prompt, before, content } = await readUnanswered(this.#hold.space, work.conversation.id);
      return this.#send(work, { ...request, prompt: { content, again: { prompt, before } } });
    });
  }

  /** Gets a session ready without sending anything, so that a host can be told its modes and options. */
  async connect(id: string, request: AgentRequest, host: Host): Promise<Connected> {
    const [upstream] = this.#upstreams(request);
    return this.#alone(id, host, (work) => this.#connect(work, upstream));
  }

  /** The session held for an agent, if one is. */
  session(id: string, request: AgentRequest = {}): UpstreamSession | null {
    const [upstream] = this.#upstreams(request);
    return this.#live.get(parseConversationId(id))?.get(upstream)?.session ?? null;
  }

  /** Lets go of the sessions of a conversation; the next prompt resumes them. */
  async release(id: string): Promise<void> {
    const conversation = parseConversationId(id);
    const held = [...(this.#live.get(conversation)?.values() ?? [])];
    this.#live.delete(conversation);
    await Promise.allSettled(held.map(({ session }) => session.close()));
  }

  /** Writes what happened beside the turns, such as a change of settings: at once, or when the running turn ends. */
  async note(id: string, bodies: readonly EntryBody[]): Promise<void> {
    const conversation = parseConversationId(id);
    const running = this.#running.get(conversation);
    if (running !== undefined) return void running.later.push(...bodies);
    // One after the other: a second owner of the same name would fence the first.
    const noting = (this.#noting.get(conversation) ?? Promise.resolve()).then(() => this.#note(id, bodies));
    const quiet = noting.catch(() => undefined);
    this.#noting.set(conversation, quiet);
    await noting.finally(() => this.#noting.get(conversation) === quiet && this.#noting.delete(conversation));
  }

  async #note(id: string, bodies: readonly EntryBody[]): Promise<void> {
    await using owner = await this.#own(await this.#hold.conversation(id));
    await owner.append(bodies);
  }

  /** Returns control in bounded time, even when the agent ignores it. */
  cancel(id: string): boolean {
    const running = this.#running.get(parseConversationId(id));
    running?.cancel.abort();
    return running !== undefined;
  }

  /** Cancels what runs, waits until it is recorded, and lets go of every session. */
  async close(): Promise<void> {
    const running = [...this.#running.values()];
    for (const { cancel } of running) cancel.abort();
    await Promise.all(running.map(({ done }) => done));
    await Promise.all([...this.#live.keys()].map((conversation) => this.release(conversation)));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #alone<T>(id: string, host: Host, work: (work: Work) => Promise<T>): Promise<T> {
    const key = parseConversationId(id);
    if (this.#running.has(key))
      throw new LogError("busy", `A turn is running in conversation ${id}; steer it or cancel it first`, {
        conversation: id,
      });
    const done = Promise.withResolvers<void>();
    const running: Running = { cancel: new AbortController(), later: [], done: done.promise };
    this.#running.set(key, running);
    try {
      const conversation = await this.#hold.conversation(id);
      await this.#noting.get(key);
      await using owner = await this.#own(conversation);
      using _renewing = keepLease(owner, this.#options);
      const result = await work({ conversation, owner, cancelled: running.cancel.signal, host });
      while (running.later.length > 0) await owner.append(running.later.splice(0));
      return result;
    } finally {
      this.#running.delete(key);
      // What came while it was being let go of, or what a failure left behind.
      if (running.later.length > 0) await this.note(id, running.later).catch(() => undefined);
      done.resolve();
    }
  }

  async #own(conversation: Conversation): Promise<Owner> {
    const { writer, leaseMs, isDead } = this.#options;
    try {
      return await conversation.own({ writer, leaseMs });
    } catch (error) {
      const { lease } = await conversation.head();
      if (!isLogError(error, "busy") || lease === null || !(await isDead(lease.writer))) throw error;
      // Under the dead one's name only as long as it takes: others would take that away from us, too.
      const heir = await conversation.own({ writer: lease.writer, leaseMs });
      await heir[Symbol.asyncDispose]();
      return conversation.own({ writer, leaseMs });
    }
  }

  /** Ends what a dead process left open, its own process first, and gives the facts a send is decided on. */
  async #settle({ conversation, owner }: Work): Promise<readonly Entry[]> {
    const { space } = this.#hold;
    const { newId } = this.#options;
    const facts = await readFacts(space, conversation.id);
    await endLeftProcess(facts, this.#options);
    const settled = await settleOpenTurn({ space, conversation: conversation.id, owner, newId }, facts);
    return settled === null ? facts : readFacts(space, conversation.id);
  }

  /** Where the branch stands before a prompt, with what was said behind our back. */
  async #ground(work: Work, upstream: Upstream, before: Leaf | null): Promise<Omit<Ground, "tip">> {
    const { space } = this.#hold;
    const { id: conversation } = work.conversation;
    const facts = await this.#settle(work);
    const { leaf: now, cwd: made } = await work.conversation.head();
    const leaf = before ?? now;
    const { model, config } = await readSettings(space, conversation, leaf);
    const settings = { conversation, cwd: cwdOf(config, made), model, config };
    const spoken = await readSpoken(space, conversation, leaf);
    const ground = { ...this.#options, ...work, space, conversation, settings, leaf, spoken };
    const adopted = before === null ? await adoptTurns({ ...ground, upstream }, facts) : null;
    if (adopted === null) return ground;
    emit({ ...work, conversation }, null, { type: "adopted", ...adopted });
    // The session held here does not know of those turns.
    await this.release(conversation);
    return this.#ground(work, upstream, (await work.conversation.head()).leaf);
  }

  async #connect(work: Work, upstream: Upstream): Promise<Connected> {
    const { space } = this.#hold;
    const { id: conversation } = work.conversation;
    const before = await this.#ground(work, upstream, null);
    const ground = { ...before, tip: before.leaf };
    const live = this.#live.get(conversation)?.get(upstream) ?? null;
    const choose = async (restarted: boolean): Promise<Choice> => {
      const facts = await readFacts(space, conversation);
      return chooseSession(ground, { upstream, facts, live, fresh: null, restarted, whole: true });
    };
    const choice = await choose(false).catch(async (error: unknown) => {
      if (!(error instanceof UpstreamFailure) || error.ending.class !== "crashed") throw error;
      await upstream.restart(error.process);
      return choose(true);
    });
    const { id, session, reason, fidelity, silent, proven } = choice;
    const held = proven ? ground.spoken : null;
    const link = linkBody({ id, reason, node: fidelity === "transcript" ? held : null }, upstream);
    if (link.length > 0) await work.owner.append(link);
    this.#keep(conversation, upstream, { id, session, process: session.process, holds: held });
    return { agent: upstream.agent, session, reason, fidelity, silent };
  }

  #keep(conversation: ConversationId, upstream: Upstream, live: Live | null): void {
    const held = this.#live.get(conversation) ?? new Map<Upstream, Live>();
    if (live === null) held.delete(upstream);
    else held.set(upstream, live);
    this.#live.set(conversation, held);
  }

  async #send(work: Work, request: Sending): Promise<TurnResult> {
    const { host, owner, cancelled } = work;
    const { space } = this.#hold;
    const { clock, newId } = this.#options;
    const upstreams = this.#upstreams(request);
    const [chosen] = upstreams;
    const before = await this.#ground(work, chosen, request.prompt.again?.before ?? null);
    const facts = await readFacts(space, before.conversation);
    const { bodies, content, turn, steered, ...accepted } = accept(request.prompt, facts, newId);
    await owner.append(bodies);
    const prompt = parseEntryId(accepted.prompt);
    const { leaf: tip } = await work.conversation.head();
    const about = { host, conversation: before.conversation, turn, prompt };
    emit(about, null, { type: "accepted", turn, prompt });
    const all = { free: upstreams, parked: [] };
    const { free, parked } = request.force === true ? all : freeAgents(upstreams, facts, clock.nowMs());
    const { onLimit = "park" } = request;
    const [first, ...others] = free;
    const asks = onLimit === "ask" && first !== undefined && first !== chosen;
    const declined = asks && !(await askSwitch(work, chosen, first, firstReset(parked)));
    if (first === undefined || declined) return stayParked(owner, about, parked);
    const live = this.#live.get(before.conversation);
    // Forgotten until the turn has ended: nothing is known of a session whose turn was not recorded to its end.
    this.#live.delete(before.conversation);
    const native = steered ? undefined : request.native;
    const ended = await runTurn(
      {
        ...this.#options,
        ...before,
        ...about,
        tip,
        owner,
        content,
        native,
        cancelled,
        onLimit,
        liveOf: (asked) => live?.get(asked) ?? null,
        login: (asked, message) => this.#login(asked, message, work),
      },
      [first, ...others],
    );
    if (live !== undefined) this.#live.set(before.conversation, live);
    this.#keep(before.conversation, ended.upstream, ended.live);
    return ended.result;
  }

  #upstreams(request: AgentRequest & Pick<SendRequest, "onLimit">): Upstreams {
    const all = this.#options.upstreams;
    const { agent, account, onLimit = "park" } = request;
    const chosen = all.find(
      (upstream) =>
        (agent ?? upstream.agent) === upstream.agent && (account ?? upstream.account) === upstream.account,
    );
    if (chosen === undefined)
      throw new LogError(
        "invalid_request",
        `There is no agent ${agent ?? account}; there are ${all.map((upstream) => upstream.agent).join(", ")}`,
      );
    return onLimit === "park" ? [chosen] : [chosen, ...all.filter((upstream) => upstream !== chosen)];
  }

  /** One login at a time per agent, however many conversations need it; a person who cancels does not wait for it. */
  async #login(upstream: Upstream, message: string, { host, cancelled }: Work): Promise<boolean> {
    if (host.onAuth === undefined) return false;
    const login =
      this.#logins.get(upstream) ?? host.onAuth(message).finally(() => this.#logins.delete(upstream));
    this.#logins.set(upstream, login);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    cancelled.addEventListener("abort", () => resolve(false), { once: true });
    return Promise.race([login, promise]);
  }
}
