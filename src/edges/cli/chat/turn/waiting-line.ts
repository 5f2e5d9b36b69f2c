import type { Printer } from "#edges/cli/terminal/printer";

const LOOK_MS = 1_000;
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
    }, LOOK_MS);
  }

  end(): void {
    if (this.#timer === null) return;
    clearInterval(this.#timer);
    this.#timer = null;
    this.#printer.clearPassing();
  }
}
