import type { HostEvent } from "#turn/host";
import type { Sink } from "#edges/cli/command";
import { Flow } from "./flow.ts";
import { noticeText } from "#transfer/notices";
import { clockOf } from "#edges/cli/view/time";
import { safeLine, wrap } from "#edges/cli/terminal";
import { jsonPreview } from "#edges/cli/view/preview";

const WIDTH_MAX = 100;
const LABEL = 10;
const NOTICE_INPUT = {
  agent: "The agent",
  otherAgent: null,
  timeText: (ms: number): string => clockOf(new Date(ms).toISOString()),
};

/** What the audience sees. */
export class Stage {
  readonly #sink: Sink;
  readonly #flow: Flow;
  #scene: number = 0;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#flow = new Flow(sink, LABEL);
  }

  scene(heading: string): void {
    this.#print(`\n${this.#sink.style.bold(`${++this.#scene}. ${heading}`)}`);
  }

  say(text: string): void {
    for (const line of wrap(text, Math.min(this.#sink.columns, WIDTH_MAX))) this.#print(line);
  }

  you(text: string): void {
    this.#labelled(this.#sink.style.cyan, "you", text);
  }

  /** What strikes. */
  strike(text: string): void {
    this.#labelled(this.#sink.style.red, "⚡", text);
  }

  /** What Holdfast does about it. */
  notice(text: string): void {
    this.#labelled(this.#sink.style.yellow, "holdfast", text);
  }

  rows(rows: readonly string[]): void {
    for (const row of rows) this.#print(`  ${row}`);
  }

  /** What the host tells, as it tells it. */
  event(event: HostEvent): void {
    const notice = noticeText(event, NOTICE_INPUT);
    if (notice !== null) this.notice(`${notice.title}. ${notice.description}`);
    if (event.type === "ended") this.#flow.end();
    if (event.type !== "update") return;
    const update = event.event;
    if (update.type === "text") {
      if (!this.#flow.open) this.#flow.begin(this.#label(this.#sink.style.green, "agent"));
      this.#flow.add(update.text);
    } else if (update.type === "tool") {
      this.#flow.end();
      const text =
        update.state === "started"
          ? `▸ ${update.name} ${jsonPreview(update.input)}`
          : `✓ ${update.output ?? ""}`;
      this.#labelled(this.#sink.style.dim, "", text);
    }
  }

  #labelled(paint: (text: string) => string, label: string, text: string): void {
    this.#flow.end();
    const width = Math.max(20, Math.min(this.#sink.columns, WIDTH_MAX) - LABEL);
    const lines = wrap(safeLine(text), width).map((line) => (label === "" ? paint(line) : line));
    this.#print(`${this.#label(paint, label)}${lines.join(`\n${" ".repeat(LABEL)}`)}`);
  }

  #label(paint: (text: string) => string, label: string): string {
    return paint(label) + " ".repeat(LABEL - label.length);
  }

  #print(text: string): void {
    // What cannot be shown any more is told by the next write that is waited for.
    this.#sink.write(`${text}\n`).catch(() => undefined);
  }
}
