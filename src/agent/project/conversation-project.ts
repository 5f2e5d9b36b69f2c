import { stat } from "node:fs/promises";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody, Project } from "#log/entry";
import type { Conversation } from "#conversation/conversation";
import { findProject, withFirstCommit } from "./find-project.ts";
import { type ProjectPlace, projectIds, projectNow } from "./project-identity.ts";

const PLACES_READ = 64; // folders a conversation was moved to; those before are of no use any more
const TYPES = ["conversation", "cwd"] as const;

export interface ConversationProject {
  readonly project: Project | null;
  /** What is to be written where the conversation does not say so yet. */
  readonly bodies: readonly EntryBody[];
}

/** What a conversation recorded last of the project it belongs to, itself or by what it was forked from. */
export async function readRecordedProject(conversation: Conversation): Promise<Project | null> {
  const { space, id } = conversation;
  const read = { conversation: id, limit: PLACES_READ, newestFirst: true, types: TYPES };
  const own = (await space.read(read)).map((stored) => decodeEntry(stored));
  const ofOwn = projectIn(own);
  if (ofOwn !== null || (await conversation.head()).origin === null) return ofOwn;
  return projectIn((await conversation.inheritedFacts(TYPES)).toReversed());
}

function projectIn(newestFirst: readonly Entry[]): Project | null {
  for (const entry of newestFirst)
    if ((entry.type === "conversation" || entry.type === "cwd") && entry.project !== undefined)
      return entry.project;
  return null;
}

/** The project of a folder, where a conversation has recorded this one, if any. */
export async function folderProject(
  folder: string | null,
  recorded: Project | null,
  hasMemory: (id: string) => Promise<boolean>,
): Promise<Project | null> {
  const place = folder === null ? null : await findProject(folder);
  const memoryIds = new Set<string>();
  const look = async (candidate: ProjectPlace): Promise<void> => {
    for (const id of projectIds(candidate))
      if (!memoryIds.has(id) && (await hasMemory(id))) memoryIds.add(id);
  };
  if (place !== null) await look(place);
  // What was remembered before there was a remote is known by the first commit.
  const current = place === null || memoryIds.size > 0 ? place : await withFirstCommit(place);
  if (current !== null && current !== place) await look(current);
  const isThere = recorded?.root !== undefined && (await isFolder(recorded.root));
  return projectNow(recorded === null ? null : { ...recorded, isThere }, current, (id) => memoryIds.has(id));
}

/** The project of a conversation that is worked on in this folder. */
export async function conversationProject(
  conversation: Conversation,
  cwd: string | null,
  hasMemory: (id: string) => Promise<boolean>,
): Promise<ConversationProject> {
  const recorded = await readRecordedProject(conversation);
  const project = await folderProject(cwd, recorded, hasMemory);
  const isNew = cwd !== null && project !== null && !isSame(project, recorded);
  return { project, bodies: isNew ? [{ type: "cwd", cwd, project }] : [] };
}

function isSame(one: Project, other: Project | null): boolean {
  return other !== null && one.id === other.id && one.root === other.root && one.remote === other.remote;
}

async function isFolder(path: string): Promise<boolean> {
  return (await stat(path).catch(() => null))?.isDirectory() === true;
}
