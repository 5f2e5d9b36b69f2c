import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { decodeEntry, presentEntry } from "#log/codec";
import { isInternal } from "#log/message-extras";
import { redactPayload, type RedactionHit } from "#transfer/redact/redact-entry";
import { type RedactOptions, redactText } from "#transfer/redact/redact-text";

export interface PeopleOptions extends RedactOptions {
  /** The node the branch ends at; the leaf when absent. */
  readonly at?: string;
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
  const { title, createdAt, updatedAt } = await conversation.head();
  const branch = await conversation.branch(at === undefined ? {} : { at });
  const read = branch.filter((entry) => entry.type !== "message" || !isInternal(entry));
  return {
    conversation: conversation.id,
    title: title === null || !redact ? title : redactText(title, options).text,
    createdAt,
    updatedAt,
    redacted: redact,
    entries: redact ? read.map((entry) => redacted(conversation, entry, options)) : read,
  };
}

function redacted(conversation: Conversation, entry: BranchEntry, options: PeopleOptions): BranchEntry {
  const { payload, hits } = redactPayload(conversation.id, entry, options);
  for (const hit of hits) options.onHit?.(hit);
  if (payload === entry.payload) return entry;
  const { v, id, seq, parentId, time, type, hidden } = entry;
  const written = decodeEntry({ v, id, seq, parentId, time, type, payload });
  return Object.assign(presentEntry(written), { hidden });
}
