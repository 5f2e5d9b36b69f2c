import type { Entry } from "#log/entry";
import { type ConversationId, parseConversationId, parseEntryId, parseKey } from "#log/ids";
import { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { keepImages, withImages } from "#conversation/image-blobs";
import { accept, type Accepted, checkContent, type Prompt, type PromptContent } from "#turn/accept";
import { checkHost, type Host } from "#turn/host";
import { KeyedTurns } from "#turn/known-turn";
import { type Note, OneAtATime } from "#turn/one-at-a-time";
import { settleOpenTurn } from "#turn/settle";
import { type Steered, SteeredTurns, type SteerOptions } from "#turn/steering";
import { Logins, type Upstreams, upstreamsFor } from "./agents.ts";
import { readBranchState } from "./branch-state.ts";
import { checkHoldfast, checkUpstreams } from "./check-given.ts";
import { chooseRestarting } from "./sessions/choose.ts";
import { endLeftProcess } from "./record/end-left-process.ts";
import { forkAside, type Forked, goBackTo } from "./forks/fork-aside.ts";
import { continueFrom, type ContinueInput, type ForkAsideOptions, liveOf, namesOf } from "./forks/from.ts";
import { linkBody } from "./sessions/link.ts";
import { LiveSessions } from "./sessions/live-sessions.ts";
import {
  type AgentOptions,
  type ConnectOptions,
  DEFAULTS,
  type RuntimeOptions,
  type SendOptions,
  type Settled,
  type TurnOptions,
} from "./options.ts";
import { firstReset, freeAgents, turnAway } from "./parked.ts";
import { type Connected, readLacking } from "./prior/lacking.ts";
import { readCarryLimits } from "./prior/limits.ts";
import { readGoOn, readUnanswered } from "#turn/read-unanswered";
import { adoptTurns } from "./record/adopt.ts";
import { adoptUnheard, mayHaveActed, maybeDone } from "./record/unheard.ts";
import { askSwitch, runTurn, type SendResult } from "./turn.ts";
import type { BranchState, Turn, Work } from "./turn-parts.ts";
import { emit } from "#turn/host";
import type { Upstream, UpstreamSession } from "./upstream.ts";

/** What is sent, once it is known what that is. */
interface Sending {
  readonly prompt: Prompt;
  readonly key: string | undefined;
  readonly options: SendOptions;
}

type Verb = "send" | "retry" | "continue";

/** Sends prompts so that the conversation survives whatever becomes of the upstream. */
export class Runtime implements AsyncDisposable {
  readonly #holdfast: Holdfast;
  readonly #options: Settled;
  readonly #live = new LiveSessions();
  readonly #turns: OneAtATime;
  /** Conversations whose sessions are let go of when their turn has ended. */
  readonly #releasing = new Set<ConversationId>();
  readonly #keyed: KeyedTurns<SendResult>;
  readonly #steers: SteeredTurns;
  readonly #logins = new Logins();

  constructor(holdfast: Holdfast, options: RuntimeOptions) {
    checkHoldfast(holdfast);
    checkUpstreams((options as RuntimeOptions | undefined)?.upstreams);
    this.#holdfast = holdfast;
    this.#options = { ...DEFAULTS, ...options };
    this.#turns = new OneAtATime(holdfast, this.#options);
    this.#keyed = new KeyedTurns(holdfast.space, (known): SendResult => ({ ...known, end: null }));
    this.#steers = new SteeredTurns(holdfast, this.#options.newId);
  }

  /** Sends one prompt and resolves when its turn has ended, one way or another. */
  async send(
    to: Conversation | string,
    content: PromptContent,
    options: SendOptions = {},
  ): Promise<SendResult> {
    checkContent(content);
    checkHost(options);
    const { details } = options;
    const prompt = { content, ...(details === undefined ? {} : { details }) };
    return this.#once(to, { verb: "send", content, options }, async (work, key) =>
      this.#send(work, { prompt, key, options }),
    );
  }

  /**
   * Sends the last prompt once more, without writing it again, when nothing has answered it: after a limit, a login or
   * an outage. Refused once anything came back, and where the process that sent it died while an agent in a process of
   * its own was at work: a tool may have run.
   */
  async retry(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#once(to, { verb: "retry", content: null, options }, async (work, key) => {
      const facts = await this.#settle(work);
      if (await mayHaveActed({ ...this.#options, ...work }, facts)) throw maybeDone();
      const { content, ...again } = await readUnanswered(work.conversation, facts);
      return this.#send(work, { prompt: { content, again }, key, options });
    });
  }

  /**
   * Finishes a turn that was cut off after something had come back: the partial reply stays, and the agent is asked to go
   * on from it, knowing what was done. Nothing is sent once more and nothing is run again.
   */
  async continue(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#once(to, { verb: "continue", content: null, options }, async (work, key) => {
      const content = await readGoOn(work.conversation, await this.#settle(work));
      return this.#send(work, { prompt: { content, internal: true }, key, options });
    });
  }

  /**
   * Says something while a turn runs. It is durable first; then an agent that can take it now is handed it, otherwise it
   * goes out in front of the next prompt.
   */
  async steer(
    to: Conversation | string,
    content: PromptContent,
    options: SteerOptions = {},
  ): Promise<Steered> {
    return this.#steers.steer(idOf(to), content, options);
  }

  /**
   * A fork beside the conversation, at its end or at an entry. The session its agent forked for it is held, and the
   * first prompt goes to it. `prepare` is called once the fork is in the log, before the agent is asked.
   */
  async fork(to: Conversation | string, options: ForkAsideOptions = {}): Promise<Forked> {
    const [upstream] = this.#upstreams(options);
    const { clock } = this.#options;
    return forkAside(await this.#conversation(to), upstream, {
      clock,
      ...options,
      onSession: (child, session, node) => this.#live.keep(child.id, upstream, liveOf(session, node)),
    });
  }

  /**
   * Goes back before a user's message, in the same conversation, so that other words can take its place. What came after
   * leaves the active branch and is not destroyed; no text of it reaches the model again.
   */
  async goBackTo(
    to: Conversation | string,
    entry: string,
    options: AgentOptions = {},
  ): Promise<Omit<Forked, "conversation">> {
    const [upstream] = this.#upstreams(options);
    return goBackTo(await this.#conversation(to), upstream, entry, { clock: this.#options.clock });
  }

  /** Gets a session ready without sending anything, so that a host can be told its modes and options. */
  async connect(to: Conversation | string, options: ConnectOptions = {}): Promise<Connected> {
    const [upstream] = this.#upstreams(options);
    return this.#alone(idOf(to), options, (work) => this.#connect(work, upstream));
  }

  /** The session held for an agent, if one is. */
  session(of: Conversation | string, options: AgentOptions = {}): UpstreamSession | null {
    const [upstream] = this.#upstreams(options);
    return this.#live.get(parseConversationId(idOf(of)), upstream)?.session ?? null;
  }

  /** Lets go of the sessions of a conversation, after the turn if one runs; the next prompt resumes them. */
  async release(of: Conversation | string): Promise<void> {
    const conversation = parseConversationId(idOf(of));
    if (this.#turns.has(conversation)) this.#releasing.add(conversation);
    else await this.#live.letGo(conversation);
  }

  /** Writes what happened beside the turns, such as a change of settings: at once, or when the running turn ends. */
  async note(to: Conversation | string, note: Note): Promise<void> {
    return this.#turns.note(idOf(to), note);
  }

  /** Returns control in bounded time, even when the agent ignores it. */
  cancel(of: Conversation | string): boolean {
    return this.#turns.cancel(idOf(of));
  }

  /** Cancels what runs, waits until it is recorded, and lets go of every session. */
  async close(): Promise<void> {
    await this.#turns.cancelAll();
    await this.#live.letAllGo();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #conversation(of: Conversation | string): Promise<Conversation> {
    return of instanceof Conversation ? of : this.#holdfast.conversation(of);
  }

  #upstreams(options: AgentOptions & Pick<SendOptions, "whenLimited">): Upstreams {
    checkHost(options);
    return upstreamsFor(this.#options.upstreams, options);
  }

  #alone<T>(id: string, host: Host, work: (work: Work) => Promise<T>): Promise<T> {
    return this.#turns.run(id, async ({ conversation, owner, cancelled }) => {
      try {
        const facts = this.#live.factsOf(conversation.id, this.#holdfast.space);
        await facts.beginWork(owner);
        return await work({ conversation, owner, cancelled, host, facts });
      } finally {
        if (this.#releasing.delete(conversation.id)) await this.#live.letGo(conversation.id);
        this.#live.dropUnused(conversation.id);
      }
    });
  }

  /** A turn under a key is sent once: whoever asks again gets what became of it. */
  async #once(
    to: Conversation | string,
    asked: { readonly verb: Verb; readonly content: PromptContent | null; readonly options: SendOptions },
    work: (work: Work, key: string | undefined) => Promise<SendResult>,
  ): Promise<SendResult> {
    const { verb, content, options } = asked;
    this.#upstreams(options);
    const id = idOf(to);
    if (options.key === undefined) return this.#alone(id, options, (inside) => work(inside, undefined));
    const key = parseKey(`${verb}/${options.key}`);
    const alone = (inside: (at: Work) => Promise<SendResult>): Promise<SendResult> =>
      this.#alone(id, options, inside);
    const settle = (inside: Work): Promise<unknown> => this.#settle(inside);
    const send = (inside: Work): Promise<SendResult> => work(inside, key);
    return this.#keyed.run(parseConversationId(id), { key, content }, { alone, settle, send });
  }

  /** Ends what a dead process left open, its own process first, and gives the facts a send is decided on. */
  async #settle(work: Work): Promise<readonly Entry[]> {
    const facts = await work.facts.now();
    await endLeftProcess(facts, this.#options);
    const settled = await settleOpenTurn({ ...work, newId: this.#options.newId }, facts);
    const now = settled === null ? facts : await work.facts.now();
    await adoptUnheard({ ...this.#options, ...work }, now);
    return now;
  }

  /** The branch before a prompt, once what was left open is settled and what was said behind our back is in the log. */
  async #branch(work: Work, upstream: Upstream, prompt: Prompt | null): Promise<BranchState> {
    const facts = await this.#settle(work);
    const before = prompt?.again?.before ?? null;
    const branch = await readBranchState(work, facts, before);
    const parts = { work, branch, options: this.#options };
    const adopted = before === null ? await adoptTurns(parts, upstream, facts) : null;
    if (adopted === null) return branch;
    emit(work, null, { type: "adopted", ...adopted });
    // The session held here does not know of those turns.
    await this.#live.letGo(work.conversation.id);
    return readBranchState(work, await work.facts.now(), null);
  }

  async #connect(work: Work, upstream: Upstream): Promise<Connected> {
    const conversation = work.conversation.id;
    const branch = await this.#branch(work, upstream, null);
    const parts = { work, branch, options: this.#options };
    const live = this.#live.get(conversation, upstream);
    const facts = await work.facts.now();
    const limits = await readCarryLimits(parts, facts, upstream.agent);
    const choice = await chooseRestarting(parts, { upstream, facts, live, fresh: null, ...limits });
    const { id, session, reason, silent, held } = choice;
    const { fidelity, told } = await readLacking(parts, choice, { ...limits, firstUse: false });
    const link = linkBody({ id, reason, node: fidelity === "transcript" ? held : null }, upstream);
    this.#live.keep(conversation, upstream, { id, session, process: session.process, holds: held });
    if (link.length > 0)
      await work.owner.append(link).catch((error: unknown) => this.#fail(conversation, error));
    return { agent: upstream.agent, session, reason, fidelity, silent, told };
  }

  /** Nothing is known of sessions whose work could not be recorded to its end. */
  async #fail(conversation: ConversationId, error: unknown): Promise<never> {
    await this.#live.letGo(conversation);
    throw error;
  }

  async #send(work: Work, sending: Sending): Promise<SendResult> {
    const { options, prompt: given } = sending;
    const moved = await this.#continueFrom(work, sending);
    const upstreams = this.#upstreams(moved === null ? options : { ...options, ...namesOf(moved.upstream) });
    const [chosen] = upstreams;
    const before = await this.#branch(work, chosen, given);
    const facts = await work.facts.now();
    const all = { free: upstreams, parked: [] };
    const nowMs = this.#options.clock.nowMs();
    const { free, parked } = options.force === true ? all : freeAgents(upstreams, facts, nowMs);
    // What was typed before waits on where nobody can be asked.
    const said = free.length > 0 ? facts : facts.filter((fact) => fact.type !== "steer");
    const { waiting, steered, ...accepted } = await this.#accept(work, sending, said);
    const prompt = { ...accepted, wire: steered ? undefined : options.wire };
    const { whenLimited = "park" } = options;
    const [first, ...others] = free;
    const asks = whenLimited === "ask" && first !== undefined && first !== chosen;
    const declined = asks && !(await askSwitch(work, chosen, first, firstReset(parked)));
    const lay = given.again?.aside === false;
    if (first === undefined || declined)
      return turnAway(work, { ...prompt, back: lay ? null : before.leaf.id, steers: waiting }, parked);
    if (first !== chosen && parked.length > 0)
      emit(work, null, { type: "switched", from: chosen.agent, to: first.agent });
    const tipPlace: BranchState["tipPlace"] = async () => (await work.conversation.head()).leaf;
    const branch = { ...before, tip: lay ? before.tip : prompt.id, tipPlace };
    const fresh = moved?.fresh ?? null;
    return this.#run(
      { work, branch, options: this.#options, prompt },
      { whenLimited, fresh, upstreams: [first, ...others] },
    );
  }

  /** The prompt is durable, with its turn's start, before anything leaves. */
  async #accept(
    work: Work,
    { prompt, key }: Sending,
    facts: readonly Entry[],
  ): Promise<Turn["prompt"] & Pick<Accepted, "steered" | "waiting">> {
    const { space, id } = work.conversation;
    const kept = await keepImages(space, id, prompt.content);
    const accepted = accept({ ...prompt, content: kept }, facts, this.#options.newId);
    const content = await withImages(space, id, accepted.content);
    await work.owner.append(accepted.bodies, key === undefined ? {} : { key });
    const { turn, steered, waiting } = accepted;
    emit(work, null, { type: "accepted", turn, prompt: accepted.prompt });
    return { id: parseEntryId(accepted.prompt), turn, content, wire: undefined, steered, waiting };
  }

  async #run(
    turn: Omit<Turn, "carrier">,
    by: Pick<Turn["carrier"], "whenLimited" | "fresh"> & { readonly upstreams: Upstreams },
  ): Promise<SendResult> {
    const { work } = turn;
    const { id } = work.conversation;
    const carrier: Turn["carrier"] = {
      whenLimited: by.whenLimited,
      fresh: by.fresh,
      steering: this.#steers.begin(id),
      liveOf: (asked) => this.#live.get(id, asked),
      login: (asked, message) => this.#logins.ask(asked, message, work),
    };
    const ended = await runTurn({ ...turn, carrier }, by.upstreams)
      .finally(() => this.#steers.end(id))
      .catch((error: unknown) => this.#fail(id, error));
    this.#live.keep(id, ended.upstream, ended.live);
    return ended.result;
  }

  /** Moves to where the prompt is to go on from, once what a dead process left there is settled. */
  async #continueFrom(work: Work, { prompt, options }: Sending): Promise<ContinueInput | null> {
    const { from } = options;
    if (from === undefined || prompt.again !== undefined) return null;
    await this.#settle(work);
    const [upstream] = this.#upstreams(options);
    const { id } = work.conversation;
    const { upstreams, clock } = this.#options;
    const moved = await continueFrom({ work, upstreams, clock, upstream }, from);
    const held = this.#live.get(id, moved.upstream);
    if (moved.live !== null) {
      this.#live.keep(id, moved.upstream, moved.live);
      await held?.session.close().catch(() => undefined);
    }
    emit(work, null, moved.event);
    return moved;
  }
}

function idOf(conversation: Conversation | string): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}
