import type { Entry, Fidelity, EntryBody } from "#log/entry";
import type { Message } from "#log/message";
import type { EntryId } from "#log/ids";
import { withoutPoison } from "#upstream/rules/prior-budget";
import { isBehind, proofOf, sessionIsGone, type LinkPosition } from "#upstream/rules/proof";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";
import { compareTurns, type Comparison, transcriptMatches } from "#upstream/rules/transcript";
import { withImages } from "#conversation/image-blobs";
import { readContext } from "#conversation/reading";
import { bounded, boundedSession, boundsOf } from "./bounded.ts";
import { lastTexts, readSessionTurns, departureReason } from "./branch-reads.ts";
import type { Live, SessionParts } from "#upstream/turn-parts";
import { type Upstream, UpstreamFailure, type UpstreamSession } from "#upstream/upstream";
import { spaceOf } from "#conversation/on-space";

export const LINKS_TRIED_MAX = 16;
const IN_USE_MS = 5_000; // another window lets go within a moment; another program may have it open for hours
const IN_USE_LOOK_MS = 100;
const FORKED_TEXTS = 2; // a fork holds what its source held, which may begin anywhere: only its end can be compared

/** What may differ from one attempt of a turn to the next. */
export interface ChooseInput {
  readonly upstream: Upstream;
  readonly facts: readonly Entry[];
  readonly live: Live | null;
  /** Why nothing that is there may be used; null when it may. */
  readonly fresh: string | null;
  /** The process was replaced in this turn already. */
  readonly restarted: boolean;
  /** A new session may be given the whole history. */
  readonly whole: boolean;
  /** Nodes whose content no session may be given. */
  readonly poisoned: ReadonlySet<EntryId>;
  /** No turn asks, so no other client of the conversation is told by the log that its session is needed. */
  readonly inTurn?: false;
}

export interface Choice {
  readonly session: UpstreamSession;
  /** The id it goes by now. */
  readonly id: string;
  readonly proven: boolean;
  /** The last node it holds of the branch or was told of: what came after has to be said. Null: all of it has. */
  readonly knownUpTo: EntryId | null;
  readonly fidelity: Fidelity;
  /** Why a new link is needed; null when the id is at the head of the chain already. */
  readonly reason: string | null;
  /** Nothing was lost: there is nothing to tell a person. */
  readonly silent: boolean;
  /** The session was last used for a turn that was cut off. */
  readonly suspicious: boolean;
  /** The last node the session itself was given or gave. */
  readonly lastNode: EntryId | null;
}

/** Live, else the head of the chain, else an older link that can be proven, else a new session; never silently less. */
export async function chooseSession(parts: SessionParts, asking: ChooseInput): Promise<Choice> {
  const { fresh, upstream } = asking;
  if (fresh !== null) return openSession(parts, asking, { reason: fresh, silent: false });
  const all = linkRecords(asking.facts);
  const mine = all.filter((record) => record.agent === upstream.agent && record.account === upstream.account);
  const candidates = mine
    .filter((record) => record.retired === null)
    .slice(-parts.options.linksTried)
    .toReversed();
  let reason = newReason(all, mine);
  for (const [at, record] of candidates.entries()) {
    const tried = await tryLink(parts, asking, { record, isHead: at === 0 });
    if (typeof tried !== "string")
      return { ...tried, reason: record.upstream === all.at(-1)?.upstream ? null : "switched_back" };
    if (at === 0) reason = record.lastNode === null ? "never_used" : tried;
  }
  return openSession(parts, asking, { reason, silent: !mine.some((record) => record.answered) });
}

function newReason(all: readonly LinkRecord[], mine: readonly LinkRecord[]): string {
  if (all.length === 0) return "first";
  return mine.at(-1)?.retired ?? "agent_switch";
}

/** Every way to a new session leads through here: it is given the whole history where it can take it. */
async function openSession(
  parts: SessionParts,
  asking: ChooseInput,
  why: { readonly reason: string; readonly silent: boolean },
): Promise<Choice> {
  const restored = asking.whole ? await restoreSession(parts, asking) : null;
  const session =
    restored ?? (await boundedSession(boundsOf(parts), asking.upstream.open(parts.branch.settings)));
  return {
    session,
    id: session.id,
    proven: restored !== null,
    knownUpTo: restored === null ? null : parts.branch.lastModelNode,
    fidelity: restored === null ? "preamble" : "transcript",
    suspicious: false,
    lastNode: restored === null ? null : parts.branch.lastModelNode,
    ...why,
  };
}

async function restoreSession(
  parts: SessionParts,
  { upstream, poisoned }: ChooseInput,
): Promise<UpstreamSession | null> {
  if (upstream.restore === undefined) return null;
  const { id } = parts.work.conversation;
  const { messages } = await readContext(spaceOf(parts.work.conversation), id, parts.branch.leaf);
  if (messages.length === 0) return null;
  const history: Message[] = [];
  for (const message of withoutPoison(messages, poisoned)) {
    const content = await withImages(parts.work.conversation, message.content);
    history.push({ ...message, content });
  }
  const restored = upstream.restore(history, parts.branch.settings).then((session) => {
    if (session === null) throw new Error("The agent does not accept a history");
    return session;
  });
  // A preamble will do; what is wrong with the agent itself shows when it is asked for a session.
  return boundedSession(boundsOf(parts), restored).catch(() => null);
}

/** The same, where a process that crashed at it is ended and tried once more. */
export async function chooseRestarting(
  parts: SessionParts,
  asking: Omit<ChooseInput, "restarted">,
): Promise<Choice> {
  try {
    return await chooseSession(parts, { ...asking, restarted: false });
  } catch (error) {
    if (!(error instanceof UpstreamFailure) || error.ending.class !== "crashed") throw error;
    await bounded(boundsOf(parts), asking.upstream.restart(error.process));
    return chooseSession(parts, { ...asking, restarted: true });
  }
}

interface TryLinkInput {
  readonly record: LinkRecord;
  readonly isHead: boolean;
}

interface PlacedLink extends TryLinkInput {
  readonly position: Omit<LinkPosition, "knownUpTo">;
}

/** The session of one link, or why it is not used. */
async function tryLink(
  parts: SessionParts,
  asking: ChooseInput,
  trying: TryLinkInput,
): Promise<Omit<Choice, "reason"> | string> {
  const { record, isHead } = trying;
  const { upstream, live } = asking;
  const { branch } = parts;
  const { id } = parts.work.conversation;
  const space = spaceOf(parts.work.conversation);
  const reason =
    record.lastNode === null || record.lastNode === branch.lastModelNode
      ? null
      : await departureReason(space, id, (await parts.work.branchEnd.owned()).leaf, record.lastNode);
  const position: Omit<LinkPosition, "knownUpTo"> = {
    lastModelNode: branch.lastModelNode,
    prompt: branch.tip,
    onBranch: record.lastNode !== null && reason === null,
    hiddenSince: asking.facts.some((fact) => fact.type === "hide" && fact.seq > record.firstSeq),
  };
  const atBest = proofOf(record, { ...position, knownUpTo: record.uncertain ? null : record.lastNode });
  if (atBest === "tainted") return reason ?? "branch_left";
  if (live !== null && live.id === record.upstream && live.session.process === live.process) {
    if (isBehind(record, live)) await letGo(parts, live);
    else if (live.forked === true)
      return compareSession(parts, asking, { ...trying, position, session: live.session });
    else {
      const proven = proofOf(record, { ...position, knownUpTo: live.holds }) === "proven";
      if (proven || isHead) return choice(live.session, { proven, knownUpTo: live.holds, record });
    }
  }
  // An older link is worth a call only if it could turn out to hold everything.
  if (!upstream.capabilities.resume || (!isHead && atBest !== "proven")) return "lost";
  return resumeLink(parts, asking, { ...trying, position });
}

/** What the process has in memory must not be taken up again by the resume. */
async function letGo(parts: SessionParts, live: Live): Promise<void> {
  await bounded(boundsOf(parts), live.session.close()).catch(() => undefined);
}

function choice(
  session: UpstreamSession,
  about: { readonly proven: boolean; readonly knownUpTo: EntryId | null; readonly record: LinkRecord },
): Omit<Choice, "reason"> {
  const { proven, knownUpTo, record } = about;
  const fidelity = proven ? "native" : "preamble";
  return {
    session,
    id: record.upstream,
    proven,
    knownUpTo,
    fidelity,
    silent: true,
    suspicious: record.cutOff,
    lastNode: record.lastNode,
  };
}

async function resumeLink(
  parts: SessionParts,
  asking: ChooseInput,
  trying: PlacedLink,
): Promise<Omit<Choice, "reason"> | string> {
  // A session that does not answer is given up, not the process: others may be at work in it.
  const bounds = { ...boundsOf(parts), late: "lost" } as const;
  for (let waitedMs = 0; ; waitedMs += IN_USE_LOOK_MS) {
    try {
      const resumed = asking.upstream.resume(trying.record.upstream, parts.branch.settings);
      return await compareSession(parts, asking, {
        ...trying,
        session: await boundedSession(bounds, resumed),
      });
    } catch (error) {
      if (!(error instanceof UpstreamFailure)) throw error;
      // Without a turn there is time: the next prompt asks for it.
      if (error.inUse && asking.inTurn === false) throw error;
      const waits = error.inUse && waitedMs < IN_USE_MS && !bounds.cancelled.aborted;
      if (waits) await bounds.clock.sleep(IN_USE_LOOK_MS, bounds.cancelled);
      else if (error.inUse) return "in_use";
      else if (sessionIsGone(error.ending.class, asking.restarted)) return error.ending.class;
      else throw error;
    }
  }
}

/** A session that was made of the agent's record, by a resume or a fork: what it holds is what it shows. */
async function compareSession(
  parts: SessionParts,
  asking: ChooseInput,
  trying: PlacedLink & { readonly session: UpstreamSession },
): Promise<Omit<Choice, "reason"> | string> {
  const { record, position, isHead, session } = trying;
  const { whole, knownUpTo } = await compared(parts, asking, { record, transcript: session.transcript });
  const proven = proofOf(record, { ...position, knownUpTo }) === "proven";
  // One that shows less than it carried has lost something: it is not used, and the loss is told.
  if (!whole || (!proven && !isHead)) {
    session.close().catch(() => undefined);
    return "lost";
  }
  return choice(session, { proven, knownUpTo, record });
}

interface CompareInput {
  readonly record: LinkRecord;
  readonly transcript: UpstreamSession["transcript"];
}

/** What a session holds, by what it shows of itself. */
async function compared(parts: SessionParts, asking: ChooseInput, at: CompareInput): Promise<Comparison> {
  const { record, transcript } = at;
  const { branch } = parts;
  const { id } = parts.work.conversation;
  const space = spaceOf(parts.work.conversation);
  if (transcript === null)
    return { whole: true, knownUpTo: asking.upstream.capabilities.trustedResume ? record.knownUpTo : null };
  if (record.since === null && record.knownUpTo === null) return { whole: true, knownUpTo: null };
  const end = await parts.work.branchEnd.owned();
  const comparison = compareTurns(
    transcript,
    await readSessionTurns(space, id, { ...asking, end, link: record }),
  );
  if (record.since !== null) return comparison;
  const texts = await lastTexts(space, id, { from: branch.leaf, count: FORKED_TEXTS, until: null });
  const whole = record.lastNode !== branch.lastModelNode || transcriptMatches(transcript, texts);
  return { whole, knownUpTo: comparison.knownUpTo === null ? null : record.knownUpTo };
}

/** The link is durable, with its reason, before the first prompt goes to the id. */
export function linkBody(
  link: { readonly id: string; readonly reason: string | null; readonly node?: string | null },
  upstream: Upstream,
): readonly EntryBody[] {
  const { id, reason, node = null } = link;
  if (reason === null) return [];
  const account = upstream.account === null ? {} : { account: upstream.account };
  const place = node === null ? {} : { node };
  return [{ type: "upstream_link", upstream: id, agent: upstream.agent, ...account, reason, ...place }];
}
