/** What the agent keeps of its sessions: one JSON file each, so that a test can delete, cut or add to them. */
import { randomUUID } from "node:crypto";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { Native } from "./native.ts";

export type Said =
  | { readonly role: "user" | "assistant"; readonly texts: readonly string[]; readonly messageId: string }
  | {
      readonly role: "tool";
      readonly call: string;
      readonly title: string;
      readonly output: string;
      /** The output stands in place of an outcome: the call never ran. */
      readonly neverRan?: true;
    };

export interface SessionFile {
  readonly id: string;
  readonly cwd: string;
  readonly title: string | null;
  readonly messages: readonly Said[];
}

export class SessionFiles {
  readonly #folder: string;
  readonly #native: Native | null;

  constructor(folder: string, native: Native | null) {
    this.#folder = join(folder, "sessions");
    this.#native = native;
    mkdirSync(this.#folder, { recursive: true });
  }

  /** Every id ever made, in a file of its own: a session may be deleted, its id must still not be seen. */
  made(id: string): void {
    appendFileSync(join(this.#folder, "..", "ids.txt"), `${id}\n`);
  }

  #path(id: string): string {
    return join(this.#folder, `${encodeURIComponent(id)}.json`);
  }

  save(session: SessionFile): void {
    const path = this.#path(session.id);
    writeFileSync(`${path}.new`, JSON.stringify(session));
    renameSync(`${path}.new`, path);
    this.#native?.write(session);
  }

  /** The process that has the session open, as long as it lives: closing the session does not free it. */
  ownerOf(id: string): number | null {
    const path = `${this.#path(id)}.owner`;
    const pid = existsSync(path) ? Number(readFileSync(path, "utf8")) : process.pid;
    return pid !== process.pid && existsSync(`/proc/${pid}`) ? pid : null;
  }

  own(id: string): void {
    writeFileSync(`${this.#path(id)}.owner`, String(process.pid));
  }

  find(id: string): SessionFile | null {
    const path = this.#path(id);
    if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8")) as SessionFile;
    return this.#native?.read(id) ?? null;
  }

  remove(id: string): void {
    rmSync(this.#path(id), { force: true });
    const native = this.#native?.path(id) ?? null;
    if (native !== null) rmSync(native, { force: true });
  }

  all(): readonly SessionFile[] {
    return readdirSync(this.#folder)
      .filter((name) => name.endsWith(".json"))
      .map((name) => JSON.parse(readFileSync(join(this.#folder, name), "utf8")) as SessionFile);
  }
}

/** The session as a cut at six tenths of its transcript leaves it. */
export function shortened(session: SessionFile): SessionFile {
  return { ...session, messages: session.messages.slice(0, Math.floor(session.messages.length * 0.6)) };
}

export function newMessageId(): string {
  return `msg_${randomUUID().replaceAll("-", "")}`;
}
