import type { ContentBlock, Entry, EntryBody } from "../../log/entry.ts";
import type { EntryId } from "../../log/ids.ts";
import { cwdOf } from "../../log/projections/settings.ts";
import { cutPoint } from "../../log/sending/cut-point.ts";
import { turnsToKeep } from "../../log/sending/kept-turns.ts";
import { linkRecords, type LinkRecord } from "../../log/sending/proof.ts";
import type { Conversation } from "../conversation.ts";
import { boundedSession } from "./bounded.ts";
import { checkUpstream } from "./check-given.ts";
import { type Clock, type Host, systemClock } from "./host.ts";
import { type Upstream, UpstreamFailure, type UpstreamSession } from "./upstream.ts";

/** How the upstream came to know the branch: by forking its own session, or by being told in a preamble. */
type ForkFidelity = "native" | "preamble";

const FORK_MS = 60_000;
const NEVER = new AbortController().signal;

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
  options: ForkPatience & {
    readonly at?: string;
    readonly id?: string;
    /** Where it is to live; with its source unless said otherwise. */
    readonly cwd?: string;
    readonly host?: Host;
    /** Called when the fork is in the log, before its agent is asked to fork. */
    readonly prepare?: (child: Conversation) => Promise<void>;
    /** Takes the session the agent forked; otherwise it is resumed by the first prompt. */
    readonly onSession?: (child: Conversation, ...forked: Parameters<OnSession>) => void;
  } = {},
): Promise<Forked> {
  checkUpstream(upstream, "The second argument");
  const { branch, editable } = await cutAt(conversation, options.at);
  const at = branch.at(-1)?.id;
  const cwd = options.cwd ?? (await conversation.head()).cwd;
  const child = await conversation.fork({
    ...(cwd === null ? {} : { cwd }),
    ...(at === undefined ? {} : { at }),
    ...(options.id === undefined ? {} : { id: options.id }),
  });
  await options.prepare?.(child);
  const { clock, forkMs, onSession } = options;
  const fidelity = await forkUpstream({
    ...(clock === undefined ? {} : { clock }),
    ...(forkMs === undefined ? {} : { forkMs }),
    ...(onSession === undefined
      ? {}
      : { onSession: (session: UpstreamSession, node: EntryId) => onSession(child, session, node) }),
    from: conversation,
    to: child,
    upstream,
    branch,
    reason: "forked",
  });
  options.host?.onEvent({
    type: "forked",
    conversation: child.id,
    upstream: null,
    source: conversation.id,
    at: at ?? "",
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
  const { branch, editable } = await cutAt(conversation, entry);
  const at = branch.at(-1)?.id;
  if (at !== undefined) await conversation.goTo(at);
  const fidelity = await forkUpstream({
    ...options,
    from: conversation,
    to: conversation,
    upstream,
    branch,
    reason: "edited",
  });
  return { fidelity, editable };
}

/** The branch up to the cut, and the words that are cut off with it. */
export async function cutAt(
  conversation: Conversation,
  entry: string | undefined,
): Promise<{ readonly branch: readonly Entry[]; readonly editable: readonly ContentBlock[] | null }> {
  // At the head only the leaf matters, so a fork there costs the same at any length.
  if (entry === undefined) {
    const { leaf } = await conversation.head();
    return { branch: [await conversation.entry(leaf.id)], editable: null };
  }
  const active = await conversation.branch();
  const through = active.some((node) => node.id === entry)
    ? active
    : await conversation.branch({ at: entry });
  const point = cutPoint(through, (await conversation.entry(entry)).id);
  return {
    branch: through.slice(0, through.findIndex((node) => node.id === point.at) + 1),
    editable: point.editable,
  };
}

export interface Forking extends ForkPatience {
  readonly from: Conversation;
  readonly to: Conversation;
  readonly upstream: Upstream;
  readonly branch: readonly Entry[];
  readonly reason: string;
  /** Writes the link, for one who owns the conversation. */
  readonly write?: (body: EntryBody) => Promise<unknown>;
  /** Takes the session, for one who holds it until the next prompt. */
  readonly onSession?: OnSession;
}

type OnSession = (session: UpstreamSession, node: EntryId) => void;

/** Lets the upstream fork its own session where it can, so that nothing has to be told again. */
export async function forkUpstream(forking: Forking): Promise<ForkFidelity> {
  const { from, to, upstream, branch, reason } = forking;
  const facts = await from.facts([
    "upstream_link",
    "upstream_end",
    "attempt",
    "turn_start",
    "turn_end",
    "hide",
  ]);
  const link = headLink(facts, upstream);
  const node = branch.at(-1)?.id;
  if (link === null || node === undefined) return "preamble";
  const { fork } = upstream.capabilities;
  const turns = turnsToKeep(facts, link, { fork, branch: branch.map((entry) => entry.id) });
  if (turns === null) return "preamble";
  const { model, config } = await to.context();
  const { cwd } = await to.head();
  try {
    const { clock = systemClock, forkMs: resumeMs = FORK_MS } = forking;
    const forked = upstream.fork(
      link.upstream,
      { conversation: to.id, cwd: cwdOf(config, cwd), model, config, usedAt: null },
      turns.keep,
    );
    const session = await boundedSession({ clock, resumeMs, cancelled: NEVER }, forked);
    const account = upstream.account === null ? {} : { account: upstream.account };
    const { agent } = upstream;
    const body = { type: "upstream_link", upstream: session.id, agent, ...account, reason, node } as const;
    await (forking.write?.(body) ?? to.append(body));
    forking.onSession?.(session, node);
    return "native";
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return "preamble";
  }
}

function headLink(facts: readonly Entry[], upstream: Upstream): LinkRecord | null {
  const mine = linkRecords(facts).filter(
    (record) => record.agent === upstream.agent && record.account === upstream.account && !record.retired,
  );
  return mine.at(-1) ?? null;
}
