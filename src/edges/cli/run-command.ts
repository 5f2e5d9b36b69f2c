import type { Holdfast } from "#conversation/holdfast";
import { parseArgs, type ParseArgsOptionsConfig } from "node:util";
import { isLogError, LogError } from "#log/errors";
import {
  type Call,
  checkArity,
  type Command,
  Flags,
  type Io,
  jsonLine,
  jsonSink,
  packageVersion,
} from "./command.ts";
import { COMMAND_NAMES, loadCommand, loadCommands, nearest } from "./commands.ts";
import { failureOf, STATUS } from "./exit.ts";
import { commandHelp, overview } from "./help.ts";
import { checkStorePlace } from "./address.ts";
import { safeText } from "./terminal/terminal.ts";

const GLOBAL_OPTIONS: ParseArgsOptionsConfig = {
  store: { type: "string" },
  space: { type: "string" },
  json: { type: "boolean" },
  help: { type: "boolean", short: "h" },
  version: { type: "boolean" },
};

/** Runs one command line and gives the status to end with. Errors are told here and nowhere else. */
export async function run(argv: readonly string[], io: Io): Promise<number> {
  try {
    return await dispatch(argv, io);
  } catch (error) {
    const { status, code, message, safe, next, details } = failureOf(error);
    if (argv.includes("--json"))
      await jsonSink(io.err).write(jsonLine({ error: { code, message, safe, next, details } }));
    else {
      const hint = [safe, next].filter(Boolean).join(" ");
      const hintLine = hint === "" ? "" : `${io.err.style.dim(safeText(hint))}\n`;
      await io.err.write(`${io.err.style.red("holdfast:")} ${safeText(message)}\n${hintLine}`);
    }
    if (io.env["HOLDFAST_DEBUG"] && error instanceof Error)
      await io.err.write(`${safeText(error.stack ?? "")}\n`);
    return status;
  }
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const { name, rest } = splitCommand(argv);
  if (name === null) {
    const { values } = parse(rest, {}, null);
    if (values["version"] === true)
      return print(
        io,
        values["json"] === true ? jsonLine({ version: packageVersion() }) : `${packageVersion()}\n`,
      );
    if (values["help"] === true) return print(io, overview(await loadCommands(), io.out.style));
    await io.err.write(overview(await loadCommands(), io.err.style));
    return STATUS.caller;
  }
  const command = await loadCommand(name);
  if (command === null) throw unknownCommand(name);
  const { values, positionals } = parse(rest, command.options, command);
  if (values["help"] === true) return print(io, commandHelp(command, io.out.style));
  if (values["version"] === true) return print(io, `${packageVersion()}\n`);
  checkArity(command, positionals);
  return execute(command, { values, positionals, io });
}

/** The command a line is about, if there is such a one. */
export function commandOf(argv: readonly string[]): Promise<Command | null> {
  return loadCommand(splitCommand(argv).name);
}

interface Parsed {
  readonly values: Readonly<Record<string, unknown>>;
  readonly positionals: readonly string[];
}

async function execute(command: Command, line: Parsed & { readonly io: Io }): Promise<number> {
  const { values, positionals, io } = line;
  const flags = new Flags(values);
  // Reached only by commands that need a store, so `help` starts without one.
  const { defaultStore, openHoldfast } = await import("#open");
  const store = flags.text("store") ?? nonEmpty(io.env["HOLDFAST_STORE"]) ?? defaultStore();
  const space = flags.text("space") ?? nonEmpty(io.env["HOLDFAST_SPACE"]) ?? "default";
  let handle: Holdfast | undefined;
  const atEnd: (() => Promise<void>)[] = [];
  const call: Call = {
    args: positionals,
    flags,
    json: flags.has("json"),
    io: flags.has("json") ? { ...io, out: jsonSink(io.out) } : io,
    store,
    space,
    run,
    onEnd: (close) => void atEnd.push(close),
    async open({ readOnly = false, mustExist = false, telemetry = [] } = {}) {
      if (handle !== undefined) return handle;
      checkStorePlace(store);
      handle = await openHoldfast({ store, space, readOnly, telemetry }).catch((error: unknown) => {
        // Looking into a store that nobody has written to yet finds it empty, and does not make one.
        if (!readOnly || mustExist || !isLogError(error, "store_gone")) throw error;
        return openHoldfast({ store: "memory:", space });
      });
      return handle;
    },
  };
  try {
    return (await command.run(call)) ?? STATUS.ok;
  } finally {
    await Promise.allSettled(atEnd.map((close) => close()));
    await handle?.close();
  }
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === "" ? undefined : text;
}

async function print(io: Io, text: string): Promise<number> {
  await io.out.write(text);
  return STATUS.ok;
}

/** The first word that is no option is the command; options may stand before it. */
function splitCommand(argv: readonly string[]): {
  readonly name: string | null;
  readonly rest: readonly string[];
} {
  const { tokens } = parseArgs({
    args: [...argv],
    options: GLOBAL_OPTIONS,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const word = tokens.find((token) => token.kind === "positional");
  return word === undefined
    ? { name: null, rest: argv }
    : { name: word.value, rest: argv.toSpliced(word.index, 1) };
}

function parse(args: readonly string[], options: ParseArgsOptionsConfig, command: Command | null): Parsed {
  const all = { ...GLOBAL_OPTIONS, ...options };
  const { tokens } = parseArgs({
    args: [...args],
    options: all,
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option" && !Object.hasOwn(all, token.name))
      throw unknownOption(token.rawName, Object.keys(all), command);
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options: all, allowPositionals: true });
    return { values, positionals };
  } catch (cause) {
    throw new LogError("invalid_request", (cause as Error).message, {}, { cause });
  }
}

function unknownOption(option: string, options: readonly string[], command: Command | null): LogError {
  const near = nearest(option.replace(/^-+/, ""), options);
  const hint = near === null ? "" : ` Did you mean --${near}?`;
  const helpCommand = command === null ? "holdfast help" : `holdfast help ${command.name}`;
  return new LogError("invalid_request", `There is no option ${option}.${hint} See \`${helpCommand}\`.`, {
    option: option,
  });
}

function unknownCommand(name: string): LogError {
  const near = nearest(name, COMMAND_NAMES);
  const hint = near === null ? "" : ` Did you mean \`${near}\`?`;
  return new LogError("invalid_request", `There is no command "${name}".${hint} See \`holdfast help\`.`, {
    command: name,
  });
}
