import { parseConversationId, type EntryId } from "#log/ids";
import { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { checkContent, type PromptContent } from "#turn/accept";
import { checkHost, type Host } from "#turn/host";
import { KeyedTurns } from "#turn/known-turn";
import { type CloseOptions, type Note, OneAtATime, type Owned } from "#turn/one-at-a-time";
import { type Steered, SteeredTurns, type SteerOptions } from "#turn/steering";
import { editTurn, turnKey, type Turns } from "#turn/turns";
import { checkUpstreams, type Upstreams, upstreamsFor } from "./agents.ts";
import { isLogError, LogError } from "#log/errors";
import { withDefaults } from "#log/with-defaults";
import { forkAside, type Forked, goBackTo } from "./sessions/fork-session.ts";
import { type ForkAsideOptions, liveOf } from "./sessions/prompt-origin.ts";
import { Sender } from "./sender.ts";
import { LiveSessions } from "./sessions/live-sessions.ts";
import {
  type AgentOptions,
  type ConnectOptions,
  type RuntimeOptions,
  type SendOptions,
  type Settled,
  settleOptions,
  type TurnOptions,
} from "./options.ts";
import type { Connected } from "./missing-context.ts";
import { mayHaveActed, maybeDone } from "./sessions/unrecorded-effects.ts";
import type { SendResult } from "./finish-turn.ts";
import type { Work } from "./turn-parts.ts";
import type { UpstreamSession } from "./upstream.ts";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { Leaf } from "#log/lineage/head";
import { readLastModelNode } from "#turn/last-said";
import { cameBack, checkCutOff, GO_ON, turnedAwayPrompt, unansweredContent } from "#turn/rules/unanswered";
import { spaceOf } from "#conversation/on-space";

type Verb = "send" | "retry" | "continue";

/** Sends prompts so that the conversation survives whatever becomes of the upstream. */
export class Runtime implements Turns, AsyncDisposable {
  readonly #holdfast: Holdfast;
  readonly #options: Settled;
  readonly #live: LiveSessions;
  readonly #turns: OneAtATime;
  readonly #keyed: KeyedTurns<SendResult>;
  readonly #steers: SteeredTurns;
  readonly #sender: Sender;

  constructor(holdfast: Holdfast, options: RuntimeOptions) {
    checkHoldfast(holdfast);
    checkUpstreams((options as RuntimeOptions | undefined)?.upstreams);
    this.#holdfast = holdfast;
    this.#options = settleOptions(options);
    this.#live = new LiveSessions(this.#options.pool, spaceOf(holdfast));
    this.#turns = new OneAtATime(holdfast, this.#options);
    this.#keyed = new KeyedTurns(holdfast, ({ result }): SendResult => ({ ...result, end: null }));
    this.#steers = new SteeredTurns(holdfast, this.#options.newId);
    this.#sender = new Sender(this.#options, this.#live, this.#steers);
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
      this.#sender.send(work, { prompt, key, options }),
    );
  }

  /**
   * Sends the last prompt once more, without writing it again, when nothing has answered it: after a limit, a login or
   * an outage. Refused once anything came back, and where the process that sent it died while an agent in a process of
   * its own was at work: a tool may have run.
   */
  async retry(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#once(to, { verb: "retry", content: null, options }, async (work, key) => {
      const facts = await this.#sender.settle(work);
      if (await mayHaveActed({ ...this.#options, ...work }, facts)) throw maybeDone();
      const { content, ...again } = await readUnanswered(work.conversation, facts);
      return this.#sender.send(work, { prompt: { content, again }, key, options });
    });
  }

  /** Sends a prompt in place of an earlier one; what followed that one stays in the log, beside the branch. */
  async edit(
    to: Conversation | string,
    entry: string,
    content: PromptContent,
    options: SendOptions = {},
  ): Promise<SendResult> {
    const edit = { conversation: idOf(to), content, key: options.key };
    return editTurn(this.#holdfast, edit, {
      goBack: () => this.goBackTo(to, entry, options),
      send: () => this.send(to, content, options),
    });
  }

  /**
   * Finishes a turn that was cut off after something had come back: the partial reply stays, and the agent is asked to go
   * on from it, knowing what was done. Nothing is sent once more and nothing is run again.
   */
  async continue(to: Conversation | string, options: TurnOptions = {}): Promise<SendResult> {
    return this.#once(to, { verb: "continue", content: null, options }, async (work, key) => {
      const content = await readGoOn(work.conversation, await this.#sender.settle(work));
      return this.#sender.send(work, { prompt: { content, internal: true }, key, options });
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
      ...withDefaults({ clock }, options),
      // An agent may report the fork's settings before it answers, and they are written, too.
      write: (child, body) => this.#turns.note(child.id, [body]),
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
    return this.#alone(idOf(to), options, (work) => this.#sender.connect(work, upstream));
  }

  /** The session held for an agent, if one is. */
  session(of: Conversation | string, options: AgentOptions = {}): UpstreamSession | null {
    const [upstream] = this.#upstreams(options);
    return this.#live.get(parseConversationId(idOf(of)), upstream)?.session ?? null;
  }

  /** Lets go of the sessions of a conversation, or of all, after the turn if one runs; the next prompt resumes them. */
  async release(of?: Conversation | string): Promise<void> {
    if (of === undefined) return this.#live.releaseAll();
    await this.#live.release(parseConversationId(idOf(of)));
  }

  /** Writes what happened beside the turns, such as a change of settings: at once, or when the running turn ends. */
  async note(to: Conversation | string, note: Note): Promise<void> {
    return this.#turns.note(idOf(to), note);
  }

  /** Returns control in bounded time, even when the agent ignores it. */
  cancel(of: Conversation | string): boolean {
    return this.#turns.cancel(idOf(of));
  }

  /** Stops what runs, waits until it is recorded, and lets go of every session and lease: another node goes on at once. */
  async close(options: CloseOptions = {}): Promise<void> {
    await this.#turns.close(options);
    await this.#live.releaseAll();
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
    const inside = (owned: Owned): Promise<T> =>
      this.#live.use(owned.conversation.id, (state) => {
        state.facts.follow(owned.owner);
        state.branchEnd.follow(owned.owner);
        return work({ ...owned, host, ...state });
      });
    const result = this.#turns.run(id, inside, { signal: host.signal });
    return result.catch(async (error: unknown) => {
      // The sessions that are held have heard what the log has lost.
      if (isLogError(error, "diverged")) await this.#live.release(parseConversationId(id));
      throw error;
    });
  }

  /** A turn under a key is sent once: whoever asks again gets what became of it. */
  async #once(
    to: Conversation | string,
    request: { readonly verb: Verb; readonly content: PromptContent | null; readonly options: SendOptions },
    work: (work: Work, key: string | undefined) => Promise<SendResult>,
  ): Promise<SendResult> {
    const { verb, content, options } = request;
    this.#upstreams(options);
    const id = idOf(to);
    if (options.key === undefined) return this.#alone(id, options, (inside) => work(inside, undefined));
    const key = turnKey(verb, options.key);
    const alone = (inside: (at: Work) => Promise<SendResult>): Promise<SendResult> =>
      this.#alone(id, options, inside);
    const settle = (inside: Work): Promise<unknown> => this.#sender.settle(inside);
    const send = (inside: Work): Promise<SendResult> => work(inside, key);
    return this.#keyed.run(parseConversationId(id), { key, content }, { alone, settle, send });
  }
}

function idOf(conversation: Conversation | string): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}

/** Whoever writes plain JavaScript hears of a wrong argument here, and not from the first verb that needs it. */
function checkHoldfast(holdfast: unknown): void {
  if (
    typeof (holdfast as { readonly conversation?: unknown } | null | undefined)?.conversation === "function"
  )
    return;
  throw new LogError("invalid_request", "The first argument must be the space returned by openHoldfast");
}

interface Unanswered {
  readonly prompt: EntryId;
  readonly before: Leaf;
  readonly content: readonly ContentBlock[];
  /** It was turned away and does not lie on the branch. */
  readonly aside: boolean;
}

/** The prompt the branch ends with, if it may be sent once more, and where the branch stood before it. */
async function readUnanswered(log: Conversation, facts: readonly Entry[]): Promise<Unanswered> {
  const [space, conversation] = [spaceOf(log), log.id];
  const { leaf } = await log.head();
  const beside = turnedAwayPrompt(facts);
  const away = beside === null ? null : await log.entry(beside);
  if (away?.parentId === leaf.id) {
    const content = unansweredContent(away, { own: true, toolStarted: false, cameBack: false });
    return { prompt: away.id, before: leaf, content, aside: true };
  }
  // Another model may have been chosen since: that answers nothing.
  const lastModelNode = await space.entry(conversation, await readLastModelNode(space, conversation, leaf));
  const last = decodeEntry(lastModelNode);
  const started = await log.entries({ after: last.seq, limit: 1, types: ["tool_intent"] });
  const own = lastModelNode.place?.conversation === conversation;
  const content = unansweredContent(last, {
    own,
    toolStarted: started.length > 0,
    cameBack: cameBack(last, facts),
  });
  const parent = last.parentId === null ? null : await space.entry(conversation, last.parentId);
  if (!parent?.place)
    throw new LogError("damaged", `Prompt ${last.id} has no parent entry`, { entry: last.id });
  const before = { ...parent.place, id: parent.id, tip: false };
  return { prompt: last.id, before, content, aside: false };
}

/** What an agent is asked to finish the reply with that the branch ends with; refused when there is none. */
async function readGoOn(conversation: Conversation, facts: readonly Entry[]): Promise<string> {
  const { leaf } = await conversation.head();
  const last = await readLastModelNode(spaceOf(conversation), conversation.id, leaf);
  checkCutOff(await conversation.entry(last), facts);
  return GO_ON;
}
