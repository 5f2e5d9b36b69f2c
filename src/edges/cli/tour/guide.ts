import { LogError } from "#log/errors";
import type { EntryBody } from "#log/entry";
import type { Call, Io, Sink } from "#edges/cli/command";
import { wrap } from "#edges/cli/terminal";

const WIDTH_MAX = 100;

/** Runs the commands it shows: what a reader sees is what they would get. */
export class Guide {
  readonly #call: Call;
  readonly #store: string;
  readonly #out: Sink;
  readonly #width: number;
  #step: number = 0;

  constructor(call: Call, store: string) {
    this.#call = call;
    this.#store = store;
    this.#out = call.io.out;
    this.#width = Math.min(this.#out.columns, WIDTH_MAX);
  }

  async #print(text: string): Promise<void> {
    if (!this.#call.json) await this.#out.write(`${text}\n`);
  }

  async chapter(heading: string, text: string): Promise<void> {
    const { style } = this.#out;
    this.#step++;
    await this.#print(`\n${style.bold(`${this.#step}. ${heading}`)}`);
    await this.say(text);
  }

  async say(text: string): Promise<void> {
    for (const line of wrap(text, this.#width)) await this.#print(line);
  }

  /** Shows a command and what it prints; `shown` replaces what is piped in by something shorter. */
  async run(argv: readonly string[], input: readonly EntryBody[] = [], shown: string = ""): Promise<void> {
    const { style } = this.#out;
    const line = `${shown === "" ? "" : `${shown} | `}holdfast ${argv.map(quoted).join(" ")}`;
    await this.#print(`\n  ${style.dim("$")} ${style.cyan(line)}`);
    const text = await this.read(argv, input);
    for (const row of text.trimEnd().split("\n")) await this.#print(`  ${row}`.trimEnd());
  }

  /** Runs a command without showing it. */
  async read(argv: readonly string[], input: readonly EntryBody[] = []): Promise<string> {
    const printed: string[] = [];
    const errors: string[] = [];
    const sinkInto = (lines: string[]): Sink => ({
      style: this.#out.style,
      isTerminal: false,
      columns: this.#width - 2,
      write: async (text) => void lines.push(text),
      writeBytes: async (bytes) => void lines.push(new TextDecoder().decode(bytes)),
    });
    const io: Io = {
      ...this.#call.io,
      stdin: bytesOf(input),
      stdinIsTerminal: false,
      out: sinkInto(printed),
      err: sinkInto(errors),
    };
    const status = await this.#call.run(["--store", this.#store, ...argv], io);
    if (status !== 0)
      throw new LogError(
        "store_failed",
        `The tour stopped at \`holdfast ${argv.join(" ")}\`: ${errors.join("")}`,
      );
    return printed.join("");
  }
}

function quoted(word: string): string {
  return /^[\w@:.,=/-]+$/.test(word) ? word : `"${word}"`;
}

async function* bytesOf(bodies: readonly EntryBody[]): AsyncGenerator<Uint8Array> {
  for (const body of bodies) yield new TextEncoder().encode(`${JSON.stringify(body)}\n`);
}
