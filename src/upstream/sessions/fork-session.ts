import type { Entry, EntryBody } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { EntryId } from "#log/ids";
import { agentModel, cwdOf } from "#log/projections/settings";
import { linkRecords, type LinkRecord } from "#log/projections/link-records";
import type { Conversation } from "#conversation/conversation";
import { eachEntry } from "#conversation/read-log";
import { boundedSession } from "./bounded.ts";
import { checkUpstream } from "#upstream/agents";
import { cutAt, forkAtCut, idsBackTo } from "#conversation/read-cut";
import { readFacts } from "./live-sessions.ts";
import { readModelNodeAt } from "#turn/last-said";
import type { Host } from "#turn/host";
import { type Clock, systemClock, NEVER } from "#conversation/clock";
import { type Upstream, UpstreamFailure, type UpstreamSession } from "#upstream/upstream";
import { turnsOf } from "#log/projections/turns";
import { spaceOf } from "#conversation/on-space";

/** How the upstream came to know the branch: by forking its own session, or by being told in a preamble. */
type ForkFidelity = "native" | "preamble";

const FORK_MS = 60_000;

/** How long the agent may take to fork; then it is told again what it knows. */
export interface ForkPatience {
  readonly clock?: Clock;
  readonly forkMs?: number;
}

export interface Forked {
  readonly conversation: Conversation;
  readonly fidelity: ForkFidelity;
  /** The words of the user's message the fork was taken at, to be edited and sent again. */
  readonly editable: readonly ContentBlock[] | null;
}

/** A fork beside the conversation, at the leaf or at any entry. Durable, with its lineage, before its first prompt. */
export async function forkAside(
  conversation: Conversation,
  upstream: Upstream,
  options: ForkPatience &
    Pick<Host, "onEvent"> & {
      readonly at?: string;
      readonly id?: string;
      /** Makes a retry harmless: the same key is the same fork, and its agent is asked to fork once. */
      readonly key?: string;
      /** Where it is to live; with its source unless said otherwise. */
      readonly cwd?: string;
      /** Called when the fork is in the log, before its agent is asked to fork. */
      readonly prepare?: (child: Conversation) => Promise<void>;
      /** Writes the fork's link, in line with what else its host writes there; at once when absent. */
      readonly write?: (child: Conversation, body: EntryBody) => Promise<unknown>;
      /** Takes the session the agent forked; otherwise it is resumed by the first prompt. */
      readonly onSession?: (child: Conversation, ...forked: Parameters<OnSession>) => void;
    } = {},
): Promise<Forked> {
  checkUpstream(upstream, "The second argument");
  const { at: entry, id, key, cwd } = options;
  const {
    conversation: child,
    at,
    editable,
  } = await forkAtCut(conversation, {
    ...(entry === undefined ? {} : { at: entry }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(id === undefined ? {} : { id }),
    ...(key === undefined ? {} : { key }),
  });
  if (options.key !== undefined && (await child.facts(["upstream_link"])).length > 0)
    return { conversation: child, fidelity: "native", editable };
  await options.prepare?.(child);
  const { clock, forkMs, write, onSession } = options;
  const fidelity = await forkUpstream({
    ...(clock === undefined ? {} : { clock }),
    ...(forkMs === undefined ? {} : { forkMs }),
    ...(write === undefined ? {} : { write: (body: EntryBody) => write(child, body) }),
    ...(onSession === undefined
      ? {}
      : { onSession: (session: UpstreamSession, node: EntryId) => onSession(child, session, node) }),
    from: conversation,
    to: child,
    upstream,
    at,
    reason: "forked",
  });
  options.onEvent?.({
    type: "forked",
    conversation: child.id,
    upstream: null,
    source: conversation.id,
    at,
    fidelity,
  });
  return { conversation: child, fidelity, editable };
}

/**
 * Goes back before a user's message, in the same conversation, so that other words can take its place. What came
 * after leaves the active branch and is not destroyed; no text of it reaches the model again.
 */
export async function goBackTo(
  conversation: Conversation,
  upstream: Upstream,
  entry: string,
  options: ForkPatience = {},
): Promise<Omit<Forked, "conversation">> {
  checkUpstream(upstream, "The second argument");
  const { at, editable } = await cutAt(conversation, entry);
  await conversation.goTo(at);
  const fidelity = await forkUpstream({
    ...options,
    from: conversation,
    to: conversation,
    upstream,
    at,
    reason: "edited",
  });
  return { fidelity, editable };
}

export interface ForkAsideInput extends ForkPatience {
  readonly from: Conversation;
  readonly to: Conversation;
  readonly upstream: Upstream;
  /** The node it grows from. */
  readonly at: EntryId;
  readonly reason: string;
  /** Writes the link, for one who owns the conversation. */
  readonly write?: (body: EntryBody) => Promise<unknown>;
  /** Takes the session, for one who holds it until the next prompt. */
  readonly onSession?: OnSession;
}

type OnSession = (session: UpstreamSession, node: EntryId) => void;

/** Lets the upstream fork its own session where it can, so that nothing has to be told again. */
export async function forkUpstream(forking: ForkAsideInput): Promise<ForkFidelity> {
  const { from, to, upstream, at, reason } = forking;
  const facts = await readFacts(spaceOf(from), from.id);
  const link = headLink(facts, upstream);
  // Settings and notes between it and the fork say nothing to a model.
  const node = link === null ? null : await readModelNodeAt(spaceOf(from), from.id, at);
  if (link === null || node === null) return "preamble";
  const cut = turnsToKeep(facts, link, { fork: upstream.capabilities.fork, node });
  const turns = cut === "count" ? await countTurns(from, link, node) : cut;
  if (turns === null) return "preamble";
  const settings = await to.settings();
  const { config } = settings;
  const { cwd } = await to.head();
  try {
    const { clock = systemClock, forkMs: resumeMs = FORK_MS } = forking;
    const forked = upstream.fork(
      link.upstream,
      { conversation: to.id, cwd: cwdOf(config, cwd), model: agentModel(settings), config, usedAt: null },
      turns.keep,
    );
    const session = await boundedSession({ clock, resumeMs, cancelled: NEVER }, forked);
    const account = upstream.account === null ? {} : { account: upstream.account };
    const { agent } = upstream;
    const body = { type: "upstream_link", upstream: session.id, agent, ...account, reason, node } as const;
    await (forking.write?.(body) ?? to.append(body));
    forking.onSession?.(session, node);
    // Nothing of it can be compared, and nobody vouches for it: it is told everything with its first prompt.
    return session.transcript === null && !upstream.capabilities.trustedResume ? "preamble" : "native";
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return "preamble";
  }
}

/** Counting the turns a session is to keep costs what the session is long, not what the conversation is. */
async function countTurns(
  conversation: Conversation,
  link: LinkRecord,
  node: EntryId,
): Promise<{ readonly keep: number } | null> {
  const [space, id] = [spaceOf(conversation), conversation.id];
  const facts: Entry[] = [];
  const types = ["turn_start", "attempt", "turn_end"] as const;
  // A link is made in the middle of its first turn.
  const begun = await conversation.latest(["turn_start"], link.firstSeq);
  const after = (begun?.seq ?? link.firstSeq) - 1;
  await eachEntry(space, id, { types, after, onEntry: (fact) => facts.push(fact) });
  // The record of a long session was made of its latest turns only, and does not say where it began.
  const until = firstPrompt(facts, link.upstream);
  if (until === null) return null;
  return turnsOnBranch(facts, link.upstream, await idsBackTo(space, id, { from: node, until }));
}

function headLink(facts: readonly Entry[], upstream: Upstream): LinkRecord | null {
  const mine = linkRecords(facts).filter(
    (record) => record.agent === upstream.agent && record.account === upstream.account && !record.retired,
  );
  return mine.at(-1) ?? null;
}

/**
 * How many of an upstream's own turns lie on the branch up to a cut, so that it can be told to keep just those.
 * Null when that cannot be said: a turn it was sent did not complete, the cut lies between its turns, or before them.
 */
function turnsOnBranch(
  facts: readonly Entry[],
  upstream: string,
  branch: readonly EntryId[],
): { readonly keep: number } | null {
  const turns = turnsOf(facts).filter((turn) => turn.upstreams.includes(upstream));
  if (turns.some((turn) => turn.outcome !== "completed" || turn.upstreams.length !== 1)) return null;
  const ends = new Map<string, EntryId>();
  for (const fact of facts)
    if (fact.type === "turn_end" && fact.node !== undefined) ends.set(fact.turn, fact.node);
  const on = new Set<string>(branch);
  const firstOff = turns.findIndex((turn) => !on.has(ends.get(turn.id) ?? ""));
  const count = firstOff === -1 ? turns.length : firstOff;
  const last = turns[count - 1];
  return last !== undefined && ends.get(last.id) === branch.at(-1) ? { keep: count } : null;
}

/** The prompt of the first turn an upstream was given: what it holds begins there. Null when it was given none. */
function firstPrompt(facts: readonly Entry[], upstream: string): EntryId | null {
  const attempt = facts.find((fact) => fact.type === "attempt" && fact.upstream === upstream);
  if (attempt?.type !== "attempt") return null;
  const start = facts.find((fact) => fact.type === "turn_start" && fact.turn === attempt.turn);
  return (start?.type === "turn_start" ? start.prompt : null) ?? null;
}

/**
 * Which of its turns an upstream may keep in a fork of its own session at a node: all of them at its head (`undefined`),
 * or a counted few (`count`, by `turnsOnBranch`) where it can cut. Null when it must be told again instead: it cannot fork,
 * what it holds is not certain, or it holds something that was hidden since and would come back with it.
 */
export function turnsToKeep(
  facts: readonly Entry[],
  link: LinkRecord,
  at: { readonly fork: "none" | "head" | "message"; readonly node: EntryId },
): { readonly keep: undefined } | "count" | null {
  const hidden = facts.some((fact) => fact.type === "hide" && fact.seq > link.firstSeq);
  if (at.fork === "none" || hidden) return null;
  // A fork is made of the agent's record, in which a turn that was stopped need not stand, though its session holds it.
  if (link.lastNode === at.node) return link.uncertain || link.cutOff ? null : { keep: undefined };
  return at.fork === "message" ? "count" : null;
}
