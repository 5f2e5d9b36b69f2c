import { setTimeout as sleep } from "node:timers/promises";
import type { Conversation } from "#conversation/conversation";
import { isLogError } from "#log/errors";
import type { Printer } from "#edges/cli/terminal/printer";

const LOOK_MS = 200;
const PROCESS = /\(process (\d+), /;

/** Waits for whoever has the conversation now; a process of this machine that is gone is not waited for. */
export async function whenFree<T>(
  conversation: Conversation,
  how: { readonly signal: AbortSignal; readonly onWait: (text: string) => void },
  work: () => Promise<T>,
): Promise<T> {
  for (let told = false; ; told = true) {
    try {
      return await work();
    } catch (error) {
      if (!isLogError(error, "busy") || how.signal.aborted) throw error;
      const { lease } = await conversation.head();
      if (!told) how.onWait(`Waiting for ${nameOf(lease?.writer)} to finish; Ctrl-C gives up.`);
      await sleep(LOOK_MS, undefined, { signal: how.signal }).catch(() => undefined);
    }
  }
}

function nameOf(writer: string | undefined): string {
  if (writer === undefined) return "another process";
  const [, pid] = PROCESS.exec(writer) ?? [];
  return pid === undefined ? writer : `process ${pid}`;
}

const TICK_MS = 1_000;
const QUIET_S = 2; // most answers begin sooner

/** Says at a terminal that something is waited for, and for how long. */
export class WaitingLine {
  readonly #printer: Printer;
  #timer: NodeJS.Timeout | null = null;

  constructor(printer: Printer) {
    this.#printer = printer;
  }

  begin(what: string): void {
    this.end();
    let seconds = 0;
    this.#timer = setInterval(() => {
      if (++seconds >= QUIET_S) this.#printer.passing(`${what} (${seconds} s); Ctrl-C stops it`);
    }, TICK_MS);
  }

  end(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#printer.clearPassing();
  }
}
