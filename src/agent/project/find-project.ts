import { execFile } from "node:child_process";
import { lstat, open, readFile, realpath } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { isRepository } from "#agent/prompt/instructions";
import { parseProjectId, PROJECT_FILE, type ProjectPlace } from "./project-identity.ts";

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
  return { remote, firstCommit: remote === null ? await firstCommit(folder) : null };
}

/** The same with its first commit, which is looked for only where the remote says too little: it costs a process. */
export async function withFirstCommit(place: ProjectPlace): Promise<ProjectPlace> {
  const folder = place.remote === null ? null : await gitFolder(join(place.root, ".git"));
  return folder === null ? place : { ...place, firstCommit: await firstCommit(folder) };
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
function firstCommit(folder: string): Promise<string | null> {
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
