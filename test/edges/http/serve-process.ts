import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { MAIN } from "../cli/cli-run.ts";

const WRONG_CLOCK = new URL("../../support/wrong-clock.ts", import.meta.url).href;

interface Ready {
  readonly url: string;
  readonly launch: string;
  readonly token: string;
}

/** A server in a process of its own. */
export interface ServeProcess extends Ready, AsyncDisposable {
  readonly pid: number;
  /** Settles when the process is over, whoever ended it. */
  readonly ended: Promise<unknown>;
  /** Does nothing to a process that is over. */
  signal(signal: NodeJS.Signals): void;
  /** Ends it by a signal; its exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

/** `holdfast serve` with these arguments; resolves when it listens. */
export function startServer(store: string, ...args: readonly string[]): Promise<ServeProcess> {
  return startServerWithClock(0, store, ...args);
}

/** The same on a machine whose clock is wrong by so many milliseconds. */
export async function startServerWithClock(
  skewMs: number,
  store: string,
  ...args: readonly string[]
): Promise<ServeProcess> {
  const clock = skewMs === 0 ? [] : ["--import", WRONG_CLOCK];
  const child = spawn(
    process.execPath,
    [...clock, MAIN, "serve", "--json", "--print-link", "--store", store, ...args],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: { ...process.env, TEST_CLOCK_SKEW_MS: String(skewMs) },
    },
  );
  const closed = once(child, "close") as Promise<[number | null]>;
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return (await closed)[0];
  };
  return {
    ...(JSON.parse(line) as Ready),
    pid: child.pid ?? 0,
    ended: closed,
    signal: (signal) => void child.kill(signal),
    end,
    [Symbol.asyncDispose]: async () => void (child.exitCode === null && (await end("SIGKILL"))),
  };
}
