import { promptTitle } from "#log/title";
import { lstat, rm, appendFile, link, mkdir, rename, rmdir, unlink, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { LogError } from "#log/errors";
import {
  isSessionId,
  type Moved,
  type NativeSession,
  type NativeStore,
  type NewTranscript,
} from "#vendors/native-store";
import { eachRecord, type Edges, entriesIn, readEdges, stampOf } from "#vendors/record-files";
import type { NativeMessage } from "#upstream/upstream";
import { transcriptText } from "./transcript-text.ts";
import { transcriptReader } from "./transcript-reader.ts";
import { writeWhole, copyTree, FOLDER_MODE, isSameTree, syncPath, UNFINISHED } from "./transcript-files.ts";
import { messagesIn } from "./transcript-messages.ts";
import { type Fields, fieldsIn, textIn } from "#log/json/json-fields";

interface ClaudeStoreOptions {
  /** Where Claude keeps its state (default: `~/.claude`). */
  readonly configDir: string;
  /** As Node names it; folder names differ on macOS. */
  readonly platform?: string;
}

/** The transcripts of Claude Code: one file per session, in a folder per working folder. */
export function claudeStore({ configDir, platform = process.platform }: ClaudeStoreOptions): NativeStore {
  const projects = join(configDir, "projects");
  const paths = new Map<string, string>();

  const find = async (id: string): Promise<string | null> => {
    const cached = paths.get(id);
    if (cached !== undefined && (await stampOf(cached)) !== null) return cached;
    const [path = null] = await placesOf(projects, id);
    if (path === null) paths.delete(id);
    else paths.set(id, path);
    return path;
  };

  return {
    list: () => listIn(projects),
    read: async (id) => {
      const path = await find(id);
      return path === null ? null : readTranscript(path);
    },
    stamp: async (id) => {
      const path = await find(id);
      return path === null ? null : stampOf(path);
    },
    write: async (transcript) => {
      const cwd = await knownFolder(transcript.cwd, platform);
      return writeTranscript(await projectFolder(projects, cwd), { ...transcript, cwd });
    },
    remove: async (id) => {
      for (const path of await placesOf(projects, id)) {
        await rm(path, { force: true });
        await rm(join(dirname(path), id), { recursive: true, force: true });
      }
      paths.delete(id);
    },
    move: async (id, to): Promise<Moved> => {
      const [path, ...older] = await placesOf(projects, id);
      if (path === undefined) return "missing";
      const cwd = await knownFolder(to, platform);
      const folder = await projectFolder(projects, cwd);
      if (folder === dirname(path)) {
        // A move that was cut short leaves its source. It goes if the copy is whole, and stays if it is anything else.
        for (const source of older) {
          await moveTranscript({ id, from: dirname(source), to: folder, cwd }).catch(() => undefined);
        }
        return "there";
      }
      await moveTranscript({ id, from: dirname(path), to: folder, cwd });
      paths.set(id, join(folder, `${id}.jsonl`));
      return "moved";
    },
  };
}

/** The files of a session, newest first: it is resumed wherever its transcript lies, so all folders are looked into. */
async function placesOf(projects: string, id: string): Promise<readonly string[]> {
  if (!isSessionId(id)) return [];
  const places: { readonly path: string; readonly mtimeMs: number }[] = [];
  for (const project of await entriesIn(projects)) {
    const path = join(projects, project.name, `${id}.jsonl`);
    const file = await lstat(path).catch(() => null);
    if (file?.isFile() === true) places.push({ path, mtimeMs: file.mtimeMs });
  }
  return places.toSorted((one, other) => other.mtimeMs - one.mtimeMs).map(({ path }) => path);
}

async function listIn(projects: string): Promise<readonly NativeSession[]> {
  const sessions = new Map<string, NativeSession>();
  for (const project of await entriesIn(projects)) {
    const folder = join(projects, project.name);
    for (const entry of await entriesIn(folder)) {
      const { name } = entry;
      const id = name.slice(0, -".jsonl".length);
      if (!entry.isFile() || !name.endsWith(".jsonl") || !isSessionId(id)) continue;
      const edges = await readEdges(join(folder, name));
      const session = edges === null ? null : describeTranscript(project.name, id, edges);
      if (session === null || (sessions.get(id)?.updatedAt ?? "") > session.updatedAt) continue;
      sessions.set(id, session);
    }
  }
  return [...sessions.values()].toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
}

async function readTranscript(path: string): Promise<readonly NativeMessage[] | null> {
  const reader = transcriptReader();
  try {
    await eachRecord(path, (record) => reader.add(record));
  } catch {
    // Gone since it was found, or not ours to read.
    return null;
  }
  const messages = reader.messages();
  return messages.length === 0 ? null : messages;
}

async function writeTranscript(folder: string, transcript: NewTranscript): Promise<string> {
  const id = transcript.newId();
  if (!isSessionId(id)) throw new LogError("invalid_id", "Claude session ids must be UUIDs", { id });
  const text = transcriptText(id, transcript);
  if (text === "")
    throw new LogError("invalid_request", "The transcript contains no message that Claude accepts", { id });
  await writeWhole(join(folder, `${id}.jsonl`), text);
  return id;
}

/** What both ends of a transcript reveal; null when it is not a conversation of its own. */
function describeTranscript(folder: string, id: string, edges: Edges): NativeSession | null {
  const { head, tail, updatedAt } = edges;
  if (head[0]?.["isSidechain"] === true) return null;
  const cwd = cwdIn(folder, edges);
  const title = promptTitle(
    named(tail) ?? named(head) ?? lastOf(tail, "last-prompt", "lastPrompt") ?? firstPrompt(head) ?? "",
  );
  return cwd === null && title === null ? null : { id, cwd, title, updatedAt };
}

/** A name that a person gave goes before one that was made up. */
function named(records: readonly Fields[]): string | null {
  return (
    lastOf(records, "custom-title", "customTitle") ??
    lastOf(records, "ai-title", "aiTitle") ??
    lastOf(records, "summary", "summary")
  );
}

function lastOf(records: readonly Fields[], type: string, name: string): string | null {
  return textIn(records.findLast((record) => record["type"] === type)?.[name]) || null;
}

/** The shell wanders and transcripts are moved: of the folders named, the one that the transcript is kept under. */
function cwdIn(folder: string, { head, tail }: Edges): string | null {
  const folders = [
    lastOf(tail, "relocated", "relocatedCwd"),
    ...[...head, ...tail].map((record) => textIn(record["cwd"])),
  ];
  const cwds = folders.filter((cwd) => cwd !== null);
  return cwds.find((cwd) => projectName(cwd) === folder) ?? cwds[0] ?? null;
}

function firstPrompt(records: readonly Fields[]): string | null {
  for (const record of records) {
    if (record["type"] !== "user" || fieldsIn(record["message"]) === null) continue;
    for (const { message } of messagesIn([record])) {
      const text =
        message.role === "user" ? message.content.find((block) => block.type === "text") : undefined;
      if (text !== undefined) return text.text;
    }
  }
  return null;
}

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
async function moveTranscript({ id, from, to, cwd }: Move): Promise<void> {
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
      throw new LogError("busy", "The transcript changed while it was moved, so it stayed in place", {
        id,
      });
    }
    await unlink(join(from, transcript));
  } catch (error) {
    for (const path of made.toReversed()) await rm(path, { recursive: true, force: true });
    if (madeFolder !== undefined) await rmdir(to).catch(() => undefined);
    throw error;
  }
  // Files that stay when this fails belong to no transcript and do no harm.
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
    throw new LogError("conversation_exists", "Another transcript already exists in the target folder", {
      path: to,
    });
  }
  const copy = `${to}${UNFINISHED}`;
  await rm(copy, { recursive: true, force: true });
  made.push(copy);
  await copyTree(from, copy);
  if (note !== "") await appendFile(copy, note, { flush: true });
  if (!(await isSameTree(from, copy, note))) {
    throw new LogError(
      "store_failed",
      "The copied transcript differs from the original, so the original stayed in place",
      {
        path: to,
      },
    );
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
