import { createHash } from "node:crypto";
import { LogError } from "#log/errors";
import type { Project } from "#log/entry";

/** The file that names a project, in its folder: one line. */
export const PROJECT_FILE = ".holdfast/project";
const ID_CHARS_MAX = 200;

/** What is found of a project where a conversation is worked on. */
export interface ProjectPlace {
  /** The folder of the id file, of the repository, or the folder itself. */
  readonly root: string;
  /** What the id file says. */
  readonly declaredId: string | null;
  /** The repository's remote as it is configured. */
  readonly remote: string | null;
  readonly firstCommit: string | null;
}

/** What a project may be known by, the surest first. A name that somebody gave is the only one. */
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
    `${file} names the project in one line of 1 to ${ID_CHARS_MAX} characters, and this one does not; correct it, or delete it`,
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
