import { appendFile, link, lstat, mkdir, rename, rm, rmdir, unlink } from "node:fs/promises";
import { join } from "node:path";
import { LogError } from "#log/errors";
import { entriesIn, stampOf } from "#vendors/records/record-files";
import { copyTree, FOLDER_MODE, isSameTree, syncPath, UNFINISHED } from "./transcript-files.ts";

interface Move {
  readonly id: string;
  readonly from: string;
  readonly to: string;
  /** The working folder that `to` is for. */
  readonly cwd: string;
}

/**
 * Moves a transcript and what lies beside it under its id: copy, compare, then remove. Until the copy is proven the
 * source is whole, and when anything fails the copy goes.
 */
export async function moveTranscript({ id, from, to, cwd }: Move): Promise<void> {
  const transcript = `${id}.jsonl`;
  const stamp = await stampOf(join(from, transcript));
  const beside = (await entriesIn(from))
    .map((entry) => entry.name)
    .filter((name) => name.startsWith(id) && name !== transcript && !name.endsWith(UNFINISHED));
  const made: string[] = [];
  const madeFolder = await mkdir(to, { recursive: true, mode: FOLDER_MODE });
  try {
    for (const name of beside) await copyNew({ from: join(from, name), to: join(to, name), note: "" }, made);
    // Claude's own word for it: its list would go on naming the folder of the first record. The line break ends
    // a torn last line. Last and at once: whoever finds the transcript in its new place finds all of it.
    const note = `\n${JSON.stringify({ type: "relocated", sessionId: id, relocatedCwd: cwd })}\n`;
    await copyNew({ from: join(from, transcript), to: join(to, transcript), note }, made);
    await syncPath(to);
    if ((await stampOf(join(from, transcript))) !== stamp) {
      throw new LogError("busy", "The transcript was written to while it was moved; nothing was moved", {
        id,
      });
    }
    await unlink(join(from, transcript));
  } catch (error) {
    for (const path of made.toReversed()) await rm(path, { recursive: true, force: true });
    if (madeFolder !== undefined) await rmdir(to).catch(() => undefined);
    throw error;
  }
  // What stays behind when this fails belongs to no transcript and harms nobody.
  for (const name of beside)
    await rm(join(from, name), { recursive: true, force: true }).catch(() => undefined);
}

interface Copy {
  readonly from: string;
  readonly to: string;
  /** Added to the end of a file. */
  readonly note: string;
}

async function copyNew({ from, to, note }: Copy, made: string[]): Promise<void> {
  if (await isThere(to)) {
    if (await isSameTree(from, to, note)) return;
    throw new LogError("conversation_exists", "Another transcript is in that place; nothing was moved", {
      path: to,
    });
  }
  const copy = `${to}${UNFINISHED}`;
  await rm(copy, { recursive: true, force: true });
  made.push(copy);
  await copyTree(from, copy);
  if (note !== "") await appendFile(copy, note, { flush: true });
  if (!(await isSameTree(from, copy, note))) {
    throw new LogError("store_failed", "The copy of a transcript differs from it; nothing was moved", {
      path: to,
    });
  }
  if ((await lstat(copy)).isDirectory()) {
    await rename(copy, to);
    made.push(to);
    return;
  }
  // Unlike a rename, this never takes the place of another file.
  await link(copy, to);
  made.push(to);
  await unlink(copy);
}

async function isThere(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}
