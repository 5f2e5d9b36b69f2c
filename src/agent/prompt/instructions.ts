import { lstat, realpath, stat, open } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";

const FILE_NAME = "AGENTS.md";
const FILE_BYTES_MAX = 65_536; // every request has them: more than this is no instruction
const ALL_BYTES_MAX = 262_144;

/** A file of instructions, for everything in its folder. */
export interface InstructionFile {
  readonly path: string;
  readonly text: string;
}

interface InstructionIssue {
  readonly path: string;
  /** `cut`: it is there up to a limit. All others: it is not there. */
  readonly problem: "cut" | "left_out" | "binary" | "unreadable" | "outside";
  /** For people. */
  readonly message: string;
}

export interface Instructions {
  /** The project's folder: the nearest repository upwards, else the folder itself. */
  readonly root: string;
  /** From the root down: files nearer to the working directory come later. */
  readonly files: readonly InstructionFile[];
  readonly issues: readonly InstructionIssue[];
}

/** Reads the instructions for work in a folder. What cannot be given as it is is reported, never dropped silently. */
export async function readInstructions(cwd: string): Promise<Instructions> {
  const start = resolve(cwd);
  const folder = await realpath(start).catch(() => null);
  if (folder === null)
    return { root: start, files: [], issues: [issueOf(start, "unreadable", "the folder is not readable")] };
  const root = await projectRoot(folder);
  const files: InstructionFile[] = [];
  const issues: InstructionIssue[] = [];
  const readPaths = new Set<string>();
  let room = ALL_BYTES_MAX;
  for (const current of foldersBetween(root, folder)) {
    const path = join(current, FILE_NAME);
    const file = await findFile(path, root);
    if (file === null) continue;
    if (typeof file !== "string") {
      issues.push(file);
      continue;
    }
    if (readPaths.has(file)) continue; // a link to one that was read
    readPaths.add(file);
    const read = await readStart(path, file, Math.min(FILE_BYTES_MAX, room));
    if (read.issue !== null) issues.push(read.issue);
    if (read.text.trim() === "") continue;
    files.push({ path, text: read.text });
    room -= read.bytes;
  }
  return { root, files, issues };
}

/** The nearest repository upwards, else the folder itself. */
export async function projectRoot(folder: string): Promise<string> {
  for (let current = folder; ; current = dirname(current)) {
    if (await isRepository(join(current, ".git"))) return current;
    if (dirname(current) === current) return folder;
  }
}

/** A file in worktrees and submodules; a folder counts only with what Git itself looks for in it. */
export async function isRepository(git: string): Promise<boolean> {
  const stats = await lstat(git).catch(() => null);
  if (stats === null || stats.isFile()) return stats !== null;
  return (await lstat(join(git, "HEAD")).catch(() => null)) !== null;
}

function foldersBetween(root: string, folder: string): readonly string[] {
  const folders = [folder];
  for (let current = folder; current !== root && dirname(current) !== current;) {
    current = dirname(current);
    folders.push(current);
  }
  return folders.toReversed();
}

/** The file behind a name; null when there is none. A link out of the project would send a stranger's file to a model. */
async function findFile(path: string, root: string): Promise<string | InstructionIssue | null> {
  try {
    if ((await lstat(path).catch(ifMissing)) === null) return null;
    const real = await realpath(path);
    if (!real.startsWith(root.endsWith(sep) ? root : root + sep))
      return issueOf(path, "outside", `it is a symbolic link to ${real}, outside the project`);
    return (await stat(real)).isFile() ? real : issueOf(path, "unreadable", "it is not a file");
  } catch (error) {
    return issueOf(path, "unreadable", error instanceof Error ? error.message : String(error));
  }
}

function ifMissing(error: unknown): null {
  const code = error instanceof Error && "code" in error ? error.code : null;
  if (code === "ENOENT" || code === "ENOTDIR") return null;
  throw error;
}

interface StartOfFile {
  readonly text: string;
  readonly bytes: number;
  readonly issue: InstructionIssue | null;
}

/** As much of a file as there is room for; a large one is not read whole. */
async function readStart(path: string, real: string, bytesMax: number): Promise<StartOfFile> {
  const none = (issue: InstructionIssue): StartOfFile => ({ text: "", bytes: 0, issue });
  if (bytesMax === 0)
    return none(issueOf(path, "left_out", `all instructions are limited to ${ALL_BYTES_MAX} bytes`));
  try {
    const { text, bytes, size } = await readTextStart(real, bytesMax);
    if (text === null) return none(issueOf(path, "binary", "it is not UTF-8 text"));
    if (size <= bytesMax) return { text, bytes, issue: null };
    const note = `its last ${size - bytes} bytes are omitted`;
    return {
      text: `${text}\n[This file exceeds the size limit: ${note}.]`,
      bytes,
      issue: issueOf(path, "cut", note),
    };
  } catch (error) {
    return none(issueOf(path, "unreadable", error instanceof Error ? error.message : String(error)));
  }
}

function issueOf(path: string, problem: InstructionIssue["problem"], why: string): InstructionIssue {
  return { path, problem, message: `${path}: ${why}` };
}

/** As much of a file as was asked for. */
interface TextStart {
  /** Null: it is no UTF-8 text. */
  readonly text: string | null;
  readonly bytes: number;
  /** Of the whole file. */
  readonly size: number;
}

/** Reads so much of a text and never more, whatever the file's size; a character is not cut in two. */
export async function readTextStart(path: string, bytesMax: number): Promise<TextStart> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const buffer = new Uint8Array(Math.min(bytesMax, Math.max(size, MIN_BYTES)) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === buffer.length) break;
  }
  const end = length > bytesMax ? wholeCharacters(buffer, bytesMax) : length;
  return { text: textIn(buffer.subarray(0, end)), bytes: end, size: Math.max(size, length) };
}

const MIN_BYTES = 4_096; // files of the system say that they are empty

/** The same length or a little less: never inside a character. */
function wholeCharacters(bytes: Uint8Array, length: number): number {
  let end = length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
