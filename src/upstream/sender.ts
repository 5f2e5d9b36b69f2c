import type { Entry } from "#log/entry";
import { type ConversationId, parseEntryId } from "#log/ids";
import { keepImages, withImages } from "#conversation/image-blobs";
import { accept, type Accepted, type Prompt } from "#turn/accept";
import { settleOpenTurn } from "#turn/settle";
import { SteeredTurns } from "#turn/steering";
import { Logins, type Upstreams, upstreamsFor } from "./agents.ts";
import type { Leaf } from "#log/lineage/head";
import { agentModel, cwdOf } from "#log/projections/settings";
import { readLastModelNode } from "#turn/last-said";
import { settingsAtEnd } from "./sessions/branch-end.ts";
import { readNear } from "./sessions/branch-reads.ts";
import { chooseRestarting, linkBody } from "./sessions/choose.ts";
import { continueFrom, type ContinueInput, namesOf } from "./sessions/prompt-origin.ts";
import { LiveSessions } from "./sessions/live-sessions.ts";
import type { AgentOptions, SendOptions, Settled } from "./options.ts";
import { firstReset, freeAgents, turnAway } from "./parked.ts";
import { type Connected, readMissingContext } from "./missing-context.ts";
import { readCarryLimits } from "./context-limits.ts";
import { adoptTurns } from "./sessions/adopt-turns.ts";
import { adoptUnrecorded } from "./sessions/unrecorded-effects.ts";
import { askSwitch, runTurn } from "./turn.ts";
import type { SendResult } from "./finish-turn.ts";
import type { BranchState, Turn, Work } from "./turn-parts.ts";
import { emit } from "#turn/host";
import type { Upstream } from "./upstream.ts";
import { type Clock, NEVER } from "#conversation/clock";
import { LogError } from "#log/errors";
import { turnsOf } from "#log/projections/turns";
import { bounded } from "./sessions/bounded.ts";
import { spaceOf } from "#conversation/on-space";

/** What is sent, once it is known what that is. */
export interface SendInput {
  readonly prompt: Prompt;
  readonly key: string | undefined;
  readonly options: SendOptions;
}

/** Carries out what the runtime is asked for, in a conversation that is owned for it. */
export class Sender {
  readonly #options: Settled;
  readonly #live: LiveSessions;
  readonly #steers: SteeredTurns;
  readonly #logins = new Logins();

  constructor(options: Settled, live: LiveSessions, steers: SteeredTurns) {
    this.#options = options;
    this.#live = live;
    this.#steers = steers;
  }

  #upstreams(options: AgentOptions & Pick<SendOptions, "whenLimited">): Upstreams {
    return upstreamsFor(this.#options.upstreams, options);
  }

  /** Ends what a dead process left open, its own process first, and gives the facts a send is decided on. */
  async settle(work: Work): Promise<readonly Entry[]> {
    const facts = await work.facts.owned();
    await endAbandonedProcess(facts, this.#options);
    const settled = await settleOpenTurn({ ...work, newId: this.#options.newId }, facts);
    const now = settled === null ? facts : await work.facts.owned();
    await adoptUnrecorded({ ...this.#options, ...work }, now);
    return now;
  }

  /** The branch before a prompt, once what was left open is settled and what was said behind our back is in the log. */
  async #branch(work: Work, upstream: Upstream, prompt: Prompt | null): Promise<BranchState> {
    const facts = await this.settle(work);
    const before = prompt?.again?.before ?? null;
    const branch = await readBranchState(work, facts, before);
    const parts = { work, branch, options: this.#options };
    const adopted = before === null ? await adoptTurns(parts, upstream, facts) : null;
    if (adopted === null) return branch;
    emit(work, null, { type: "adopted", ...adopted });
    // The session held here does not know of those turns.
    await this.#live.closeAll(work.conversation.id);
    return readBranchState(work, await work.facts.owned(), null);
  }

  async connect(work: Work, upstream: Upstream): Promise<Connected> {
    const conversation = work.conversation.id;
    const branch = await this.#branch(work, upstream, null);
    const parts = { work, branch, options: this.#options };
    const live = this.#live.get(conversation, upstream);
    const facts = await work.facts.owned();
    const limits = await readCarryLimits(parts, facts, upstream.agent);
    const choice = await chooseRestarting(parts, {
      upstream,
      facts,
      live,
      fresh: null,
      inTurn: false,
      ...limits,
    });
    const { id, session, reason, silent, knownUpTo } = choice;
    const { fidelity, priorContext } = await readMissingContext(parts, choice, {
      ...limits,
      firstUse: false,
    });
    const link = linkBody({ id, reason, node: fidelity === "transcript" ? knownUpTo : null }, upstream);
    this.#live.keep(conversation, upstream, { id, session, process: session.process, holds: knownUpTo });
    if (link.length > 0)
      await work.owner.append(link).catch((error: unknown) => this.#fail(conversation, error));
    return { agent: upstream.agent, session, reason, fidelity, silent, priorContext };
  }

  /** Nothing is known of sessions whose work could not be recorded to its end. */
  async #fail(conversation: ConversationId, error: unknown): Promise<never> {
    await this.#live.closeAll(conversation);
    throw error;
  }

  async send(work: Work, sending: SendInput): Promise<SendResult> {
    const { options, prompt: originalPrompt } = sending;
    const moved = await this.#continueFrom(work, sending);
    const upstreams = this.#upstreams(moved === null ? options : { ...options, ...namesOf(moved.upstream) });
    const [chosen] = upstreams;
    const before = await this.#branch(work, chosen, originalPrompt);
    const facts = await work.facts.owned();
    const all = { free: upstreams, parked: [] };
    const nowMs = this.#options.clock.nowMs();
    const { free, parked } = options.force === true ? all : freeAgents(upstreams, facts, nowMs);
    // What was typed before waits on where nobody can be asked.
    const turnFacts = free.length > 0 ? facts : facts.filter((fact) => fact.type !== "steer");
    const { waiting, steered, ...accepted } = await this.#accept(work, sending, turnFacts);
    const prompt = { ...accepted, wire: steered ? undefined : options.wire };
    const { whenLimited = "park" } = options;
    const [first, ...others] = free;
    const asks = whenLimited === "ask" && first !== undefined && first !== chosen;
    const declined = asks && !(await askSwitch(work, chosen, first, firstReset(parked)));
    const lay = originalPrompt.again?.aside === false;
    if (first === undefined || declined)
      return turnAway(work, { ...prompt, back: lay ? null : before.leaf.id, steers: waiting }, parked);
    if (first !== chosen && parked.length > 0)
      emit(work, null, { type: "switched", from: chosen.agent, to: first.agent });
    const branch = { ...before, tip: lay ? before.tip : prompt.id };
    const fresh = moved?.fresh ?? null;
    return this.#run(
      { work, branch, options: this.#options, prompt },
      { whenLimited, fresh, upstreams: [first, ...others] },
    );
  }

  /** The prompt is durable, with its turn's start, before anything leaves. */
  async #accept(
    work: Work,
    { prompt, key }: SendInput,
    facts: readonly Entry[],
  ): Promise<Turn["prompt"] & Pick<Accepted, "steered" | "waiting">> {
    const storedContent = await keepImages(work.conversation, prompt.content);
    const { newId, pool } = this.#options;
    const accepted = accept({ ...prompt, content: storedContent, holder: pool.holder }, facts, newId);
    const content = await withImages(work.conversation, accepted.content);
    const { fromSeq } = await work.owner.append(accepted.bodies, key === undefined ? {} : { key });
    const { turn, steered, waiting } = accepted;
    const after = fromSeq - 1;
    emit(work, null, { type: "accepted", turn, prompt: accepted.prompt, after, resumed: false });
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
      liveOf: (upstream) => this.#live.get(id, upstream),
      login: (upstream, message) => this.#logins.ask(upstream, message, work),
    };
    const ended = await runTurn({ ...turn, carrier }, by.upstreams)
      .finally(() => this.#steers.end(id))
      .catch((error: unknown) => this.#fail(id, error));
    this.#live.keep(id, ended.upstream, ended.live);
    return ended.result;
  }

  /** Moves to where the prompt is to go on from, once what a dead process left there is settled. */
  async #continueFrom(work: Work, { prompt, options }: SendInput): Promise<ContinueInput | null> {
    const { from } = options;
    if (from === undefined || prompt.again !== undefined) return null;
    await this.settle(work);
    const [upstream] = this.#upstreams(options);
    const { id } = work.conversation;
    const { upstreams, clock } = this.#options;
    const moved = await continueFrom({ work, upstreams, clock, upstream }, from);
    const session = this.#live.get(id, moved.upstream);
    if (moved.live !== null) {
      this.#live.keep(id, moved.upstream, moved.live);
      await session?.session.close().catch(() => undefined);
    }
    emit(work, null, moved.event);
    return moved;
  }
}

/** Where the branch stands before a prompt: at its end, or where it stood before a prompt that is sent again. */
async function readBranchState(
  { conversation, branchEnd }: Work,
  facts: readonly Entry[],
  before: Leaf | null,
): Promise<BranchState> {
  const { id } = conversation;
  const space = spaceOf(conversation);
  const end = await branchEnd.owned();
  const now = settingsAtEnd(end);
  const leaf = before ?? end.leaf;
  const near = before === null ? end : await readNear(space, id, before);
  const usedAt = facts.findLast((fact) => fact.type === "attempt" || fact.type === "turn_end")?.time ?? null;
  const { config } = now;
  const cwd = cwdOf(config, end.cwd);
  const settings = { conversation: id, cwd, model: agentModel(now), config, usedAt };
  const lastModelNode = await readLastModelNode(space, id, leaf, near);
  return { leaf, near, lastModelNode, settings, tip: end.leaf.id };
}

/** Ends the process of a turn nobody ended, before anything is sent to another. */
async function endAbandonedProcess(
  facts: readonly Entry[],
  at: {
    readonly upstreams: readonly [Upstream, ...Upstream[]];
    readonly clock: Clock;
    readonly resumeMs: number;
  },
): Promise<void> {
  const process = abandonedProcess(facts);
  if (process === null) return;
  const { upstreams } = at;
  const own = upstreams.find(({ agent, account }) => agent === process.agent && account === process.account);
  try {
    await bounded({ ...at, cancelled: NEVER }, (own ?? upstreams[0]).restart(process.process));
  } catch (cause) {
    const why =
      "The agent of the last turn may still be running and could not be stopped. Stop its process, then try again.";
    throw new LogError("busy", why, {}, { cause });
  }
}

/** The process that was asked last in a turn nobody ended: it may be at work still. */
function abandonedProcess(facts: readonly Entry[]): {
  readonly agent: string | null;
  readonly account: string | null;
  readonly process: string;
} | null {
  const open = turnsOf(facts).findLast((turn) => turn.outcome === null);
  const attempt = facts.findLast((fact) => fact.type === "attempt" && fact.turn === open?.id);
  if (attempt?.type !== "attempt" || attempt.process === undefined) return null;
  const link = facts.findLast((fact) => fact.type === "upstream_link" && fact.upstream === attempt.upstream);
  const [agent, account] = link?.type === "upstream_link" ? [link.agent, link.account ?? null] : [null, null];
  return { agent, account, process: attempt.process };
}
