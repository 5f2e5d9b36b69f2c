import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { StoreObserver } from "#store/decorate";
import { SCHEMA_VERSION } from "#transfer/context-text";
import type { Keyboard } from "./terminal/line-editor.ts";
import { type Style, safeJson } from "./terminal/terminal.ts";
import { readFileSync } from "node:fs";
import { readJson } from "#log/json/read-json";
import { argumentCounts, type Flags, type OptionTexts } from "./options.ts";

/** A stream to write to; resolves when more may follow. */
export interface Sink {
  readonly style: Style;
  readonly isTerminal: boolean;
  readonly columns: number;
  write(text: string): Promise<void>;
  writeBytes(bytes: Uint8Array): Promise<void>;
}

/** The world as a command sees it, so that one can run inside another. */
export interface Io {
  readonly stdin: AsyncIterable<Uint8Array>;
  readonly stdinIsTerminal: boolean;
  /** Where a person edits lines; absent in a pipe, and where only one side is a terminal. */
  readonly keyboard?: Keyboard;
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  /**
   * From now on Ctrl-C aborts this signal instead of ending the process: for commands that would go on for ever. Its reason is the
   * name of the process's signal.
   */
  catchInterrupt(): AbortSignal;
}

/** One use of a command. */
export interface Call {
  readonly args: readonly string[];
  readonly flags: Flags;
  readonly json: boolean;
  readonly io: Io;
  /** The address of the store and the space, as chosen by flags, environment or default. */
  readonly store: string;
  readonly space: string;
  /** Opens the store once; it is closed when the command is over. For reading, one that is not there yet is empty. */
  open(options?: {
    readonly readOnly?: boolean;
    readonly mustExist?: boolean;
    readonly telemetry?: readonly StoreObserver[];
  }): Promise<Holdfast>;
  /** Done when the command is over, before the store is closed. */
  onEnd(close: () => Promise<void>): void;
  /** Runs another command line, as `resume` does. */
  run(argv: readonly string[], io: Io): Promise<number>;
}

export interface Command {
  readonly name: string;
  /** Verb and object, in at most 60 characters. */
  readonly summary: string;
  /** The arguments after the name, one line per form: `ID[@ENTRY]`, `[TEXT...]`. */
  readonly forms: readonly string[];
  /** Paragraphs; help wraps them. */
  readonly about: string;
  readonly examples: readonly string[];
  readonly options: OptionTexts;
  /** It changes the store, so whoever runs it must learn when its answer could not be given. */
  readonly writes?: true;
  /** The commands under this name; the first is run where the line names none of them. */
  readonly verbs?: readonly Command[];
  /** Returns an exit status when it is not 0. */
  run(call: Call): Promise<number | void>;
}

/** The same stream for JSON: a terminal gets the characters it could obey as escapes, everyone else what is stored. */
export function jsonSink(sink: Sink): Sink {
  return sink.isTerminal ? { ...sink, write: (text) => sink.write(safeJson(text)) } : sink;
}

/** A JSON object for scripts, version first. */
export function jsonLine(value: object): string {
  return `${JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...value })}\n`;
}

/** Prints the object for scripts, or the lines for people. */
export async function answer(call: Call, value: object, lines: () => string): Promise<void> {
  await call.io.out.write(call.json ? jsonLine(value) : `${lines()}\n`);
}

/** What a reader misses is on stderr, so stdout stays clean for pipes. */
export async function remark(call: Call, text: string): Promise<void> {
  await call.io.err.write(`${text}\n`);
}

/** Rejects a line with too few or too many arguments. */
export function checkArguments({ name, forms }: Command, args: readonly string[]): void {
  const [min, max] = argumentCounts(forms);
  if (args.length >= min && args.length <= max) return;
  const problem = args.length > max ? `Unexpected argument "${args[max]}"` : "Missing argument";
  const usage = forms.map((form) => `holdfast ${name} ${form}`.trimEnd()).join(" or ");
  throw new LogError("invalid_request", `${problem}. Usage: ${usage}`, { command: name });
}

/** The version in the package's own manifest, the same from the sources and from the build. */
export function packageVersion(): string {
  const manifest: unknown = readJson(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

/** A command of several verbs: the name of each begins with the group's. */
export function commandGroup(
  view: Pick<Command, "name" | "summary" | "about" | "examples">,
  verbs: readonly [Command, ...Command[]],
): Command {
  const [first] = verbs;
  const forms = verbs.flatMap(({ name, forms: own }) => {
    const verb = name.slice(view.name.length + 1);
    return own.map((form) => `${name === first.name ? `[${verb}]` : verb} ${form}`.trimEnd());
  });
  return {
    ...view,
    forms,
    options: Object.assign({}, ...verbs.map(({ options }) => options)) as OptionTexts,
    ...(verbs.some(({ writes }) => writes === true) ? { writes: true } : {}),
    verbs,
    run: (call) => first.run(call),
  };
}

/** Asks at a terminal before an act that nothing undoes. A script needs --yes; without it the warning is printed. */
export async function confirm(
  call: Call,
  warning: string,
  { expected, details = {} }: { readonly expected: string; readonly details?: LogError["details"] },
): Promise<boolean> {
  const { io, flags, json } = call;
  if (flags.has("yes")) return true;
  if (json) throw new LogError("invalid_request", `${warning}. Add --yes to confirm`, details);
  if (!io.stdinIsTerminal) {
    await remark(call, `${warning}. Add --yes to confirm.`);
    return false;
  }
  await io.err.write(`${warning}. Type ${expected} to confirm: `);
  if ((await readLine(io.stdin)) === expected) return true;
  await remark(call, "Canceled. Nothing was deleted.");
  return false;
}

/** The first line of an input, without what follows it. */
export async function readLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const bytes of input) {
    text += decoder.decode(bytes, { stream: true });
    if (text.includes("\n")) break;
  }
  return (text.split("\n")[0] ?? "").trim();
}
