import type { ContentBlock } from "../../log/entry.ts";
import { cutPoint } from "../../log/sending/cut-point.ts";
import { linkRecords, type LinkRecord } from "../../log/sending/proof.ts";
import type { Conversation } from "../conversation.ts";
import { boundedSession } from "./bounded.ts";
import { type Clock, systemClock } from "./host.ts";
import { type Upstream, UpstreamFailure } from "./upstream.ts";

const FORK_MS = 60_000;
const NEVER = new AbortController().signal;

export interface Forked {
  readonly conversation: Conversation;
  /** `native`: the upstream forked its own session and nothing needs to be told again. */
  readonly fidelity: "native" | "preamble";
  /** The words of the user's message the fork was taken at, to be edited and sent again. */
  readonly editable: readonly ContentBlock[] | null;
}

/** A fork beside the conversation, at the leaf or at any entry. Durable, with its lineage, before its first prompt. */
export async function forkAside(
  conversation: Conversation,
  upstream: Upstream,
  options: {
    readonly at?: string;
    readonly id?: string;
    readonly clock?: Clock;
    /** How long the agent may take; then the fork is told again what it knows. */
    readonly forkMs?: number;
  } = {},
): Promise<Forked> {
  const branch = await conversation.branch();
  const leaf = branch.at(-1);
  const point =
    options.at === undefined
      ? null
      : cutPoint(await branchThrough(conversation, options.at), (await conversation.entry(options.at)).id);
  const child = await conversation.fork({
    ...(point === null ? {} : { at: point.at }),
    ...(options.id === undefined ? {} : { id: options.id }),
  });
  const editable = point?.editable ?? null;
  const link = await headLink(conversation, upstream);
  const atHead = point === null || point.at === leaf?.id;
  if (
    link === null ||
    !atHead ||
    link.lastNode !== leaf?.id ||
    link.uncertain ||
    upstream.capabilities.fork === "none"
  ) {
    return { conversation: child, fidelity: "preamble", editable };
  }
  const { cwd } = await conversation.head();
  const { model, config } = await conversation.context();
  try {
    const { clock = systemClock, forkMs: resumeMs = FORK_MS } = options;
    const session = await boundedSession(
      { clock, resumeMs, cancelled: NEVER },
      upstream.fork(link.upstream, { cwd, model, config }),
    );
    const account = upstream.account === null ? {} : { account: upstream.account };
    await child.append({
      type: "upstream_link",
      upstream: session.id,
      agent: upstream.agent,
      ...account,
      reason: "forked",
      node: leaf.id,
    });
    return { conversation: child, fidelity: "native", editable };
  } catch (error) {
    if (!(error instanceof UpstreamFailure)) throw error;
    return { conversation: child, fidelity: "preamble", editable };
  }
}

/** Goes back before a user's message, in the same conversation, so that other words can take its place. */
export async function goBackTo(
  conversation: Conversation,
  entry: string,
): Promise<readonly ContentBlock[] | null> {
  const point = cutPoint(await branchThrough(conversation, entry), (await conversation.entry(entry)).id);
  await conversation.goTo(point.at);
  return point.editable;
}

/** The branch through an entry to its end: the active one when the entry lies on it, else the one that ends there. */
async function branchThrough(
  conversation: Conversation,
  entry: string,
): Promise<Awaited<ReturnType<Conversation["branch"]>>> {
  const active = await conversation.branch();
  return active.some((node) => node.id === entry) ? active : conversation.branch({ at: entry });
}

/** The session that could be forked: the agent's head, unless it holds something that was hidden since. */
async function headLink(conversation: Conversation, upstream: Upstream): Promise<LinkRecord | null> {
  const facts = await conversation.facts(["upstream_link", "upstream_end", "attempt", "turn_end", "hide"]);
  const mine = linkRecords(facts).filter(
    (record) => record.agent === upstream.agent && record.account === upstream.account && !record.retired,
  );
  const head = mine.at(-1);
  const hidden = facts.some((fact) => fact.type === "hide" && fact.seq > (head?.firstSeq ?? 0));
  return hidden ? null : (head ?? null);
}
