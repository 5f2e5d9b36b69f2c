import type { Conversation } from "#conversation/conversation";
import type { BranchEntry } from "#conversation/history-pages";
import { isInternal } from "#log/message";
import { redactPayload, type RedactionHit, type RedactOptions, redactText } from "#transfer/redact-text";
import { readJson } from "#log/json/read-json";
import { decodeEntry, presentEntry, entryLine } from "#log/codec";
import { itemsOf, membersOf, objectText } from "#log/json/json-text";
import { SCHEMA_VERSION } from "#transfer/context-text";

export interface TranscriptOptions extends RedactOptions {
  /** The node the branch ends at; the leaf when absent. */
  readonly at?: string;
  /** Parts that are not wanted; all that is left out is left out before anything is looked for. */
  readonly leaveOut?: readonly OmittedPart[];
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
  options: TranscriptOptions = {},
): Promise<Transcript> {
  const { at, redact = true } = options;
  const omitted = new Set(options.leaveOut);
  const { title, createdAt, updatedAt } = await conversation.head();
  const branch = await conversation.branch(at === undefined ? {} : { at });
  const read = branch
    .filter((entry) => entry.type !== "message" || !isInternal(entry))
    .map((entry) => withoutParts(entry, omitted))
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

/** Redacts the title. It is not part of the branch, but every page shows it, so hits in it are reported too. */
async function redactedTitle(
  conversation: Conversation,
  title: string,
  options: TranscriptOptions,
): Promise<string> {
  const redaction = redactText(title, options, `${conversation.id} title`);
  if (redaction.hits.length === 0) return title;
  const titleFact = (await conversation.facts(["title"])).at(-1);
  const { id, seq } = titleFact ?? { id: (await conversation.head()).leaf.id, seq: 0 };
  for (const hit of redaction.hits)
    options.onHit?.({ ...hit, conversation: conversation.id, entry: id, seq, type: "title", where: "title" });
  return redaction.text;
}

function redacted(conversation: Conversation, entry: BranchEntry, options: TranscriptOptions): BranchEntry {
  const { payload, hits } = redactPayload(conversation.id, entry, options);
  for (const hit of hits) options.onHit?.(hit);
  return payload === entry.payload ? entry : rewritten(entry, payload);
}

/** What people may not want to read: what a model thought, what tools were asked and answered, what runs were begun with. */
export const OMITTED_PARTS = ["thinking", "tools", "seeds"] as const;
export type OmittedPart = (typeof OMITTED_PARTS)[number];

const BLOCKS: Readonly<Record<string, OmittedPart>> = {
  thinking: "thinking",
  redactedThinking: "thinking",
  toolCall: "tools",
};

/** The entry without these parts of it, the rest as it was written; null where nothing of it is left. */
function withoutParts(entry: BranchEntry, parts: ReadonlySet<OmittedPart>): BranchEntry | null {
  if (entry.type === "seed") return parts.has("seeds") ? null : entry;
  if (entry.type !== "message") return entry;
  const { message } = entry;
  if (message.role === "toolResult") return parts.has("tools") ? null : entry;
  const isMeant = ({ type }: { readonly type: string }): boolean => {
    const part = BLOCKS[type];
    return part !== undefined && parts.has(part);
  };
  if (!message.content.some(isMeant)) return entry;
  if (message.content.every(isMeant)) return null;
  const stays = (item: string): boolean => !isMeant(readJson(item) as unknown as { readonly type: string });
  const content = (text: string): string => `[${itemsOf(text).filter(stays).join(",")}]`;
  const inMessage = (text: string): string => changed(text, "content", content);
  return rewritten(entry, changed(entry.payload, "message", inMessage));
}

function changed(object: string, name: string, change: (text: string) => string): string {
  const members = membersOf(object);
  return objectText(
    members.map((member) => (member.name === name ? { name, text: change(member.text) } : member)),
  );
}

/** The entry with another payload. */
function rewritten(entry: BranchEntry, payload: string): BranchEntry {
  const { v, id, seq, parentId, time, type, hidden } = entry;
  const written = decodeEntry({ v, id, seq, parentId, time, type, payload });
  return Object.assign(presentEntry(written), { hidden });
}

/** Returns a branch as one JSON object for programs that show it (default: redacted). It cannot be imported. */
export async function exportJson(
  conversation: Conversation,
  options: TranscriptOptions = {},
): Promise<string> {
  const { entries, ...about } = await readTranscript(conversation, options);
  // Beside the entries, not in them: a payload may have a member of any name.
  const hidden = entries.filter((entry) => entry.hidden).map(({ id }) => id);
  const start = JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...about, hidden });
  return `${start.slice(0, -1)},"entries":[${entries.map((entry) => entryLine(entry)).join(",")}]}\n`;
}
