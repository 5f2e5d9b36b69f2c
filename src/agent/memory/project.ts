import { createHash } from "node:crypto";
import { LogError } from "#log/errors";
import type { Project, Entry, EntryBody } from "#log/entry";
import { execFile } from "node:child_process";
import { lstat, open, readFile, realpath, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isRepository } from "#agent/prompt/instructions";
import type { Conversation } from "#conversation/conversation";

/** The file that names a project, in its folder: one line. */
export const PROJECT_FILE = ".holdfast/project";
const ID_CHARS_MAX = 200;

/** A project as found from a folder. */
export interface ProjectPlace {
  /** The folder of the id file, of the repository, or the folder itself. */
  readonly root: string;
  /** What the id file says. */
  readonly declaredId: string | null;
  /** The repository's remote as it is configured. */
  readonly remote: string | null;
  readonly firstCommit: string | null;
}

/** Returns the possible ids of a project, the most reliable first. An id file makes its id the only one. */
export function projectIds({
  root,
  declaredId: named,
  remote,
  firstCommit,
}: ProjectPlace): readonly string[] {
  if (named !== null) return [named];
  const address = remote === null ? null : remoteAddress(remote);
  return [
    ...(address === null ? [] : [`git:${address}`]),
    ...(firstCommit === null ? [] : [`commit:${firstCommit}`]),
    `path:${root}`,
  ];
}

/** What an id file holds: one line of printed characters. */
export function parseProjectId(text: string, file: string = PROJECT_FILE): string {
  const id = text.trim();
  if (id !== "" && id.length <= ID_CHARS_MAX && !/[\p{Cc}\u2028\u2029]/u.test(id)) return id;
  throw new LogError(
    "invalid_request",
    `${file} must contain the project id in one line of 1 to ${ID_CHARS_MAX} characters. Correct or delete the file.`,
    { file },
  );
}

const DEFAULT_PORTS: ReadonlySet<string> = new Set(["22", "80", "443", "9418"]);

/** A remote as an address that is the same over every protocol and holds no name or password; null: a place that only means something from here. */
export function remoteAddress(remote: string): string | null {
  const text = remote.trim();
  const url = /^([a-z][a-z0-9+.-]*):\/\/(?:[^/]*@)?([^/:@]*)(?::(\d+))?(\/[^?#]*)/i.exec(text);
  if (url !== null) {
    const [, protocol = "", host = "", port = "", path = ""] = url;
    if (protocol.toLowerCase() === "file") return pathOf(path) === "" ? null : `file/${pathOf(path)}`;
    const portText = port === "" || DEFAULT_PORTS.has(port) ? "" : `:${port}`;
    return host === "" || pathOf(path) === "" ? null : `${host.toLowerCase()}${portText}/${pathOf(path)}`;
  }
  // host:path, as ssh has it; a single letter is a drive.
  const scp = /^(?:[^@/\s]+@)?([^@/:\s]{2,}):([^\s]+)$/.exec(text);
  if (scp !== null) {
    const [, host = "", path = ""] = scp;
    return pathOf(path) === "" ? null : `${host.toLowerCase()}/${pathOf(path)}`;
  }
  return text.startsWith("/") && pathOf(text) !== "" ? `file/${pathOf(text)}` : null;
}

function pathOf(path: string): string {
  return path
    .replace(/^\/+/, "")
    .replace(/(?<!\/)\/+$/, "")
    .replace(/\.git$/, "");
}

/** What a conversation recorded of its project, and whether that place is still there. */
export interface ProjectRecord extends Project {
  readonly isThere: boolean;
}

/**
 * The project a conversation belongs to now. What it recorded stays for as long as the folder is known by it, or where the
 * folder is gone and nothing is remembered of the one it is in now: then it was moved.
 */
export function projectNow(
  recorded: ProjectRecord | null,
  current: ProjectPlace | null,
  hasMemory: (id: string) => boolean,
): Project | null {
  if (current === null) return recorded === null ? null : plain(recorded);
  const ids = projectIds(current);
  const address = current.remote === null ? null : remoteAddress(current.remote);
  const place = { root: current.root, ...(address === null ? {} : { remote: address }) };
  // A remote that was added later does not make another project of it.
  const memoryId = ids.find(hasMemory);
  if (recorded !== null && current.declaredId === null) {
    const isOfPath = recorded.id.startsWith("path:"); // it may say where the folder was before
    const isKept = ids.includes(recorded.id) || (isOfPath && recorded.root === current.root);
    if (isKept || (!recorded.isThere && memoryId === undefined)) return { id: recorded.id, ...place };
  }
  return { id: memoryId ?? ids[0] ?? `path:${current.root}`, ...place };
}

function plain({ isThere: _, ...project }: ProjectRecord): Project {
  return project;
}

const DIGEST_CHARS = 32;

/** An id in a name: so many letters and digits, whatever the id. */
export function projectDigest(id: string): string {
  return createHash("sha256").update(id).digest("hex").slice(0, DIGEST_CHARS);
}

const FILE_BYTES_MAX = 4_096;
const CONFIG_BYTES_MAX = 1_048_576;
const GIT_MS_MAX = 1_000; // a history that takes longer is known by its remote or its path

/** Looks for what a folder belongs to: the nearest id file or repository upwards, else the folder itself; null: there is no such folder. */
export async function findProject(folder: string): Promise<ProjectPlace | null> {
  const start = await realpath(resolve(folder)).catch(() => null);
  if (start === null) return null;
  for (let folderPath = start; ; folderPath = dirname(folderPath)) {
    const id = await readProjectFile(join(folderPath, PROJECT_FILE));
    if (id !== null) return { root: folderPath, declaredId: id, remote: null, firstCommit: null };
    if (await isRepository(join(folderPath, ".git")))
      return { root: folderPath, declaredId: null, ...(await readRepository(folderPath)) };
    if (dirname(folderPath) === folderPath)
      return { root: start, declaredId: null, remote: null, firstCommit: null };
  }
}

/** A link is not followed: it would let another folder say whose memory is read here. */
async function readProjectFile(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  if (stats?.isFile() !== true) return null;
  return parseProjectId(await readStart(path, FILE_BYTES_MAX), path);
}

async function readStart(path: string, bytesMax: number): Promise<string> {
  await using file = await open(path, "r");
  const { buffer, bytesRead } = await file.read(new Uint8Array(bytesMax), 0, bytesMax, 0);
  return new TextDecoder().decode(buffer.subarray(0, bytesRead));
}

async function readRepository(root: string): Promise<Pick<ProjectPlace, "remote" | "firstCommit">> {
  const folder = await gitFolder(join(root, ".git"));
  if (folder === null) return { remote: null, firstCommit: null };
  const config = await readStart(join(folder, "config"), CONFIG_BYTES_MAX).catch(() => "");
  const remote = remoteIn(config);
  return { remote, firstCommit: remote === null ? await readFirstCommit(folder) : null };
}

/** The same with its first commit, which is looked for only where the remote says too little: it costs a process. */
async function withFirstCommit(place: ProjectPlace): Promise<ProjectPlace> {
  const folder = place.remote === null ? null : await gitFolder(join(place.root, ".git"));
  return folder === null ? place : { ...place, firstCommit: await readFirstCommit(folder) };
}

/** Where a repository keeps what all its working trees share. */
async function gitFolder(path: string): Promise<string | null> {
  const stats = await lstat(path).catch(() => null);
  if (stats === null) return null;
  const own = stats.isFile() ? await linkedFolder(path) : path;
  if (own === null) return null;
  const shared = await readFile(join(own, "commondir"), "utf8").catch(() => ".");
  return resolve(own, shared.trim());
}

async function linkedFolder(file: string): Promise<string | null> {
  const target = /^gitdir: (.+)$/m.exec(await readStart(file, FILE_BYTES_MAX))?.[1];
  return target === undefined ? null : resolve(dirname(file), target.trim());
}

/** The URL of `origin`, else of the first remote. */
function remoteIn(config: string): string | null {
  const urls = new Map<string, string>();
  let section: string | null = null;
  for (const line of config.split(/\r?\n/)) {
    const header = /^\s*\[([^\]]*)\]/.exec(line);
    if (header !== null) section = /^remote "(.+)"$/.exec(header[1] ?? "")?.[1] ?? null;
    const url =
      section === null ? null : /^\s*url\s*=([^#;]*)$/i.exec(line)?.[1]?.trim().replaceAll(/^"|"$/g, "");
    if (section !== null && url !== undefined && url !== null && /^[^"]+$/.test(url) && !urls.has(section))
      urls.set(section, url);
  }
  const [first = null] = urls.values();
  return urls.get("origin") ?? first;
}

const FIRST_COMMITS = new Map<string, Promise<string | null>>(); // they do not change; asking costs a process

/** The oldest commit without a parent; null where there is none, or no git. */
function readFirstCommit(folder: string): Promise<string | null> {
  const cached = FIRST_COMMITS.get(folder);
  if (cached !== undefined) return cached;
  // Nothing of the repository's own settings is to run a program or to reach a network.
  const safe = ["-c", "protocol.allow=never", "-c", "core.fsmonitor=false"];
  const args = [...safe, `--git-dir=${folder}`, "rev-list", "--max-parents=0", "HEAD"];
  const search = new Promise<string | null>((done) => {
    execFile("git", args, { timeout: GIT_MS_MAX, windowsHide: true }, (error, out) => {
      const last = error === null ? out.trim().split("\n").at(-1) : undefined;
      done(last !== undefined && /^[0-9a-f]{40,64}$/.test(last) ? last : null);
    });
  });
  FIRST_COMMITS.set(folder, search);
  // A repository without a commit may have one the next time.
  void search.then((commit) => (commit === null ? FIRST_COMMITS.delete(folder) : true));
  return search;
}

const PLACES_READ = 64; // folders a conversation was moved to; those before are of no use any more
const TYPES = ["conversation", "cwd"] as const;

interface ConversationProject {
  readonly project: Project | null;
  /** Entries to write if the conversation does not have them yet. */
  readonly bodies: readonly EntryBody[];
}

/** What a conversation recorded last of the project it belongs to, itself or by what it was forked from. */
export async function readRecordedProject(conversation: Conversation): Promise<Project | null> {
  const ofOwn = projectIn(await conversation.read({ limit: PLACES_READ, newestFirst: true, types: TYPES }));
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
  // Memory from before the repository had a remote is found by the first commit.
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
