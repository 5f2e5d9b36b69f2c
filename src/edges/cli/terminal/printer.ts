import type { HostEvent } from "#turn/host";
import { noticeText } from "#operations/views/notices";
import type { Sink } from "#edges/cli/command";
import { fit, safeLine, safeText, widthOf, wrap } from "./terminal.ts";
import { jsonPreview } from "#transfer/views/entry-preview";
import { clockOf } from "./time.ts";
import type { Refusal } from "#agent/tools/permissions";
import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const WIDTH_MAX = 100;
const TAB = "    ";
const CLEAR_LINE = "\r\u001B[K";
const LABEL = 10;
const NOTICE_INPUT = {
  agent: "The agent",
  otherAgent: null,
  timeText: (ms: number): string => clockOf(new Date(ms).toISOString()),
};

/** Prints for people: numbered headings, labelled lines, and answers as they stream in. */
export class Printer {
  readonly #sink: Sink;
  readonly #answer: StreamedText;
  readonly #thinking: StreamedText;
  #headings: number = 0;
  /** What is printed while a person is asked: it would stand in the line they type. */
  #pending: string[] | null = null;
  /** The call whose line was printed last. */
  #lastStarted: string | null = null;
  /** A line stands there that the next one takes the place of. */
  #isPassing: boolean = false;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#answer = new StreamedText(
      (text) => this.#write(text),
      () => this.#width,
    );
    this.#thinking = new StreamedText(
      (text) => this.#write(sink.style.dim(text)),
      () => this.#width,
    );
  }

  get #width(): number {
    return Math.min(this.#sink.columns, WIDTH_MAX);
  }

  heading(text: string): void {
    this.#write(`\n${this.#sink.style.bold(`${++this.#headings}. ${text}`)}\n`);
  }

  say(text: string): void {
    this.rows(wrap(text, this.#width), "");
  }

  you(text: string): void {
    this.#labelled(this.#sink.style.cyan, "you", text);
  }

  /** Something goes wrong. */
  fault(text: string): void {
    this.#labelled(this.#sink.style.red, "⚡", text);
  }

  /** Somebody has to answer; line breaks stay, for they are part of what is asked. */
  question(text: string): void {
    this.endStreams();
    const lines = wrap(safeText(text), Math.max(20, this.#width - LABEL));
    this.#write(`${label(this.#sink.style.cyan, "?")}${lines.join(`\n${" ".repeat(LABEL)}`)}\n`);
  }

  /** What Holdfast does about it. */
  notice(text: string): void {
    this.#labelled(this.#sink.style.yellow, "holdfast", text);
  }

  /** Typed ahead, and waits. */
  next(text: string): void {
    this.#labelled(this.#sink.style.dim, "next", fit(safeLine(text), Math.max(20, this.#width - LABEL)));
  }

  /** A line for the moment, at a terminal: whatever comes next takes its place. */
  passing(text: string): void {
    if (!this.#sink.isTerminal || this.#pending !== null || this.#answer.isOpen || this.#thinking.isOpen)
      return;
    this.#write(
      `${this.#isPassing ? CLEAR_LINE : ""}${this.#sink.style.dim(fit(safeLine(text), this.#width))}`,
    );
    this.#isPassing = true;
  }

  /** Takes it away. */
  clearPassing(): void {
    if (this.#isPassing) this.#write("");
  }

  /** Keeps back what is printed from now on, until it is let go. */
  hold(): void {
    this.#pending ??= [];
  }

  letGo(): void {
    const pending = this.#pending;
    this.#pending = null;
    for (const text of pending ?? []) this.#write(text);
  }

  /** The same where line breaks matter. */
  lines(text: string): void {
    for (const [index, line] of text.split("\n").entries())
      this.#labelled(this.#sink.style.yellow, index === 0 ? "holdfast" : " ", line);
  }

  /** For whoever looks on; a pipe gets none of it. */
  reminder(rows: readonly string[]): void {
    if (this.#sink.isTerminal)
      this.rows(
        rows.map((row) => this.#sink.style.dim(row)),
        "",
      );
  }

  rows(rows: readonly string[], indent: string = "  "): void {
    for (const row of rows) this.#write(`${`${indent}${row}`.trimEnd()}\n`);
  }

  /** What the host tells, as it tells it. */
  event(event: HostEvent): void {
    const notice = noticeText(event, NOTICE_INPUT);
    if (notice !== null) this.notice(`${notice.title}. ${notice.description}`);
    if (event.type === "ended") this.endStreams();
    if (event.type !== "update") return;
    const update = event.event;
    if (update.type === "thinking") {
      this.#answer.end();
      this.#thinking.add(
        update.text,
        label((text) => text, "thinks"),
      );
    } else if (update.type === "text") {
      this.#thinking.end();
      this.#answer.add(update.text, label(this.#sink.style.green, "agent"));
    } else if (update.type === "tool") {
      if (update.state === "started") {
        this.#lastStarted = update.call;
        this.#labelled(this.#sink.style.dim, "", `▸ ${update.name} ${jsonPreview(update.input)}`);
      } else {
        const { name, call, output = "" } = update;
        const [first = "", ...rest] = toolLines(update.state === "failed", output);
        // Behind another call it has to be said whose result it is.
        const whose = this.#lastStarted === call ? first : `${first.slice(0, 1)} ${name}${first.slice(1)}`;
        this.#lastStarted = null;
        const denied = deniedBy(update.details);
        const lines = denied === null ? [whose, ...rest] : [deniedLine(name, denied)];
        this.#asIs(this.#sink.style.dim, lines);
      }
    }
  }

  /** Resolves when all of it is written; fails when nobody reads any more. */
  flushed(): Promise<void> {
    return this.#sink.write("");
  }

  /** Whatever streams in is over. */
  endStreams(): void {
    this.#answer.end();
    this.#thinking.end();
  }

  #labelled(paint: (text: string) => string, name: string, text: string): void {
    this.endStreams();
    const lines = wrap(safeLine(text), Math.max(20, this.#width - LABEL));
    const painted = name === "" ? lines.map((line) => paint(line)) : lines;
    this.#write(`${label(paint, name)}${painted.join(`\n${" ".repeat(LABEL)}`)}\n`);
  }

  /** Lines with their own white space. */
  #asIs(paint: (text: string) => string, lines: readonly string[]): void {
    this.endStreams();
    const width = Math.max(20, this.#width - LABEL);
    const indent = " ".repeat(LABEL);
    for (const line of lines.flatMap((one) => wrap(safeText(one).replaceAll("\n", " "), width)))
      this.#write(`${indent}${paint(line)}`.trimEnd() + "\n");
  }

  #write(text: string): void {
    if (this.#pending !== null) return void this.#pending.push(text);
    const clear = this.#isPassing && !text.startsWith(CLEAR_LINE) ? CLEAR_LINE : "";
    if (clear !== "") this.#isPassing = false;
    // What cannot be shown any more is told by the next write that is waited for.
    this.#sink.write(`${clear}${text}`).catch(() => undefined);
  }
}

function label(paint: (text: string) => string, name: string): string {
  return paint(name) + " ".repeat(LABEL - name.length);
}

/** Text as it comes, broken at spaces and set behind its label. A word is shown when it is whole. */
class StreamedText {
  readonly #write: (text: string) => void;
  readonly #width: () => number;
  #column: number = LABEL;
  #unfinished: string = "";
  #gap: string = "";
  #open: boolean = false;

  constructor(write: (text: string) => void, width: () => number) {
    this.#write = write;
    this.#width = width;
  }

  get isOpen(): boolean {
    return this.#open;
  }

  add(text: string, heading: string): void {
    if (!this.#open) this.#write(heading);
    if (!this.#open) this.#column = LABEL;
    this.#open = true;
    const [first = "", ...rest] = text.split(/(?<=[ \n])/);
    const parts = [this.#unfinished + first, ...rest];
    this.#unfinished = /[ \n]$/.test(text) ? "" : (parts.pop() ?? "");
    for (const part of parts) this.#word(part);
  }

  end(): void {
    if (!this.#open) return;
    this.#word(this.#unfinished);
    [this.#unfinished, this.#gap, this.#open] = ["", "", false];
    this.#write("\n");
  }

  /** Spaces and line breaks wait for the word behind them, so that no line ends in them. */
  #word(raw: string): void {
    const word = safeText(raw).trimEnd().replaceAll("\t", TAB);
    if (word !== "") {
      const lines = this.#gap.split("\n").length - 1;
      // What stands at the start of a line is part of what is said: code is indented.
      const space = this.#gap.slice(this.#gap.lastIndexOf("\n") + 1);
      const full = lines === 0 && this.#column + space.length + widthOf(word) > this.#width();
      const needsBreak = full && this.#column > LABEL;
      const start = needsBreak ? "\n" : "\n".repeat(lines);
      const indent = needsBreak ? "" : space;
      this.#write(`${start}${start === "" ? "" : " ".repeat(LABEL)}${indent}${word}`);
      this.#column = (start === "" ? this.#column : LABEL) + indent.length + widthOf(word);
      this.#gap = "";
    }
    this.#gap += raw.slice(raw.trimEnd().length);
  }
}

const [HEAD_LINES, TAIL_LINES, LINE_CHARS] = [4, 4, 400];
const END = /^\[(exit code \d+|ended by \w+|stopped: .*)\]$/;

/** What a tool gave, for a person: how it ended first, then its beginning and its end as they are. The log has all of it. */
export function toolLines(isFailure: boolean, output: string): readonly string[] {
  const lines = output.trimEnd().split("\n");
  const [, end] = END.exec(lines.at(-1) ?? "") ?? [];
  const outputLines = end === undefined ? lines : lines.slice(0, -1);
  const excerpt = headAndTail(outputLines.join("\n").trim() === "" ? [] : outputLines);
  const mark = isFailure ? "✗" : "✓";
  // A command that went well says so by its mark alone.
  const ending = end === undefined || (end === "exit code 0" && excerpt.length > 0) ? "" : end;
  const [first = "", ...rest] = excerpt;
  if (excerpt.length === 0) return [`${mark} ${ending === "" ? "(nothing)" : ending}`];
  if (ending !== "" || rest.length > 0 || /^\s/.test(first))
    return [`${mark} ${ending}`.trimEnd(), ...excerpt.map((line) => `  ${line}`)];
  return [`${mark} ${first}`];
}

function headAndTail(lines: readonly string[]): readonly string[] {
  const cut = lines.map((line) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line));
  if (lines.length <= HEAD_LINES + TAIL_LINES + 1) return cut;
  const omitted = lines.length - HEAD_LINES - TAIL_LINES;
  return [...cut.slice(0, HEAD_LINES), `… ${omitted} more lines …`, ...cut.slice(-TAIL_LINES)];
}

const DENIALS: { readonly [R in Refusal]: string } = {
  person: "not run: you said no",
  rule: "not run: a rule forbids it",
  nobody: "not run: it requires approval, and no terminal is connected",
};

/** Who denied a call, by the details of its result; null: it was not denied. */
export function deniedBy(details: Json = null): Refusal | null {
  const by = textIn(fieldsIn(details)?.["refusedBy"]);
  return by !== null && Object.hasOwn(DENIALS, by) ? (by as Refusal) : null;
}

/** A call that was denied: the text of its result is for the model. */
export function deniedLine(tool: string, by: Refusal): string {
  return `✗ ${tool} was ${DENIALS[by]}`;
}
