import { constants } from "node:fs";
import { copyFile, link, lstat, mkdir, open, readdir, readlink, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { LogError } from "#log/errors";

/** Files of one user: transcripts hold messages and tool output. */
export const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;
/** The suffix of an unfinished file: neither we nor Claude read it as a transcript. */
export const UNFINISHED = ".unfinished";

const CHUNK_BYTES = 1_048_576; // tool outputs can be large; neither copying nor comparing holds one whole

/** Copies a file or a folder with all that is in it; the target must not be there. */
export async function copyTree(from: string, to: string): Promise<void> {
  const kind = await lstat(from);
  if (kind.isSymbolicLink()) return symlink(await readlink(from), to);
  if (kind.isFile()) {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    return syncPath(to);
  }
  // Reading from a pipe or a device may never end.
  if (!kind.isDirectory()) throw new LogError("store_failed", "Not a file or folder", { path: from });
  await mkdir(to, { mode: FOLDER_MODE });
  for (const name of await readdir(from)) await copyTree(join(from, name), join(to, name));
  await syncPath(to);
}

/** Whether the other holds the same bytes under the same names; at the end of a file, a note may follow them. */
export async function isSameTree(one: string, other: string, note = ""): Promise<boolean> {
  const [first, second] = await Promise.all([lstat(one), lstat(other)]);
  if (first.isSymbolicLink() || second.isSymbolicLink()) {
    return (
      first.isSymbolicLink() && second.isSymbolicLink() && (await readlink(one)) === (await readlink(other))
    );
  }
  if (first.isDirectory() !== second.isDirectory()) return false;
  if (!first.isDirectory()) return isSameFile(one, other, Buffer.from(note));
  const names = (await readdir(one)).toSorted();
  const others = (await readdir(other)).toSorted();
  if (names.length !== others.length || names.some((name, n) => name !== others[n])) return false;
  for (const name of names) if (!(await isSameTree(join(one, name), join(other, name)))) return false;
  return true;
}

async function isSameFile(one: string, other: string, note: Buffer): Promise<boolean> {
  await using first = await open(one, "r");
  await using second = await open(other, "r");
  const [left, right] = [Buffer.alloc(CHUNK_BYTES), Buffer.alloc(CHUNK_BYTES)];
  let offset = 0;
  for (;;) {
    const a = await first.read(left, 0, CHUNK_BYTES, offset);
    if (a.bytesRead === 0) break;
    const b = await second.read(right, 0, a.bytesRead, offset);
    if (left.compare(right, 0, b.bytesRead, 0, a.bytesRead) !== 0) return false;
    offset += a.bytesRead;
  }
  const rest = await second.read(right, 0, CHUNK_BYTES, offset);
  return right.subarray(0, rest.bytesRead).equals(note);
}

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
