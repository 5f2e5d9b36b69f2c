import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { isInternal } from "#log/message-extras";
import { redactPayload, type RedactionHit } from "#transfer/redact/redact-entry";
import { type RedactOptions, redactText } from "#transfer/redact/redact-text";
import { type LeftOut, rewritten, withoutParts } from "./left-out.ts";

export interface PeopleOptions extends RedactOptions {
  /** The node the branch ends at; the leaf when absent. */
  readonly at?: string;
  /** Parts that are not wanted; all that is left out is left out before anything is looked for. */
  readonly leaveOut?: readonly LeftOut[];
  /** False: everything as it was said. */
  readonly redact?: boolean;
  /** Something was taken out: each is told, for review. */
  readonly onHit?: (hit: RedactionHit) => void;
}

/** A branch as people read it, without what looks like a secret. */
export interface Transcript {
  readonly conversation: string;
  readonly title: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  readonly redacted: boolean;
  readonly entries: readonly BranchEntry[];
}

export async function readTranscript(
  conversation: Conversation,
  options: PeopleOptions = {},
): Promise<Transcript> {
  const { at, redact = true } = options;
  const leftOut = new Set(options.leaveOut);
  const { title, createdAt, updatedAt } = await conversation.head();
  const branch = await conversation.branch(at === undefined ? {} : { at });
  const read = branch
    .filter((entry) => entry.type !== "message" || !isInternal(entry))
    .map((entry) => withoutParts(entry, leftOut))
    .filter((entry) => entry !== null);
  return {
    conversation: conversation.id,
    title: title === null || !redact ? title : await redactedTitle(conversation, title, options),
    createdAt,
    updatedAt,
    redacted: redact,
    entries: redact ? read.map((entry) => redacted(conversation, entry, options)) : read,
  };
}

/** A title is no part of a branch, and stands at the top of every page: what is taken out of it is told like the rest. */
async function redactedTitle(
  conversation: Conversation,
  title: string,
  options: PeopleOptions,
): Promise<string> {
  const found = redactText(title, options, `${conversation.id} title`);
  if (found.hits.length === 0) return title;
  const said = (await conversation.facts(["title"])).at(-1);
  const { id, seq } = said ?? { id: (await conversation.head()).leaf.id, seq: 0 };
  for (const hit of found.hits)
    options.onHit?.({ ...hit, conversation: conversation.id, entry: id, seq, type: "title", where: "title" });
  return found.text;
}

function redacted(conversation: Conversation, entry: BranchEntry, options: PeopleOptions): BranchEntry {
  const { payload, hits } = redactPayload(conversation.id, entry, options);
  for (const hit of hits) options.onHit?.(hit);
  return payload === entry.payload ? entry : rewritten(entry, payload);
}
