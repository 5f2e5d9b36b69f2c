import { systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { FromServer, Handover } from "./server-run.ts";

const FIRST_WAIT_MS = 100;
const WAIT_MS_MAX = 5_000;
const STARTS_MAX = 8; // that failed one after the other

interface Supervised {
  /** Of `holdfast serve`, without the port. */
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly port: number;
  /** The token of all its lives, and the page of the first link. */
  readonly secret: string;
  readonly to: string;
  readonly stop: AbortSignal;
  /** Told once, when it can be reached. */
  onReady(server: ReadyServer): Promise<void>;
  /** Told each time that it ended and is started again. */
  onEnd(exit: number | NodeJS.Signals): Promise<void>;
}

/**
 * Keeps a server running until the signal: one that ends is started again on the same port and lets in whom the one before let
 * in. Gives the status of one that could not be started at all.
 */
export async function supervise(options: Supervised): Promise<number> {
  const { stop } = options;
  let access: KeptAccess | null = null;
  let port = options.port;
  let isFirst = true;
  let failed = 0;
  while (!stop.aborted) {
    const server = new ServerProcess({
      args: [...options.args, "--port", String(port)],
      env: options.env,
      handover: { secret: options.secret, access, to: isFirst ? options.to : null },
      onAccess: (all) => (access = all),
    });
    using stopping = whenStopped(stop, server);
    const ready = await server.ready;
    if (ready !== null) {
      port = ready.port;
      failed = 0;
      if (isFirst) await options.onReady(ready);
      isFirst = false;
    }
    const exit = await server.ended;
    await stopping.done();
    if (stop.aborted) break;
    // What keeps the first one from starting keeps all of them; it has said what that is.
    if (isFirst) return typeof exit === "number" && exit > 0 ? exit : 1;
    if (ready === null && ++failed >= STARTS_MAX) throw lost(port);
    await options.onEnd(exit);
    if (failed > 0) await systemClock.sleep(Math.min(WAIT_MS_MAX, FIRST_WAIT_MS * 2 ** failed), stop);
  }
  return 0;
}

function lost(port: number): LogError {
  return new LogError(
    "store_gone",
    `The server could not be started again on port ${port}, ${STARTS_MAX} times; nothing that was acknowledged is lost`,
    { port },
  );
}

/** Ends a server once the signal fires, while it is looked after. */
function whenStopped(stop: AbortSignal, server: ServerProcess): Disposable & { done(): Promise<void> } {
  let ending: Promise<void> | null = null;
  const end = (): void => void (ending ??= server.stop());
  if (stop.aborted) end();
  stop.addEventListener("abort", end, { once: true });
  return {
    done: async () => void (await ending),
    [Symbol.dispose]: () => stop.removeEventListener("abort", end),
  };
}

const MAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url),
);
const PATIENCE_MS = 4_000; // then it is ended, whatever it does

type ReadyServer = Extract<FromServer, { kind: "ready" }>;

/** One life of the server process, from its start to its end. */
class ServerProcess {
  readonly #child: ChildProcess;
  /** Null: it ended before it was ready. */
  readonly ready: Promise<ReadyServer | null>;
  /** How it ended: its status, or the signal. */
  readonly ended: Promise<number | NodeJS.Signals>;

  constructor(options: {
    readonly args: readonly string[];
    readonly env: Readonly<Record<string, string | undefined>>;
    readonly handover: Handover;
    onAccess(access: KeptAccess): void;
  }) {
    const child = fork(MAIN, ["serve", "--supervised", ...options.args], {
      env: options.env,
      stdio: ["ignore", "ignore", "inherit", "ipc"],
    });
    this.#child = child;
    const ready = Promise.withResolvers<ReadyServer | null>();
    child.on("message", (message: FromServer) => {
      if (message.kind === "ready") ready.resolve(message);
      else options.onAccess(message.access);
    });
    this.ended = once(child, "exit").then(
      ([status, signal]: (number | NodeJS.Signals)[]) => status ?? signal ?? 1,
      () => 1, // it could not be started
    );
    this.ready = ready.promise;
    void this.ended.then(() => ready.resolve(null));
    child.send(options.handover, () => undefined);
  }

  /** Asks it to end, and makes sure of it. */
  async stop(): Promise<void> {
    this.#child.kill("SIGTERM");
    const timer = setTimeout(() => this.#child.kill("SIGKILL"), PATIENCE_MS);
    await this.ended;
    clearTimeout(timer);
  }
}
