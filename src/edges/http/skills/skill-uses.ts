import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { readLog } from "#conversation/read-log";
import { decodeEntry } from "#log/codec";
import type { EntryOf, Skill } from "#log/entry";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import type { SkillApi, SkillUse } from "./skill-api.ts";

type Uses = SkillApi["listSkillUses"];

const LOOKED_AT = 100; // conversations for each page

/** Which skills the conversations of a page activated. What cannot be read is left out: its own pages say so. */
export async function readSkillUses(
  holdfast: Holdfast,
  { limit = LOOKED_AT, cursor }: Uses["query"],
): Promise<Uses["response"]> {
  const page = await holdfast.listPage({ limit, ...(cursor === undefined ? {} : { cursor }) });
  const uses: SkillUse[] = [];
  for (const { conversation, title } of page.conversations)
    try {
      const skills = await skillsOf(holdfast.handle(parseConversationId(conversation)));
      if (skills.length > 0) uses.push({ conversation, title, skills });
    } catch (error) {
      if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
    }
  return { uses, cursor: page.cursor };
}

async function skillsOf(conversation: Conversation): Promise<SkillUse["skills"]> {
  const activated = new Map<string, { readonly skill: Skill; readonly by: EntryOf<"skill_change"> }>();
  let before = new Set<string>();
  for await (const stored of readLog(conversation.space, conversation.id, { types: ["skill_change"] })) {
    const by = decodeEntry(stored);
    if (by.type !== "skill_change") continue;
    // Each states the whole list: what stood there before was activated before.
    for (const skill of by.skills) if (!before.has(skill.name)) activated.set(skill.name, { skill, by });
    before = new Set(by.skills.map(({ name }) => name));
  }
  if (activated.size === 0) return [];
  const now = new Set((await conversation.settings()).skills.map(({ name }) => name));
  return [...activated.values()].map(({ skill, by }) => ({
    name: skill.name,
    source: skill.source ?? null,
    digest: skill.digest ?? null,
    active: now.has(skill.name),
    entry: by.id,
    time: by.time,
  }));
}
