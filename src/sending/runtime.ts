import type { Entry } from "#log/entry";
import type { Leaf } from "#log/lineage/head";
import { type ConversationId, type EntryId, parseConversationId, parseEntryId, parseKey } from "#log/ids";
import { cwdOf } from "#log/projections/settings";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { keepImages, withImages } from "#conversation/images";
import { readSettings } from "#conversation/reading";
import { accept, type Prompt } from "#turn/accept";
import { adoptTurns } from "./record/adopt.ts";
import { Logins, type Upstreams, upstreamsFor } from "./agents.ts";
import { checkContent, checkHoldfast, checkHost, checkUpstreams } from "#turn/check-given";
import { type Choice, chooseRestarting, type SessionInputs } from "./choose.ts";
import { FactReader, readGoOn, readNear, readUnanswered } from "./facts.ts";
import { readLastModelNode } from "#turn/last-said";
import { forkAside, type Forked } from "./fork.ts";
import { continueFrom, type ContinueInput, type ForkAsideRequest, liveOf, namesOf } from "./from.ts";
import type { Host } from "#turn/host";
import { type LackingInput, readLacking } from "./prior/lacking.ts";
import { KeyedTurns } from "#turn/known-turn";
import { readCarryLimits } from "./prior/limits.ts";
import { linkBody } from "./link.ts";
import { LiveSessions } from "./live-sessions.ts";
import { type Note, OneAtATime, type Owned } from "#turn/one-at-a-time";
import {
  type AgentRequest,
  DEFAULTS,
  type RuntimeOptions,
  type SendRequest,
  type Settled,
} from "./options.ts";
import { firstReset, freeAgents, turnAway } from "./parked.ts";
import { settleOpenTurn } from "#turn/settle";
import { endLeftProcess } from "./end-left-process.ts";
import { type Steered, SteeredTurns, type SteerRequest } from "#turn/steering";
import { emit } from "./turn-inputs.ts";
import { adoptUnheard, mayHaveActed, maybeDone } from "./record/unheard.ts";
import { askSwitch, runTurn, type SendResult } from "./turn.ts";
import type { Upstream, UpstreamSession } from "./upstream.ts";

/** A session that stands ready, and how it came to know the conversation. */
export interface Connected
  extends Pick<Choice, "reason" | "fidelity" | "silent">, Pick<LackingInput, "told"> {
  readonly agent: string;
  readonly session: UpstreamSession;
}

interface Work extends Owned {
  readonly host: Host;
  readonly facts: FactReader;
}

type AdoptUnheardInput = Parameters<typeof adoptUnheard>[0];
type KeyedRequest = Pick<SendInput, "key"> & { readonly content: SendRequest["content"] | null };
type SendInput = Omit<SendRequest, "content" | "key"> & {
  readonly prompt: Prompt;
  readonly key: string | undefined;
};

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
  async send(id: string, request: SendRequest, host: Host): Promise<SendResult> {
    checkContent(request);
    this.#upstreams(request);
    const key = request.key === undefined ? undefined : parseKey(`send/${request.key}`);
    return this.#once(id, { key, content: request.content, host }, (work) =>
      this.#send(work, { ...request, key, prompt: request }),
    );
  }

  /**
   * Sends the last prompt once more, without writing it again, when nothing has answered it: after a limit, a login or
   * an outage. Refused once anything came back, and where the process that sent it died while an agent in a process of
   * its own was at work: a tool may have run.
   */
  async retry(id: string, request: Omit<SendRequest, "content">, host: Host): Promise<SendResult> {
    this.#upstreams(request);
    const key = request.key === undefined ? undefined : parseKey(`retry/${request.key}`);
    return this.#once(id, { key, content: null, host }, async (work) => {
      const facts = await this.#settle(work);
      if (await mayHaveActed(this.#looking(work), facts)) throw maybeDone();
      const { content, ...again } = await readUnanswered(this.#holdfast.space, work.conversation.id, facts);
      return this.#send(work, { ...request, key, prompt: { content, again } });
    });
  }

  /**
   * A fork beside the conversation, at its end or at an entry. The session its agent forked for it is held, and the
   * first prompt goes to it. `prepare` is called once the fork is in the log, before the agent is asked.
   */
  async fork(id: string, request: ForkAsideRequest, host: Host): Promise<Forked> {
    const [upstream] = this.#upstreams(request);
    const { agent: _, account: _account, ...options } = request;
    const onSession = (child: Conversation, session: UpstreamSession, node: EntryId): void =>
      this.#live.keep(child.id, upstream, liveOf(session, node));
    const { clock } = this.#options;
    return forkAside(await this.#holdfast.conversation(id), upstream, { ...options, clock, host, onSession });
  }

  /**
   * Finishes a turn that was cut off after something had come back: the partial reply stays, and the agent is asked to go
   * on from it, knowing what was done. Nothing is sent once more and nothing is run again.
   */
  async continue(id: string, request: Omit<SendRequest, "content">, host: Host): Promise<SendResult> {
    this.#upstreams(request);
    const key = request.key === undefined ? undefined : parseKey(`continue/${request.key}`);
    return this.#once(id, { key, content: null, host }, async (work) => {
      const facts = await this.#settle(work);
      const content = await readGoOn(this.#holdfast.space, work.conversation.id, facts);
      return this.#send(work, { ...request, key, prompt: { content, internal: true } });
    });
  }

  /**
   * Says something while a turn runs. It is durable first; then an agent that can take it now is handed it, otherwise it
   * goes out in front of the next prompt.
   */
  steer(id: string, request: SteerRequest): Promise<Steered> {
    return this.#steers.steer(id, request);
  }

  /** Gets a session ready without sending anything, so that a host can be told its modes and options. */
  async connect(id: string, request: AgentRequest, host: Host): Promise<Connected> {
    const [upstream] = this.#upstreams(request);
    return this.#alone(id, host, (work) => this.#connect(work, upstream));
  }

  /** The session held for an agent, if one is. */
  session(id: string, request: AgentRequest = {}): UpstreamSession | null {
    const [upstream] = this.#upstreams(request);
    return this.#live.get(parseConversationId(id), upstream)?.session ?? null;
  }

  /** Lets go of the sessions of a conversation, after the turn if one runs; the next prompt resumes them. */
  async release(id: string): Promise<void> {
    const conversation = parseConversationId(id);
    if (this.#turns.has(conversation)) this.#releasing.add(conversation);
    else await this.#live.letGo(conversation);
  }

  /** Writes what happened beside the turns, such as a change of settings: at once, or when the running turn ends. */
  note(id: string, note: Note): Promise<void> {
    return this.#turns.note(id, note);
  }

  /** Returns control in bounded time, even when the agent ignores it. */
  cancel(id: string): boolean {
    return this.#turns.cancel(id);
  }

  /** Cancels what runs, waits until it is recorded, and lets go of every session. */
  async close(): Promise<void> {
    await this.#turns.cancelAll();
    await this.#live.letAllGo();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #alone<T>(id: string, host: Host, work: (work: Work) => Promise<T>): Promise<T> {
    checkHost(host);
    return this.#turns.run(id, async (owned) => {
      const { id: conversation } = owned.conversation;
      try {
        const facts = new FactReader(this.#holdfast.space, conversation);
        return await work({ ...owned, host, facts });
      } finally {
        if (this.#releasing.delete(conversation)) await this.#live.letGo(conversation);
      }
    });
  }

  #looking({ conversation, owner }: Omit<Owned, "cancelled">): AdoptUnheardInput {
    return { ...this.#options, space: this.#holdfast.space, conversation: conversation.id, owner };
  }

  /** A turn under a key is sent once: whoever asks again gets what became of it. */
  #once(
    id: string,
    asked: Pick<Work, "host"> & KeyedRequest,
    work: (work: Work) => Promise<SendResult>,
  ): Promise<SendResult> {
    const { key, content, host } = asked;
    if (key === undefined) return this.#alone(id, host, work);
    return this.#keyed.run(
      parseConversationId(id),
      { key, content },
      {
        alone: (inside) => this.#alone(id, host, inside),
        settle: (inside) => this.#settle(inside),
        send: work,
      },
    );
  }

  /** Ends what a dead process left open, its own process first, and gives the facts a send is decided on. */
  async #settle({ conversation, owner, facts: reader }: Work): Promise<readonly Entry[]> {
    const { space } = this.#holdfast;
    const { newId } = this.#options;
    const facts = await reader.now();
    await endLeftProcess(facts, this.#options);
    const settled = await settleOpenTurn({ space, conversation: conversation.id, owner, newId }, facts);
    const now = settled === null ? facts : await reader.now();
    await adoptUnheard(this.#looking({ conversation, owner }), now);
    return now;
  }

  /** Where the branch stands before a prompt, with what was said behind our back. */
  async #inputs(work: Work, upstream: Upstream, before: Leaf | null): Promise<Omit<SessionInputs, "tip">> {
    const { space } = this.#holdfast;
    const { id: conversation } = work.conversation;
    const facts = await this.#settle(work);
    const { leaf: now, cwd: made } = work.owner.untouchedHead ?? (await work.conversation.head());
    const leaf = before ?? now;
    const near = await readNear(space, conversation, leaf);
    const { model, config } = await readSettings(space, conversation, now, before === null ? near : null);
    const usedAt =
      facts.findLast((fact) => fact.type === "attempt" || fact.type === "turn_end")?.time ?? null;
    const settings = { conversation, cwd: cwdOf(config, made), model, config, usedAt };
    const lastModelNode = await readLastModelNode(space, conversation, leaf, near);
    const inputs = { ...this.#options, ...work, space, conversation, settings, leaf, near, lastModelNode };
    const adopted = before === null ? await adoptTurns({ ...inputs, upstream }, facts) : null;
    if (adopted === null) return inputs;
    emit({ ...work, conversation }, null, { type: "adopted", ...adopted });
    // The session held here does not know of those turns.
    await this.#live.letGo(conversation);
    return this.#inputs(work, upstream, (await work.conversation.head()).leaf);
  }

  async #connect(work: Work, upstream: Upstream): Promise<Connected> {
    const { id: conversation } = work.conversation;
    const before = await this.#inputs(work, upstream, null);
    const inputs = { ...before, tip: before.leaf };
    const live = this.#live.get(conversation, upstream);
    const facts = await work.facts.now();
    const limits = await readCarryLimits(inputs, facts, upstream.agent);
    const choice = await chooseRestarting(inputs, { upstream, facts, live, fresh: null, ...limits });
    const { id, session, reason, silent, held } = choice;
    const { fidelity, told } = await readLacking({ ...inputs, prior: this.#options.prior }, choice, {
      ...limits,
      firstUse: false,
    });
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

  async #send(work: Work, request: SendInput): Promise<SendResult> {
    const { host, owner, cancelled } = work;
    const { clock, newId } = this.#options;
    const moved = await this.#continueFrom(work, request);
    const upstreams = this.#upstreams(moved === null ? request : { ...request, ...namesOf(moved.upstream) });
    const [chosen] = upstreams;
    const before = await this.#inputs(work, chosen, request.prompt.again?.before ?? null);
    const facts = await work.facts.now();
    const all = { free: upstreams, parked: [] };
    const { free, parked } = request.force === true ? all : freeAgents(upstreams, facts, clock.nowMs());
    // What was typed before waits on where nobody can be asked.
    const said = free.length > 0 ? facts : facts.filter((fact) => fact.type !== "steer");
    const kept = await keepImages(this.#holdfast.space, before.conversation, request.prompt.content);
    const given = { ...request.prompt, content: kept };
    const { bodies, turn, steered, waiting, ...accepted } = accept(given, said, newId);
    const content = await withImages(this.#holdfast.space, before.conversation, accepted.content);
    await owner.append(bodies, request.key === undefined ? {} : { key: request.key });
    const prompt = parseEntryId(accepted.prompt);
    const { leaf: tip } = await work.conversation.head();
    const about = { host, conversation: before.conversation, turn, prompt };
    emit(about, null, { type: "accepted", turn, prompt });
    const { onLimit = "park" } = request;
    const [first, ...others] = free;
    const asks = onLimit === "ask" && first !== undefined && first !== chosen;
    const declined = asks && !(await askSwitch(work, chosen, first, firstReset(parked)));
    const back = request.prompt.again?.aside === false ? null : before.leaf.id;
    if (first === undefined || declined) return turnAway(owner, { ...about, back, steers: waiting }, parked);
    if (first !== chosen && parked.length > 0)
      emit(about, null, { type: "switched", from: chosen.agent, to: first.agent });
    const wire = steered ? undefined : request.wire;
    const ended = await runTurn(
      {
        ...this.#options,
        ...before,
        ...about,
        tip,
        owner,
        facts: work.facts,
        content,
        wire,
        cancelled,
        onLimit,
        steering: this.#steers.begin(before.conversation),
        fresh: moved?.fresh ?? null,
        liveOf: (asked) => this.#live.get(before.conversation, asked),
        login: (asked, message) => this.#logins.ask(asked, message, work),
      },
      [first, ...others],
    )
      .finally(() => this.#steers.end(before.conversation))
      .catch((error: unknown) => this.#fail(before.conversation, error));
    this.#live.keep(before.conversation, ended.upstream, ended.live);
    return ended.result;
  }

  /** Moves to where the prompt is to go on from, once what a dead process left there is settled. */
  async #continueFrom(work: Work, request: SendInput): Promise<ContinueInput | null> {
    const { from, prompt } = request;
    if (from === undefined || prompt.again !== undefined) return null;
    await this.#settle(work);
    const [upstream] = this.#upstreams(request);
    const { id } = work.conversation;
    const moved = await continueFrom(
      { ...this.#options, ...work, space: this.#holdfast.space, upstream },
      from,
    );
    const held = this.#live.get(id, moved.upstream);
    if (moved.live !== null) {
      this.#live.keep(id, moved.upstream, moved.live);
      await held?.session.close().catch(() => undefined);
    }
    emit({ ...work, conversation: id }, null, moved.event);
    return moved;
  }

  #upstreams(request: AgentRequest & Pick<SendRequest, "onLimit">): Upstreams {
    return upstreamsFor(this.#options.upstreams, request);
  }
}
