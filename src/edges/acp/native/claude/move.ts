import { link, lstat, mkdir, rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { LogError } from "../../../../log/errors.ts";
import { entriesIn, stampOf } from "../files.ts";
import { copyTree, isSameTree } from "./copy.ts";
import { FOLDER_MODE, syncPath } from "./whole-file.ts";

/**
 * Moves a transcript and what lies beside it under its id: copy, compare, then remove. Until the copy is proven the
 * source is whole, and when anything fails the copy goes. A move that was cut short is finished by the next one.
 */
export async function moveTranscript(id: string, from: string, to: string): Promise<void> {
  const transcript = `${id}.jsonl`;
  const stamp = await stampOf(join(from, transcript));
  const beside = (await entriesIn(from))
    .map((entry) => entry.name)
    .filter((name) => name.startsWith(id) && name !== transcript);
  const made: string[] = [];
  const madeFolder = await mkdir(to, { recursive: true, mode: FOLDER_MODE });
  try {
    for (const name of beside) await copyNew(join(from, name), join(to, name), made);
    // Last and at once: whoever finds the transcript in its new place finds all of it.
    await copyNew(join(from, transcript), join(to, transcript), made);
    await syncPath(to);
    if ((await stampOf(join(from, transcript))) !== stamp) {
      throw new LogError("busy", "The transcript was written to while it was moved; nothing was moved", { id });
    }
    await unlink(join(from, transcript));
  } catch (error) {
    for (const path of made.toReversed()) await rm(path, { recursive: true, force: true });
    if (madeFolder !== undefined) await rmdir(to).catch(() => undefined);
    throw error;
  }
  // What stays behind when this fails belongs to no transcript and harms nobody.
  for (const name of beside) await rm(join(from, name), { recursive: true, force: true }).catch(() => undefined);
}

async function copyNew(from: string, to: string, made: string[]): Promise<void> {
  if (await isThere(to)) {
    if (await isSameTree(from, to)) return;
    throw new LogError("conversation_exists", "Another transcript is in that place; nothing was moved", { path: to });
  }
  const unfinished = `${to}.unfinished`;
  const folder = (await lstat(from)).isDirectory();
  made.push(folder ? to : unfinished);
  await copyTree(from, folder ? to : unfinished);
  if (!(await isSameTree(from, folder ? to : unfinished))) {
    throw new LogError("store_failed", "The copy of a transcript differs from it; nothing was moved", { path: to });
  }
  if (folder) return;
  await link(unfinished, to);
  made.push(to);
  await unlink(unfinished);
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
