import type { Project } from "#log/entry";
import type { Conversation } from "#conversation/conversation";
import { conversationProject } from "#agent/project/conversation-project";
import { type Memory, scopesFor } from "./memory.ts";
import { stableBlock } from "./memory-blocks.ts";

/** What a turn would be told of memory. */
export interface RestoredMemory {
  /** What the conversation belongs to. */
  readonly project: Project | null;
  /** How much is remembered of the user, and of the project. */
  readonly ofUser: number;
  readonly ofProject: number;
  /** What the system prompt says of it. */
  readonly block: string | null;
}

const STAMPS = new WeakMap<RestoredMemory, string>(); // of what each was made

async function readMemory(memory: Memory, project: Project | null): Promise<RestoredMemory> {
  const scopes = scopesFor(project);
  const stamp = await memory.stamp(scopes);
  const all = await memory.memories(scopes);
  const ofUser = all.filter(({ scope }) => scope === "user").length;
  const { text: block } = stableBlock(all);
  const restored = { project, ofUser, ofProject: all.length - ofUser, block };
  STAMPS.set(restored, stamp);
  return restored;
}

/** What memory has for a conversation in this folder; null where the host has none. Nothing is written. */
export async function restoreMemory(
  memory: Memory | null,
  conversation: Conversation,
  cwd: string | null,
): Promise<RestoredMemory | null> {
  if (memory === null) return null;
  const { project } = await conversationProject(conversation, cwd, (id) => memory.hasProject(id));
  return readMemory(memory, project);
}

/** What was restored before, as it is by now: memory changes without the conversation. */
export async function refreshMemory(
  before: RestoredMemory | null,
  memory: Memory | null,
): Promise<RestoredMemory | null> {
  if (memory === null || before === null) return before;
  const stamp = await memory.stamp(scopesFor(before.project));
  return stamp === STAMPS.get(before) ? before : readMemory(memory, before.project);
}
