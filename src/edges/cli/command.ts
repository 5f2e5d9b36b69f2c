import type { ParseArgsOptionsConfig } from "node:util";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { StoreObserver } from "#store/decorate";
import { SCHEMA_VERSION } from "#transfer/context-text";
import type { Keyboard } from "./terminal/line-editor.ts";
import { type Style, safeJson } from "./terminal/terminal.ts";
import { readFileSync } from "node:fs";
import { readJson } from "#log/json/read-json";

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

/** The options of a call, read by kind. */
export class Flags {
  readonly #values: Readonly<Record<string, unknown>>;

  constructor(values: Readonly<Record<string, unknown>>) {
    this.#values = values;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === "string" ? value : undefined;
  }

  /** The values of an option that may be given more than once. */
  list(name: string): readonly string[] {
    const value = this.#values[name];
    return Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  }

  has(name: string): boolean {
    return this.#values[name] === true;
  }

  count(name: string): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (/^\d+$/.test(text) && Number.isSafeInteger(value)) return value;
    throw new LogError("invalid_request", `--${name} takes a whole number, not "${text}"`, { option: name });
  }
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
  readonly summary: string;
  /** What follows the name, one line per form. */
  readonly usage: readonly string[];
  readonly about: string;
  readonly examples: readonly string[];
  readonly options: ParseArgsOptionsConfig;
  /** It changes the store, so whoever runs it must learn when its answer could not be given. */
  readonly writes?: true;
  /** Least and most positional arguments. */
  readonly arity: readonly [number, number];
  /** Gives an exit status when it is not 0. */
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
export function checkArity(
  command: Pick<Command, "name" | "usage" | "arity">,
  positionals: readonly string[],
): void {
  const [min, max] = command.arity;
  if (positionals.length >= min && positionals.length <= max) return;
  const forms = command.usage.map((usage) => `holdfast ${command.name} ${usage}`.trimEnd()).join(" or ");
  const extra =
    positionals.length > max ? `"${positionals[max]}" is one argument too many` : "An argument is missing";
  throw new LogError("invalid_request", `${extra}. Usage: ${forms}`, { command: command.name });
}

/** The version in the package's own manifest, the same from the sources and from the build. */
export function packageVersion(): string {
  const manifest: unknown = readJson(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}

/** A command of several verbs: the name of each begins with the group's, and the first is what a line without a verb means. */
export function commandGroup(
  view: Pick<Command, "name" | "summary" | "about" | "examples">,
  [first, ...others]: readonly [Command, ...Command[]],
): Command {
  const commands = [first, ...others];
  const verbOf = ({ name }: Command): string => name.slice(view.name.length + 1);
  const verbs = new Map(commands.map((command) => [verbOf(command), command]));
  return {
    ...view,
    usage: commands.flatMap((command) =>
      command.usage.map((usage) =>
        `${command === first ? `[${verbOf(command)}]` : verbOf(command)} ${usage}`.trimEnd(),
      ),
    ),
    options: Object.assign({}, ...commands.map(({ options }) => options)) as ParseArgsOptionsConfig,
    ...(commands.some(({ writes }) => writes === true) ? { writes: true } : {}),
    arity: [0, Number.POSITIVE_INFINITY],
    run(call: Call) {
      const [verb = verbOf(first), ...args] = call.args;
      const command = verbs.get(verb);
      if (command === undefined)
        throw new LogError(
          "invalid_request",
          `${view.name} takes ${[...verbs.keys()].join(", ")}, not "${verb}"`,
        );
      checkArity(command, args);
      return command.run({ ...call, args });
    },
  };
}
