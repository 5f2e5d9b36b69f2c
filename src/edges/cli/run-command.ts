import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { checkStorePlace } from "./address.ts";
import {
  type Call,
  checkArguments,
  type Command,
  type Io,
  jsonLine,
  jsonSink,
  packageVersion,
  type Sink,
} from "./command.ts";
import { findCommand, loadCommands, nearest } from "./commands.ts";
import { failureOf, STATUS } from "./exit.ts";
import { commandHelp, shortHelp } from "./help.ts";
import { Flags, GLOBAL_OPTIONS, optionsIn, type OptionTexts, type ParsedLine, scanLine } from "./options.ts";
import { PLAIN, safeText } from "./terminal/terminal.ts";

/** Runs one command line and returns the status to end with. Errors are printed here and nowhere else. */
export async function run(argv: readonly string[], caller: Io): Promise<number> {
  const { values } = scanLine(argv, optionsIn(GLOBAL_OPTIONS));
  const io =
    values["no-color"] === true ? { ...caller, out: plain(caller.out), err: plain(caller.err) } : caller;
  try {
    return await dispatch(argv, values["quiet"] === true ? { ...io, err: silent(io.err) } : io);
  } catch (error) {
    const { status, code, message, safe, next, details } = failureOf(error);
    if (values["json"] === true)
      await jsonSink(io.err).write(jsonLine({ error: { code, message, safe, next, details } }));
    else {
      const hint = [safe, next].filter(Boolean).join(" ");
      const hintLine = hint === "" ? "" : `${io.err.style.dim(safeText(hint))}\n`;
      await io.err.write(`${io.err.style.red("holdfast:")} ${safeText(message)}\n${hintLine}`);
    }
    const isDebug = values["debug"] === true || nonEmpty(io.env["HOLDFAST_DEBUG"]) !== undefined;
    if (isDebug && error instanceof Error) await io.err.write(`${safeText(error.stack ?? "")}\n`);
    return status;
  }
}

function plain(sink: Sink): Sink {
  return { ...sink, style: PLAIN };
}

function silent(sink: Sink): Sink {
  return { ...sink, write: async () => undefined, writeBytes: async () => undefined };
}

async function dispatch(argv: readonly string[], io: Io): Promise<number> {
  const { command, rest } = await findCommand(argv);
  if (command === null) {
    const line = parse(rest, {}, null);
    const { values } = line;
    const isJson = values["json"] === true;
    if (values["version"] === true)
      return print(io, isJson ? jsonLine({ version: packageVersion() }) : `${packageVersion()}\n`);
    const isAsked = values["help"] !== true && io.stdinIsTerminal && io.out.isTerminal && !isJson;
    return execute(isAsked ? pickConversation : printShortHelp, line, io);
  }
  const line = parse(rest, command.options, command);
  if (line.values["help"] === true) return print(io, commandHelp(command, [], io.out));
  if (line.values["version"] === true) return print(io, `${packageVersion()}\n`);
  checkArguments(
    command,
    line.positionals.map(({ text }) => text),
  );
  return execute((call) => command.run(call), line, io);
}

async function printShortHelp({ io }: Call): Promise<number> {
  return print(io, shortHelp(await loadCommands(), io.out));
}

/** At a terminal: the latest conversations to choose from, or help where there are none. */
async function pickConversation(call: Call): Promise<number> {
  const { pick } = await import("./chat/picker.ts");
  return (await pick(call)) ?? printShortHelp(call);
}

async function execute(work: Command["run"], line: ParsedLine, io: Io): Promise<number> {
  const flags = new Flags(line);
  // Reached only by commands that need a store, so `help` starts without one.
  const { defaultStore, openHoldfast } = await import("#open");
  const store = flags.text("store") ?? nonEmpty(io.env["HOLDFAST_STORE"]) ?? defaultStore();
  const space = flags.text("space") ?? nonEmpty(io.env["HOLDFAST_SPACE"]) ?? "default";
  let handle: Holdfast | undefined;
  const atEnd: (() => Promise<void>)[] = [];
  const call: Call = {
    args: line.positionals.map(({ text }) => text),
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
    return (await work(call)) ?? STATUS.ok;
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

function parse(argv: readonly string[], texts: OptionTexts, command: Command | null): ParsedLine {
  const options = optionsIn({ ...GLOBAL_OPTIONS, ...texts });
  const { unknown, problems, ...line } = scanLine(argv, options);
  const [option] = unknown;
  const help = `holdfast help${command === null ? "" : ` ${command.name}`}`;
  if (option !== undefined) {
    const near = nearest(
      option.replace(/^-+/, ""),
      options.flatMap(({ name, aliases }) => aliases.concat(name)),
    );
    const hint = near === null ? "" : ` Did you mean --${near}?`;
    throw new LogError("invalid_request", `Unknown option ${option}.${hint} See \`${help}\`.`, { option });
  }
  const [problem] = problems;
  if (problem !== undefined && line.values["help"] !== true)
    throw new LogError("invalid_request", `${problem}. See \`${help}\`.`, {});
  return line;
}
