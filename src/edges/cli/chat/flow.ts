import type { Sink } from "#edges/cli/command";
import { safeText, widthOf } from "#edges/cli/terminal";

const WIDTH_MAX = 100;

/** Streamed text as it comes, broken at spaces and set under its heading. A word is shown when it is whole. */
export class Flow {
  readonly #sink: Sink;
  readonly #indent: string;
  #column: number;
  #held: string = "";
  #gap: string = "";
  #open: boolean = false;

  constructor(sink: Sink, indent: number) {
    this.#sink = sink;
    this.#indent = " ".repeat(indent);
    this.#column = indent;
  }

  /** Something is on the line that has no end yet. */
  get open(): boolean {
    return this.#open;
  }

  begin(heading: string): void {
    this.#print(heading);
    this.#column = this.#indent.length;
    this.#open = true;
  }

  add(text: string): void {
    const parts = (this.#held + text).split(/(?<=[ \n])/);
    const last = parts.at(-1) ?? "";
    this.#held = /[ \n]$/.test(last) ? "" : (parts.pop() ?? "");
    for (const part of parts) this.#word(part);
  }

  end(): void {
    if (!this.#open) return;
    this.#word(this.#held);
    [this.#held, this.#gap] = ["", ""];
    this.#print("\n");
    this.#open = false;
  }

  /** Spaces and line breaks wait for the word behind them, so that no line ends in them. */
  #word(raw: string): void {
    const word = safeText(raw).trimEnd();
    if (word !== "") {
      const most = Math.min(this.#sink.columns, WIDTH_MAX);
      const space = this.#gap.replaceAll("\n", "");
      const full = this.#column + space.length + widthOf(word) > most && this.#column > this.#indent.length;
      const lines = full ? 1 : this.#gap.split("\n").length - 1;
      const before = lines === 0 ? space : `${"\n".repeat(lines)}${this.#indent}`;
      this.#print(before + word);
      this.#column = (lines === 0 ? this.#column + space.length : this.#indent.length) + widthOf(word);
      this.#gap = "";
    }
    this.#gap += raw.slice(raw.trimEnd().length);
  }

  #print(text: string): void {
    // What cannot be shown any more is told by the next write that is waited for.
    this.#sink.write(text).catch(() => undefined);
  }
}
