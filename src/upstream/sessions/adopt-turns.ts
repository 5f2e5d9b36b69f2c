import type { Entry, EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { ToolCall } from "#log/message";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";
import { unseenMessages } from "#upstream/rules/agent-record";
import { bounded, boundsOf } from "./bounded.ts";
import { readTexts } from "./branch-reads.ts";
import { linkBody } from "./choose.ts";
import type { SessionParts } from "#upstream/turn-parts";
import type { NativeMessage, Upstream } from "#upstream/upstream";
import { spaceOf } from "#conversation/on-space";

const ANCHOR_TEXTS = 6; // the end of what we know, by which it is found in the agent's record
const ANCHOR_TEXTS_MIN = 4; // where a turn that was cut off hides the rest

/**
 * Takes over turns that exist only in the agent's own record, because someone went on in its own program. They follow
 * on the branch; where the conversation went on elsewhere meanwhile, they become a branch of their own.
 */
export async function adoptTurns(
  parts: SessionParts,
  upstream: Upstream,
  facts: readonly Entry[],
): Promise<{ readonly messages: number; readonly aside: boolean } | null> {
  const { work, branch } = parts;
  const { id } = work.conversation;
  const space = spaceOf(work.conversation);
  const { agent, account } = upstream;
  const mine = linkRecords(facts).filter((link) => link.agent === agent && link.account === account);
  const link = mine.findLast((record) => record.retired === null);
  if (link?.lastNode == null || link.uncertain || upstream.history === undefined) return null;
  const theirs = await readHistory(parts, upstream, link);
  const lastEntry = theirs === null ? null : await space.entry(id, link.lastNode);
  if (theirs === null || lastEntry?.place == null) return null;
  // Less than that many texts are enough only where the record has no more.
  const until = link.continues ? null : link.since;
  const range = { from: lastEntry.place, count: ANCHOR_TEXTS, until };
  const { texts, stopped } = await readTexts(space, id, range);
  // One exchange may well stand there twice, and a record may have lost its end.
  if (stopped === "cut_off" && texts.length < ANCHOR_TEXTS_MIN) return null;
  let last = { node: link.lastNode, unseen: unseenMessages(theirs, texts) ?? [] };
  // A fork of the session holds what was said in the session before, and may have brought it into the log.
  for (const node of last.unseen.length === 0 ? [] : adoptedElsewhere(facts, link, lastEntry.seq)) {
    const { place } = await space.entry(id, node);
    if (place === null) continue;
    const unseen = unseenMessages(theirs, (await readTexts(space, id, { ...range, from: place })).texts);
    if (unseen !== null && unseen.length < last.unseen.length) last = { node, unseen };
  }
  if (last.unseen.length === 0) return null;
  const aside = last.node !== branch.lastModelNode;
  const back = aside ? branch.leaf.id : null;
  await work.owner.append(bodiesOf({ link, ...last, back, upstream }, parts.options.newId));
  return { messages: last.unseen.length, aside };
}

/** Where turns end that were adopted from other sessions of the agent after an entry. */
function adoptedElsewhere(facts: readonly Entry[], link: LinkRecord, after: number): readonly EntryId[] {
  return facts.flatMap((fact) =>
    fact.type === "upstream_link" &&
    fact.reason === "adopted" &&
    fact.seq > after &&
    fact.agent === link.agent &&
    fact.node !== undefined &&
    !link.names.includes(fact.upstream)
      ? [fact.node]
      : [],
  );
}

async function readHistory(
  parts: SessionParts,
  upstream: Upstream,
  link: LinkRecord,
): Promise<readonly NativeMessage[] | null> {
  try {
    return await bounded(
      boundsOf(parts),
      upstream.history?.(link.upstream, parts.branch.settings) ?? Promise.resolve(null),
    );
  } catch {
    // What cannot be read cannot be taken over, whatever the reason: it must not keep a prompt from being sent.
    return null;
  }
}

interface Unseen {
  readonly link: LinkRecord;
  /** The node that they follow. */
  readonly node: EntryId;
  readonly unseen: readonly NativeMessage[];
  readonly upstream: Upstream;
  /** Where the branch ends that they lie beside; null when they lie on it. */
  readonly back: EntryId | null;
}

function bodiesOf(
  { link, node: last, unseen, back, upstream }: Unseen,
  newId: () => string,
): readonly EntryBody[] {
  const { bodies, node } = adoptedBodies(unseen, link.agent, newId);
  const [first, ...others] = bodies;
  if (first === undefined) return [];
  const rooted = back === null ? first : { ...first, parentId: last };
  const linked = { id: link.upstream, reason: "adopted", node };
  const leave: readonly EntryBody[] = back === null ? [] : [{ type: "leaf", target: back }];
  return [rooted, ...others, ...linkBody(linked, upstream), ...leave];
}

interface Adopted {
  readonly bodies: readonly EntryBody[];
  /** The last of the messages. */
  readonly node: string | null;
}

/** Messages of an agent's own record, with an intent for every call of which it does not say how it ended. */
function adoptedBodies(messages: readonly NativeMessage[], agent: string, newId: () => string): Adopted {
  const whole = messages.filter(({ cutOff }) => cutOff !== true);
  const ended = new Set(
    whole.flatMap(({ message }) => (message.role === "toolResult" ? [message.toolCallId] : [])),
  );
  let node: string | null = null;
  const bodies: EntryBody[] = [];
  for (const native of whole) {
    const adopted = adoptedNode(native, agent, newId());
    node = adopted.id;
    bodies.push(adopted);
    for (const block of native.message.content)
      if (block.type === "toolCall" && !ended.has(block.id)) bodies.push(intentOf(block));
  }
  return { bodies, node };
}

/** A call that may have run: without an intent it would count as one that never started. */
function intentOf({ id: call, name, input }: ToolCall): EntryBody {
  return { type: "tool_intent", call, name, input, replay: "never" };
}

/** A message of an agent's own record as a node of ours, which says where it is from. */
export function adoptedNode(
  native: NativeMessage,
  agent: string,
  id: string,
): EntryBody & { readonly id: string } {
  const notRun = native.notRun === true ? { notRun: true } : {};
  const details = { adopted: { agent, id: native.id }, ...notRun };
  const time = native.time === null ? {} : { time: native.time };
  return { type: "message", id, ...time, message: { ...native.message, details } };
}

/** What a conversation that is made of an agent's own session begins with: its words, and the session that holds them. */
export function adoptedEntries(
  source: { readonly agent: string; readonly session: string; readonly messages: readonly NativeMessage[] },
  newId: () => string,
): readonly EntryBody[] {
  const { agent, session, messages } = source;
  const { bodies, node } = adoptedBodies(messages, agent, newId);
  return [
    ...bodies,
    { type: "upstream_link", upstream: session, agent, reason: "adopted", node: node ?? "" },
  ];
}
