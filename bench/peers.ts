import { execFileSync } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";

/** What the measurements use of pi's session manager. */
export interface PiModule {
  readonly SessionManager: {
    open(
      path: string,
      sessionDir: string,
    ): { buildSessionContext(): { readonly messages: readonly unknown[] } };
  };
}

/** What the measurements use of LangGraph's SQLite saver. */
export interface SaverModule {
  readonly SqliteSaver: { fromConnString(path: string): Saver };
}

export interface Saver {
  readonly db: { close(): void };
  put(config: SaverConfig, checkpoint: object, metadata: object, versions: object): Promise<SaverConfig>;
}

export interface SaverConfig {
  readonly configurable: {
    readonly thread_id: string;
    readonly checkpoint_ns: string;
    readonly checkpoint_id?: string;
  };
}

export interface MessagesModule {
  readonly HumanMessage: new (fields: { content: string; id: string }) => object;
  readonly AIMessage: new (fields: { content: string; id: string }) => object;
}

export const PI = "@earendil-works/pi-coding-agent";
export const SAVER = "@langchain/langgraph-checkpoint-sqlite";
export const MESSAGES = "@langchain/core/messages";

/** Installs what we compare with into this folder, when it is missing or older than its lock file. */
export function installPeers(say: (line: string) => void): void {
  const dir = import.meta.dirname;
  const installed = statSync(join(dir, "node_modules", ".package-lock.json"), { throwIfNoEntry: false });
  const wanted = statSync(join(dir, "package-lock.json"));
  if (installed !== undefined && installed.mtimeMs >= wanted.mtimeMs) return;
  say("installing what we compare with");
  try {
    execFileSync("npm", ["ci", "--prefix", dir, "--loglevel=error", "--no-progress"], {
      cwd: dir,
      stdio: ["ignore", "ignore", "inherit"],
    });
  } catch {
    say("that failed; rows that need it are left out");
  }
}

/** A package of this folder, or why it cannot be used. Named at run time: the project's types do without them. */
export async function loadPeer<Module>(name: string): Promise<Module | string> {
  try {
    return (await import(name)) as Module;
  } catch (error) {
    return `${name} could not be loaded: ${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}`;
  }
}
