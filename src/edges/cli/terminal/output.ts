import { once } from "node:events";
import { LogError } from "#log/errors";
import type { Sink } from "#edges/cli/command";
import { styleFor } from "./terminal.ts";

const COLUMNS_DEFAULT = 80;
// The second where the output is a socket, as a parent process may give it, and the reader left something unread.
const READER_GONE: ReadonlySet<string> = new Set(["EPIPE", "ECONNRESET"]);

/** Whether an output broke because its reader had seen enough. */
export function isReaderGone(code: string | null): boolean {
  return code !== null && READER_GONE.has(code);
}

/** A stream of the process that may break while it is written to: a reader that has seen enough, a full disk. */
export class Output {
  readonly sink: Sink;
  readonly #stream: NodeJS.WriteStream;
  readonly #onBreak: (code: string) => void;
  #broken: string | null = null;

  /** `onBreak` hears of it at once; whoever writes afterwards does, too, unless it is `forgiving`. */
  constructor(
    stream: NodeJS.WriteStream,
    env: Readonly<Record<string, string | undefined>>,
    how: { readonly forgiving: boolean; onBreak(code: string): void },
  ) {
    this.#stream = stream;
    this.#onBreak = (code) => how.onBreak(code);
    stream.on("error", (error: NodeJS.ErrnoException) => this.#break(error.code ?? error.message));
    const isTerminal = stream.isTTY;
    this.sink = {
      isTerminal,
      style: styleFor(isTerminal, env),
      columns: isTerminal && stream.columns > 0 ? stream.columns : COLUMNS_DEFAULT,
      write: (text) => this.#try(text, how.forgiving),
      writeBytes: (bytes) => this.#try(bytes, how.forgiving),
    };
  }

  /** Why nothing more can be written; null while it can. */
  get broken(): string | null {
    return this.#broken;
  }

  failure(): LogError {
    const why = isReaderGone(this.#broken) ? "was closed by its reader" : `failed (${this.#broken})`;
    return new LogError(
      "store_failed",
      `Standard output ${why}, so the rest of the output is lost. Acknowledged input is stored; later input was not read`,
    );
  }

  #break(code: string): void {
    this.#broken ??= code;
    this.#onBreak(code);
  }

  async #try(text: string | Uint8Array, forgiving: boolean): Promise<void> {
    if (this.#broken === null && text.length > 0) await this.#write(text);
    if (this.#broken !== null && !forgiving) throw this.failure();
  }

  async #write(text: string | Uint8Array): Promise<void> {
    if (this.#stream.write(text)) return;
    const stop = new AbortController();
    const { signal } = stop;
    // A stream that breaks never drains.
    await Promise.race([once(this.#stream, "drain", { signal }), once(this.#stream, "close", { signal })])
      .catch(() => undefined)
      .finally(() => stop.abort());
  }
}

const QUIET_MS = 5_000; // a log file wants a line now and then, a person a line that moves
const REDRAW_MS = 100;
const START_MS = 400; // short work shows nothing

interface Progress {
  readonly step: (done: number, total?: number) => void;
  readonly end: () => void;
}

/** Tells on stderr how far long work has come. */
export function progressOn(sink: Sink, phase: string): Progress {
  const started = performance.now();
  let shownAt = sink.isTerminal ? started + START_MS - REDRAW_MS : started;
  let drawn = false;
  return {
    step(done, total) {
      const now = performance.now();
      if (now - shownAt < (sink.isTerminal ? REDRAW_MS : QUIET_MS)) return;
      shownAt = now;
      const count = total === undefined ? String(done) : `${done}/${total}`;
      const left =
        total === undefined || done === 0
          ? ""
          : ` · ${seconds(((now - started) * (total - done)) / done)} left`;
      const line = `${phase} · ${count} · ${seconds(now - started)}${left}`;
      void sink.write(sink.isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
      drawn = true;
    },
    end() {
      if (drawn && sink.isTerminal) void sink.write("\r\u001B[K");
    },
  };
}

function seconds(ms: number): string {
  return ms < 60_000
    ? `${Math.round(ms / 1000)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
