import type { ContentBlock, Entry, EntryBody } from "../../log/entry.ts";
import { LogError } from "../../log/errors.ts";
import type { Leaf } from "../../log/head.ts";
import { type ConversationId, type EntryId, parseConversationId, parseEntryId } from "../../log/ids.ts";
import { queueOf } from "../../log/projections/queue.ts";
import { type Parked, parkedUntil } from "../../log/sending/parking.ts";
import { linkRecords } from "../../log/sending/proof.ts";
import { systemMint } from "../../store/prepare.ts";
import type { Conversation } from "../conversation.ts";
import type { Hold } from "../hold.ts";
import type { Owner } from "../owner.ts";
import { readSettings } from "../reading.ts";
import { LINKS_TRIED_MAX, type Live } from "./choose.ts";
import { readFacts, readUnanswered } from "./facts.ts";
import { type Clock, type Host, systemClock } from "./host.ts";
import { settleOpenTurn } from "./settle.ts";
import { emit } from "./turn-ground.ts";
import { runTurn, type TurnResult } from "./turn.ts";
import type { Upstream } from "./upstream.ts";

export interface RuntimeOptions {
  /** The agents a conversation may be carried by; the first is the default. */
  readonly upstreams: readonly [Upstream, ...Upstream[]];
  readonly clock?: Clock;
  /** Names this host; the same name may take its own conversation back after a crash. */
  readonly writer?: string;
  readonly leaseMs?: number;
  /** How long a cancelled prompt may take to end before control returns without it. */
  readonly cancelMs?: number;
  /** How long an agent may take to open or resume a session. */
  readonly resumeMs?: number;
  /** How long an agent may say nothing before it is taken for dead. */
  readonly silenceMs?: number;
  /** The same while one of its tools runs. */
  readonly toolSilenceMs?: number;
  /** How many links are tried for resume; the chain itself is never cut. */
  readonly linksTried?: number;
  readonly newId?: () => string;
}

const DEFAULTS = {
  clock: systemClock,
  writer: "holdfast",
  leaseMs: 30_000,
  cancelMs: 5_000,
  resumeMs: 60_000,
  silenceMs: 600_000,
  toolSilenceMs: 3_600_000,
  linksTried: LINKS_TRIED_MAX,
  newId: (): string => systemMint.newId(),
};

export interface SendRequest {
  readonly content: string | readonly ContentBlock[];
  readonly agent?: string;
  readonly account?: string;
  /** What to do when the agent is limited: wait for people, or carry on with the next agent. */
  readonly onLimit?: "park" | "switch";
  /** Tries a limited agent before its reset time. */
  readonly force?: boolean;
}

interface Sending extends SendRequest {
  readonly host: Host;
  readonly cancelled: AbortSignal;
  /** The prompt that is in the log already and goes out once more. */
  readonly again?: { readonly prompt: EntryId; readonly before: Leaf };
}

type Upstreams = readonly [Upstream, ...Upstream[]];

/** Sends prompts so that the conversation survives whatever becomes of the upstream. */
export class Runtime {
  readonly #hold: Hold;
  readonly #options: Required<RuntimeOptions>;
  readonly #live = new Map<ConversationId, Map<Upstream, Live>>();
  readonly #running = new Map<ConversationId, AbortController>();
  readonly #logins = new Map<Upstream, Promise<boolean>>();

  constructor(hold: Hold, options: RuntimeOptions) {
    this.#hold = hold;
    this.#options = { ...DEFAULTS, ...options };
  }

  /** Sends one prompt and resolves when its turn has ended, one way or another. */
  async send(id: string, request: SendRequest, host: Host): Promise<TurnResult> {
    return this.#alone(id, request, async (conversation, owner, cancelled) =>
      this.#send(conversation, owner, { ...request, host, cancelled, upstreams: this.#upstreams(request) }),
    );
  }

  /**
   * Sends the last prompt once more, without writing it again, when nothing has answered it: after a limit, a login or
   * an outage. Refused once anything came back, since a tool may have run.
   */
  async retry(id: string, request: Omit<SendRequest, "content">, host: Host): Promise<TurnResult> {
    return this.#alone(id, request, async (conversation, owner, cancelled) => {
      await this.#settle(conversation, owner);
      const { prompt, before, content } = await readUnanswered(this.#hold.space, conversation.id);
      const sending = { ...request, content, again: { prompt, before }, host, cancelled };
      return this.#send(conversation, owner, { ...sending, upstreams: this.#upstreams(request) });
    });
  }

  async #alone(
    id: string,
    request: Omit<SendRequest, "content">,
    work: (conversation: Conversation, owner: Owner, cancelled: AbortSignal) => Promise<TurnResult>,
  ): Promise<TurnResult> {
    const conversation = await this.#hold.conversation(id);
    this.#upstreams(request);
    if (this.#running.has(conversation.id))
      throw new LogError("busy", `A turn is running in conversation ${id}; steer it or cancel it first`, {
        conversation: id,
      });
    const cancel = new AbortController();
    this.#running.set(conversation.id, cancel);
    const { writer, leaseMs } = this.#options;
    try {
      await using owner = await conversation.own({ writer, leaseMs });
      using _renewing = this.#keepLease(owner);
      return await work(conversation, owner, cancel.signal);
    } finally {
      this.#running.delete(conversation.id);
    }
  }

  /** Ends what a dead process left open, and gives the facts a send is decided on. */
  async #settle(conversation: Conversation, owner: Owner): Promise<readonly Entry[]> {
    const { space } = this.#hold;
    const { newId } = this.#options;
    const facts = await readFacts(space, conversation.id);
    await settleOpenTurn({ space, conversation: conversation.id, owner, newId }, facts);
    return facts;
  }

  async #send(
    conversation: Conversation,
    owner: Owner,
    request: Sending & { readonly upstreams: Upstreams },
  ): Promise<TurnResult> {
    const { space } = this.#hold;
    const facts = await this.#settle(conversation, owner);
    const { leaf: now, cwd } = await conversation.head();
    const leaf = request.again?.before ?? now;
    const { model, config } = await readSettings(space, conversation.id, leaf);
    const accepted = this.#accept(request, facts);
    await owner.append(accepted.bodies);
    const { turn, content } = accepted;
    const prompt = parseEntryId(accepted.prompt);
    const { leaf: tip } = await conversation.head();
    const about = { host: request.host, conversation: conversation.id };
    emit(about, null, { type: "accepted", turn, prompt });
    const { free, parked } = this.#free(request, facts);
    const [first, ...others] = free;
    if (first === undefined) return this.#stayParked(owner, { ...about, turn, prompt, parked });
    const live = this.#live.get(conversation.id) ?? new Map<Upstream, Live>();
    // Forgotten until the turn has ended: nothing is known of a session whose turn was not recorded to its end.
    this.#live.delete(conversation.id);
    const {
      result,
      upstream,
      live: left,
    } = await runTurn(
      {
        ...this.#options,
        ...about,
        space,
        leaf,
        tip,
        settings: { cwd, model, config },
        owner,
        turn,
        prompt,
        content,
        cancelled: request.cancelled,
        liveOf: (asked) => live.get(asked) ?? null,
        login: (asked, message) => this.#login(asked, message, request),
      },
      [first, ...others],
    );
    if (left === null) live.delete(upstream);
    else live.set(upstream, left);
    this.#live.set(conversation.id, live);
    return result;
  }

  /** The prompt, what was typed before it, and the turn's start: durable before anything leaves. */
  #accept(
    request: Sending,
    facts: readonly Entry[],
  ): { bodies: readonly EntryBody[]; content: readonly ContentBlock[]; prompt: string; turn: string } {
    const { newId } = this.#options;
    const given: readonly ContentBlock[] =
      typeof request.content === "string" ? [{ type: "text", text: request.content }] : request.content;
    const [prompt, turn] = [request.again?.prompt ?? newId(), newId()];
    if (request.again !== undefined)
      return { bodies: [{ type: "turn_start", turn, prompt }], content: given, prompt, turn };
    const waiting = queueOf(facts);
    const steered = waiting.flatMap((queued): EntryBody[] => [
      { type: "message", message: { role: "user", content: queued.content } },
      { type: "steer", steer: queued.steer, state: "delivered" },
    ]);
    const message: EntryBody = { type: "message", id: prompt, message: { role: "user", content: given } };
    const content = [...waiting.flatMap((queued) => queued.content), ...given];
    return { bodies: [...steered, message, { type: "turn_start", turn, prompt }], content, prompt, turn };
  }

  #upstreams(request: Omit<SendRequest, "content">): Upstreams {
    const all = this.#options.upstreams;
    const { agent, account } = request;
    const chosen = all.find(
      (upstream) =>
        (agent ?? upstream.agent) === upstream.agent && (account ?? upstream.account) === upstream.account,
    );
    if (chosen === undefined)
      throw new LogError(
        "invalid_request",
        `There is no agent ${agent ?? account}; there are ${all.map((upstream) => upstream.agent).join(", ")}`,
      );
    return request.onLimit === "switch"
      ? [chosen, ...all.filter((upstream) => upstream !== chosen)]
      : [chosen];
  }

  /** The agents that may be asked now, and those that asked to be left alone until later. */
  #free(
    request: Sending & { readonly upstreams: Upstreams },
    facts: readonly Entry[],
  ): { readonly free: readonly Upstream[]; readonly parked: readonly Parked[] } {
    const records = linkRecords(facts);
    const free: Upstream[] = [];
    const parked: Parked[] = [];
    for (const upstream of request.upstreams) {
      const resetAt = request.force === true ? null : parkedUntil(facts, records, upstream);
      if (resetAt === null || Date.parse(resetAt) <= this.#options.clock.nowMs()) free.push(upstream);
      else
        parked.push({
          agent: upstream.agent,
          ...(upstream.account === null ? {} : { account: upstream.account }),
          resetAt,
        });
    }
    return { free, parked };
  }

  async #stayParked(
    owner: Owner,
    at: {
      readonly host: Host;
      readonly conversation: ConversationId;
      readonly turn: string;
      readonly prompt: TurnResult["prompt"];
      readonly parked: readonly Parked[];
    },
  ): Promise<TurnResult> {
    const { turn, prompt, parked } = at;
    const resetAtMs = Math.min(...parked.map((one) => Date.parse(one.resetAt)));
    const resetAt = new Date(resetAtMs).toISOString();
    await owner.append({ type: "turn_end", turn, outcome: "failed", class: "limit", resetAt, parked });
    const message = `The agent is limited until ${resetAt}; the prompt is kept`;
    emit(at, null, { type: "parked", class: "limit", resetAtMs, message });
    emit(at, null, { type: "ended", outcome: "failed", class: "limit" });
    return { turn, prompt, outcome: "failed", class: "limit", text: "", upstream: null, resetAtMs, message };
  }

  /** One login at a time per agent, however many conversations need it; a person who cancels does not wait for it. */
  async #login(upstream: Upstream, message: string, request: Sending): Promise<boolean> {
    const { host, cancelled } = request;
    if (host.onAuth === undefined) return false;
    const login =
      this.#logins.get(upstream) ?? host.onAuth(message).finally(() => this.#logins.delete(upstream));
    this.#logins.set(upstream, login);
    const { promise, resolve } = Promise.withResolvers<boolean>();
    cancelled.addEventListener("abort", () => resolve(false), { once: true });
    return Promise.race([login, promise]);
  }

  /** Returns control in bounded time, even when the agent ignores it. */
  cancel(id: string): boolean {
    const running = this.#running.get(parseConversationId(id));
    running?.abort();
    return running !== undefined;
  }

  #keepLease(owner: Owner): Disposable {
    const stop = new AbortController();
    const { clock, leaseMs } = this.#options;
    const renew = async (): Promise<void> => {
      for (;;) {
        await clock.sleep(leaseMs / 3, stop.signal);
        if (stop.signal.aborted) return;
        await owner.renew();
      }
    };
    // A lost lease shows as a fenced append; the loop only saves others from waiting.
    renew().catch(() => undefined);
    return { [Symbol.dispose]: () => stop.abort() };
  }
}
