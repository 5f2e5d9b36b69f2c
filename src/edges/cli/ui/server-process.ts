import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import type { FromServer, Handover } from "#edges/cli/serve/supervised-run";

const MAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url),
);
const PATIENCE_MS = 4_000; // then it is ended, whatever it does

export type ReadyServer = Extract<FromServer, { kind: "ready" }>;

/** One life of the server process, from its start to its end. */
export class ServerProcess {
  readonly #child: ChildProcess;
  /** Null: it ended before it was ready. */
  readonly ready: Promise<ReadyServer | null>;
  /** How it ended: its status, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(given: {
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly handover: Handover;
    onAccess(access: KeptAccess): void;
  }) {
    const child = fork(MAIN, ["serve", "--supervised", ...given.args], {
      env: given.env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    const ready = Promise.withResolvers<ReadyServer | null>();
    child.on("message", (message: FromServer) => {
      if (message.kind === "ready") ready.resolve(message);
      else given.onAccess(message.access);
    });
    this.ended = once(child, "exit").then(
      ([status, signal]: (number | NodeJS.Signals)[]) => status ?? signal ?? 1,
      () => 1, // it could not be started
    );
    this.ready = ready.promise;
    void this.ended.then(() => ready.resolve(null));
    child.send(given.handover, () => undefined);
  }

  /** Asks it to end, and makes sure of it. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
    await this.ended;
    clearTimeout(timer);
  }
}
