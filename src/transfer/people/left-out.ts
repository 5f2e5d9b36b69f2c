import { readJson } from "#log/json/read-json";
import type { BranchEntry } from "#conversation/history-pages";
import { decodeEntry, presentEntry } from "#log/codec";
import { itemsOf, membersOf, objectText } from "#log/json/json-text";

/** What people may not want to read: what a model thought, what tools were asked and answered, what runs were begun with. */
export const LEFT_OUT = ["thinking", "tools", "seeds"] as const;
export type LeftOut = (typeof LEFT_OUT)[number];

const BLOCKS: Readonly<Record<string, LeftOut>> = {
  thinking: "thinking",
  redactedThinking: "thinking",
  toolCall: "tools",
};

/** The entry without these parts of it, the rest as it was written; null where nothing of it is left. */
export function withoutParts(entry: BranchEntry, parts: ReadonlySet<LeftOut>): BranchEntry | null {
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
export function rewritten(entry: BranchEntry, payload: string): BranchEntry {
  const { v, id, seq, parentId, time, type, hidden } = entry;
  const written = decodeEntry({ v, id, seq, parentId, time, type, payload });
  return Object.assign(presentEntry(written), { hidden });
}
