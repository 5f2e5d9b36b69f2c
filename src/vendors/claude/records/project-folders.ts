import { realpath } from "node:fs/promises";
import { join, resolve } from "node:path";
import { entriesIn, readEdges } from "#vendors/records/record-files";
import { textIn } from "#log/json/json-fields";

const NAME_CHARS_MAX = 200; // Claude cuts longer names here and adds a hash of the path

/** The folder that Claude keeps a project's transcripts in, by name. */
export function projectName(path: string): string {
  const name = plain(path);
  return name.length <= NAME_CHARS_MAX ? name : `${name.slice(0, NAME_CHARS_MAX)}-${hash(path)}`;
}

function plain(path: string): string {
  return path.replaceAll(/[^a-zA-Z0-9]/g, "-");
}

function hash(path: string): string {
  let sum = 0;
  for (let i = 0; i < path.length; i++) sum = (Math.imul(sum, 31) + path.charCodeAt(i)) | 0;
  return Math.abs(sum).toString(36);
}

/** A working folder as Claude knows it: without links; composed letters only where the file system folds them. */
export async function knownFolder(cwd: string, platform: string): Promise<string> {
  const path = await realpath(cwd).catch(() => resolve(cwd));
  return platform === "darwin" ? path.normalize("NFC") : path;
}

/**
 * Where the transcripts of a working folder are, or would be. The hash of a long name differs between builds of Claude,
 * so a folder with the same beginning whose transcripts name this very path is taken as well.
 */
export async function projectFolder(projects: string, cwd: string): Promise<string> {
  const name = projectName(cwd);
  if (name.length <= NAME_CHARS_MAX) return join(projects, name);
  const start = `${name.slice(0, NAME_CHARS_MAX)}-`;
  const alike = (await entriesIn(projects)).filter(
    (entry) => entry.isDirectory() && entry.name.startsWith(start),
  );
  if (alike.some((entry) => entry.name === name)) return join(projects, name);
  for (const entry of alike) {
    const folder = join(projects, entry.name);
    if (await isOf(folder, cwd)) return folder;
  }
  return join(projects, name);
}

async function isOf(folder: string, cwd: string): Promise<boolean> {
  for (const entry of await entriesIn(folder)) {
    if (!entry.isFile() || !entry.name.endsWith(".jsonl")) continue;
    const edges = await readEdges(join(folder, entry.name));
    if (edges?.head.some((record) => textIn(record["cwd"]) === cwd) === true) return true;
  }
  return false;
}
