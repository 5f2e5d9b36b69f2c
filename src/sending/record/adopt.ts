import type { Entry, EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";
import { unseenMessages } from "#sending/rules/agent-record";
import { bounded, boundsOf } from "#sending/sessions/bounded";
import { readTexts } from "#sending/sessions/branch-reads";
import { linkBody } from "#sending/sessions/link";
import type { SessionParts } from "#sending/turn-parts";
import type { NativeMessage, Upstream } from "#sending/upstream";

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
  const { space, id } = work.conversation;
  const { agent, account } = upstream;
  const mine = linkRecords(facts).filter((link) => link.agent === agent && link.account === account);
  const link = mine.findLast((record) => record.retired === null);
  if (link?.lastNode == null || link.uncertain || upstream.history === undefined) return null;
  const theirs = await readHistory(parts, upstream, link);
  const held = theirs === null ? null : await space.entry(id, link.lastNode);
  if (theirs === null || held?.place == null) return null;
  // Less than that many texts are enough only where the record has no more.
  const until = link.continues ? null : link.since;
  const known = { from: held.place, count: ANCHOR_TEXTS, until };
  const { texts, stopped } = await readTexts(space, id, known);
  // One exchange may well stand there twice, and a record may have lost its end.
  if (stopped === "cut_off" && texts.length < ANCHOR_TEXTS_MIN) return null;
  const unseen = unseenMessages(theirs, texts);
  if (unseen.length === 0) return null;
  const aside = link.lastNode !== branch.lastModelNode;
  const back = aside ? branch.leaf.id : null;
  await work.owner.append(bodiesOf({ link, unseen, back, upstream }, parts.options.newId));
  return { messages: unseen.length, aside };
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
  readonly unseen: readonly NativeMessage[];
  readonly upstream: Upstream;
  /** Where the branch ends that they lie beside; null when they lie on it. */
  readonly back: EntryId | null;
}

function bodiesOf({ link, unseen, back, upstream }: Unseen, newId: () => string): readonly EntryBody[] {
  const nodes = unseen.map((native) => adoptedNode(native, link.agent, newId()));
  const [first, ...others] = nodes;
  if (first === undefined) return [];
  const rooted = back !== null && link.lastNode !== null ? { ...first, parentId: link.lastNode } : first;
  const linked = { id: link.upstream, reason: "adopted", node: nodes.at(-1)?.id ?? null };
  const leave: readonly EntryBody[] = back === null ? [] : [{ type: "leaf", target: back }];
  return [rooted, ...others, ...linkBody(linked, upstream), ...leave];
}

/** A message of an agent's own record as a node of ours, which says where it is from. */
export function adoptedNode(
  native: NativeMessage,
  agent: string,
  id: string,
): EntryBody & { readonly id: string } {
  const details = { adopted: { agent, id: native.id } };
  const time = native.time === null ? {} : { time: native.time };
  return { type: "message", id, ...time, message: { ...native.message, details } };
}

/** What a conversation that is made of an agent's own session begins with: its words, and the session that holds them. */
export function adoptedEntries(
  given: { readonly agent: string; readonly session: string; readonly messages: readonly NativeMessage[] },
  newId: () => string,
): readonly EntryBody[] {
  const { agent, session, messages } = given;
  const nodes = messages.map((message) => adoptedNode(message, agent, newId()));
  const node = nodes.at(-1)?.id ?? "";
  return [...nodes, { type: "upstream_link", upstream: session, agent, reason: "adopted", node }];
}
