import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";
import type { Conversation, ForkOptions } from "#conversation/conversation";
import { type ForkAsideInput, forkUpstream } from "./fork-session.ts";
import { cutAt } from "#conversation/read-cut";
import type { Host, HostEvent } from "#turn/host";
import { moveBranch } from "#turn/turns";
import type { Clock } from "#conversation/clock";
import type { AgentOptions, From } from "#upstream/options";
import type { Live, Work } from "#upstream/turn-parts";
import type { Upstream, UpstreamSession } from "#upstream/upstream";

interface MoveInput {
  readonly work: Pick<Work, "conversation" | "owner">;
  readonly upstreams: readonly Upstream[];
  /** The one that is asked, unless a session of another is. */
  readonly upstream: Upstream;
  readonly clock: Clock;
}

/** Where a fork is taken, what it is called and where it lives; who is asked to fork, and who is told. */
export interface ForkAsideOptions extends AgentOptions, ForkOptions, Pick<Host, "onEvent"> {
  /** Called when the fork is in the log, before its agent is asked to fork. */
  readonly prepare?: (child: Conversation) => Promise<void>;
  /** How long the agent may take to fork; then it is told again what it knows. */
  readonly forkMs?: number;
}

export function namesOf({ agent, account }: Upstream): AgentOptions {
  return { agent, ...(account === null ? {} : { account }) };
}

/** Where the prompt goes on from, and what it may be sent to there. */
export interface ContinueInput {
  readonly upstream: Upstream;
  /** The session that was forked for it; null when none was. */
  readonly live: Live | null;
  /** Why nothing that is there may be used; null when it may. */
  readonly fresh: string | null;
  readonly event: Omit<Extract<HostEvent, { type: "continued" }>, "conversation" | "upstream">;
}

/** Moves the branch's end to where a prompt is to go on from. What is left is not destroyed. */
export async function continueFrom(at: MoveInput, from: From): Promise<ContinueInput> {
  if ("edit" in from) return editAt(at, from.edit);
  if ("upstream" in from) return resumeLink(at, from.upstream);
  return forkInPlace(at);
}

async function editAt(at: MoveInput, entry: string): Promise<ContinueInput> {
  const { at: node, editable } = await cutAt(at.work.conversation, entry);
  if (editable === null)
    throw new LogError("invalid_request", `Entry ${entry} is not a user message, so it cannot be edited`, {
      entry,
    });
  await moveBranch(at.work, node);
  const forked = await fork(at, { at: node, reason: "edited" });
  const event = { type: "continued", how: "edited", at: node, fidelity: forked.fidelity } as const;
  return { upstream: at.upstream, live: forked.live, fresh: null, event };
}

async function forkInPlace(at: MoveInput): Promise<ContinueInput> {
  const { at: node } = await cutAt(at.work.conversation, undefined);
  const forked = await fork(at, { at: node, reason: "forked" });
  const { fidelity, live } = forked;
  const event = { type: "continued", how: "forked", at: node, fidelity } as const;
  // One that cannot fork begins anew and is told: the session there stays as it is.
  return { upstream: at.upstream, live, fresh: live === null ? "forked" : null, event };
}

async function fork(
  at: MoveInput,
  input: Pick<ForkAsideInput, "at" | "reason">,
): Promise<{ readonly fidelity: "native" | "preamble"; readonly live: Live | null }> {
  const { upstream, clock } = at;
  const { conversation, owner } = at.work;
  const sessions: Live[] = [];
  const fidelity = await forkUpstream({
    ...input,
    clock,
    upstream,
    from: conversation,
    to: conversation,
    write: (body) => owner.append(body),
    onSession: (session, node) => sessions.push(liveOf(session, node)),
  });
  return { fidelity, live: sessions[0] ?? null };
}

/** A session that was just forked is to hold what its source held. */
export function liveOf(session: UpstreamSession, node: EntryId): Live {
  return { id: session.id, session, process: session.process, holds: node, forked: true };
}

async function resumeLink(at: MoveInput, id: string): Promise<ContinueInput> {
  const facts = await at.work.conversation.facts([
    "upstream_link",
    "upstream_end",
    "attempt",
    "turn_start",
    "turn_end",
  ]);
  const link = linkRecords(facts).find((record) => record.upstream === id);
  const { lastNode, upstream } = usable(at, id, link);
  await moveBranch(at.work, lastNode);
  await at.work.owner.append({
    type: "upstream_link",
    upstream: id,
    agent: upstream.agent,
    ...(upstream.account === null ? {} : { account: upstream.account }),
    reason: "chosen",
    node: lastNode,
  });
  const event = { type: "continued", how: "resumed", at: lastNode, fidelity: "native" } as const;
  return { upstream, live: null, fresh: null, event };
}

/** The link with its last node and its agent, or why it cannot be gone on with. */
function usable(
  at: MoveInput,
  id: string,
  link: LinkRecord | undefined,
): { readonly lastNode: EntryId; readonly upstream: Upstream } {
  const refuse = (why: string): never => {
    throw new LogError("invalid_request", `Session ${id} cannot be resumed: ${why}`, { upstream: id });
  };
  if (link === undefined) return refuse("this conversation never used it");
  if (link.retired !== null) return refuse(`it is retired (${link.retired})`);
  if (link.lastNode === null) return refuse("it never received a prompt");
  const upstream = at.upstreams.find(
    ({ agent, account }) => agent === link.agent && account === link.account,
  );
  if (upstream === undefined) return refuse(`its agent ${link.agent} is not configured`);
  return { lastNode: link.lastNode, upstream };
}
