import { link, mkdir, open, rm } from "node:fs/promises";
import { dirname } from "node:path";

/** Files of one user: transcripts hold what was said and what tools printed. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** Ends the name of what is not whole yet: neither we nor Claude take it for a transcript. */
export const UNFINISHED = ".unfinished";

/** Writes a file that is there whole or not at all, and never in the place of another. */
export async function writeWhole(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: FOLDER_MODE });
  const unfinished = `${path}${UNFINISHED}`;
  try {
    await using file = await open(unfinished, "wx", FILE_MODE);
    await file.writeFile(text);
    await file.sync();
    await link(unfinished, path);
  } finally {
    await rm(unfinished, { force: true });
  }
  await syncPath(dirname(path));
}

/** Makes a file, or the names in a folder, outlast a power cut. */
export async function syncPath(path: string): Promise<void> {
  await using file = await open(path, "r");
  await file.sync();
}
