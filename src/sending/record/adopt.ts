import type { Entry, EntryBody } from "#log/entry";
import type { Leaf } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { type LinkRecord, linkRecords } from "#log/projections/link-records";
import { unseenMessages } from "#sending/rules/reconcile";
import type { SpaceStore } from "#store/store";
import type { Owner } from "#conversation/owner";
import { bounded } from "#sending/bounded";
import { readTexts } from "#sending/facts";
import type { Clock } from "#conversation/clock";
import { linkBody } from "#sending/link";
import { type NativeMessage, type SessionSettings, type Upstream } from "#sending/upstream";

const ANCHOR_TEXTS = 6; // the end of what we know, by which it is found in the agent's record
const ANCHOR_TEXTS_MIN = 4; // where a turn that was cut off hides the rest

interface AdoptInput {
  readonly space: SpaceStore;
  readonly conversation: ConversationId;
  readonly owner: Owner;
  readonly upstream: Upstream;
  readonly settings: SessionSettings;
  readonly leaf: Leaf;
  readonly lastModelNode: EntryId;
  readonly clock: Clock;
  readonly resumeMs: number;
  readonly cancelled: AbortSignal;
  newId(): string;
}

/**
 * Takes over turns that exist only in the agent's own record, because someone went on in its own program. They follow
 * on the branch; where the conversation went on elsewhere meanwhile, they become a branch of their own.
 */
export async function adoptTurns(
  at: AdoptInput,
  facts: readonly Entry[],
): Promise<{ readonly messages: number; readonly aside: boolean } | null> {
  const { space, conversation, upstream } = at;
  const { agent, account } = upstream;
  const mine = linkRecords(facts).filter((link) => link.agent === agent && link.account === account);
  const link = mine.findLast((record) => record.retired === null);
  if (link?.lastNode == null || link.uncertain || upstream.history === undefined) return null;
  const theirs = await readHistory(at, link);
  const held = theirs === null ? null : await space.entry(conversation, link.lastNode);
  if (theirs === null || held?.place == null) return null;
  // Less than that many texts are enough only where the record has no more.
  const until = link.continues ? null : link.since;
  const known = { from: held.place, count: ANCHOR_TEXTS, until };
  const { texts, stopped } = await readTexts(space, conversation, known);
  // One exchange may well stand there twice, and a record may have lost its end.
  if (stopped === "cut_off" && texts.length < ANCHOR_TEXTS_MIN) return null;
  const unseen = unseenMessages(theirs, texts);
  if (unseen.length === 0) return null;
  const aside = link.lastNode !== at.lastModelNode;
  await at.owner.append(bodiesOf(at, { link, unseen, aside }));
  return { messages: unseen.length, aside };
}

async function readHistory(at: AdoptInput, link: LinkRecord): Promise<readonly NativeMessage[] | null> {
  try {
    return await bounded(at, at.upstream.history?.(link.upstream, at.settings) ?? Promise.resolve(null));
  } catch {
    // What cannot be read cannot be taken over, whatever the reason: it must not keep a prompt from being sent.
    return null;
  }
}

function bodiesOf(
  at: AdoptInput,
  found: { readonly link: LinkRecord; readonly unseen: readonly NativeMessage[]; readonly aside: boolean },
): readonly EntryBody[] {
  const { link, unseen, aside } = found;
  const nodes = unseen.map((native) => adoptedNode(native, link.agent, at.newId()));
  const [first, ...others] = nodes;
  if (first === undefined) return [];
  const rooted = aside && link.lastNode !== null ? { ...first, parentId: link.lastNode } : first;
  const linked = { id: link.upstream, reason: "adopted", node: nodes.at(-1)?.id ?? null };
  const back: readonly EntryBody[] = aside ? [{ type: "leaf", target: at.leaf.id }] : [];
  return [rooted, ...others, ...linkBody(linked, at.upstream), ...back];
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
