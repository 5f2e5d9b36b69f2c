/** The scripted agent's folder, as a test sees it: what it was sent, what it made, and ways to spoil it. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runs } from "../../edges/acp/mini-agent.ts";
import { type Control, readControl, writeControl } from "./control.ts";
import type { Native } from "./native.ts";
import type { Said, SessionFile } from "./session-files.ts";
import { fieldsOf, type Fields, textOf } from "./wire.ts";

export const PREAMBLE = "[Earlier conversation, restored from its log]";

export interface Received {
  readonly pid: number;
  /** The line as it came. */
  readonly line: string;
  readonly message: Fields;
  readonly method: string;
  readonly params: Fields;
}

export class AgentFolder {
  readonly path: string;
  readonly #native: Native | null;

  constructor(path: string, native: Native | null) {
    this.path = path;
    this.#native = native;
    mkdirSync(path, { recursive: true });
  }

  /** Every line it was ever sent, by whatever process of it. */
  received(): readonly Received[] {
    const path = join(this.path, "received.ndjson");
    if (!existsSync(path)) return [];
    return readFileSync(path, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((record) => {
        const { pid, line } = JSON.parse(record) as { pid: number; line: string };
        const message = fieldsOf(JSON.parse(line));
        return { pid, line, message, method: textOf(message["method"]), params: fieldsOf(message["params"]) };
      });
  }

  /** The methods it was called with, in order, but for those named. */
  calls(...without: readonly string[]): readonly string[] {
    return this.received()
      .map(({ method }) => method)
      .filter((method) => method !== "" && !without.includes(method));
  }

  of(method: string): readonly Received[] {
    return this.received().filter((one) => one.method === method);
  }

  /** The whole text of each prompt it was sent. */
  prompts(): readonly string[] {
    return this.of("session/prompt").map(({ params }) =>
      (params["prompt"] as readonly Fields[]).map((block) => textOf(block["text"])).join("\n"),
    );
  }

  /** How often a prompt ended with these words. */
  sent(order: string): number {
    return this.prompts().filter((prompt) => prompt.trimEnd().endsWith(order)).length;
  }

  pids(): readonly number[] {
    return [...new Set(this.received().map(({ pid }) => pid))];
  }

  /** Every id it ever gave out. */
  ids(): readonly string[] {
    const path = join(this.path, "ids.txt");
    return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  }

  /** Those, and every other it was called by: a session may be made by writing its transcript. */
  everyId(): readonly string[] {
    const called = this.received().map(({ params }) => textOf(params["sessionId"]));
    return [...this.ids(), ...called.filter((id) => id !== "")];
  }

  control(change: Control): void {
    writeControl(this.path, { ...readControl(this.path), ...change });
  }

  #pathOf(id: string): string {
    return join(this.path, "sessions", `${encodeURIComponent(id)}.json`);
  }

  session(id: string): SessionFile {
    return JSON.parse(readFileSync(this.#pathOf(id), "utf8")) as SessionFile;
  }

  /** Its own record in the home folder, where it keeps one. */
  transcript(id: string): string | null {
    return this.#native?.path(id) ?? null;
  }

  lose(id: string): void {
    const transcript = this.transcript(id);
    rmSync(this.#pathOf(id), { force: true });
    if (transcript !== null) rmSync(transcript, { force: true });
  }

  /** Another program has the session open. */
  holdBy(id: string, pid: number): void {
    writeFileSync(`${this.#pathOf(id)}.owner`, String(pid));
  }

  /** Keeps only the first messages, in both places. */
  cut(id: string, keep: number): void {
    const session = this.session(id);
    this.write({ ...session, messages: session.messages.slice(0, keep) });
  }

  /** Adds words that went past everybody: the agent was used from somewhere else. */
  add(id: string, ...said: readonly Said[]): void {
    const session = this.session(id);
    this.write({ ...session, messages: [...session.messages, ...said] });
  }

  /** Puts a session into both places, as if the agent had it from somewhere else. */
  write(session: SessionFile): void {
    writeFileSync(this.#pathOf(session.id), JSON.stringify(session));
    this.#native?.write(session);
  }

  /** The process that was sent something last. */
  pid(): number {
    return this.received().at(-1)?.pid ?? 0;
  }

  /** Whether this process of it is there, or one that it started; another that got its number does not count. */
  runs(pid: number): boolean {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8");
      // While it execs its command line is empty, and its state decides.
      return command === "" ? runs(pid) : command.includes(this.path);
    } catch {
      return false; // it went between two looks
    }
  }

  /** Ends what is left of its processes. */
  end(): void {
    for (const pid of this.pids()) if (this.runs(pid)) process.kill(pid, "SIGKILL");
  }
}
