import type { Io, Sink } from "#edges/cli/command";
import { run } from "#edges/cli/run-command";
import { styleFor } from "#edges/cli/terminal/terminal";
import type { Input, Ran } from "./cli-run.ts";

export interface HereOptions {
  readonly input?: Input;
  readonly env?: { readonly [name: string]: string | undefined };
  /** As if a person typed. */
  readonly typed?: boolean;
  /** Ends a command that would go on for ever, as Ctrl-C does. */
  readonly interrupt?: AbortSignal;
  /** Told what is printed, as it is. */
  readonly onOut?: (text: string) => void;
  /** The width of the terminal that is written to; a pipe when absent. */
  readonly terminal?: number;
}

/** Runs a command line in this process: for what it prints, where processes of their own would only cost time. */
export async function holdfastHere(
  store: string,
  args: readonly string[],
  options: HereOptions = {},
): Promise<Ran> {
  const { input = "", terminal, env = {}, interrupt = new AbortController().signal } = options;
  const [out, err] = [sinkOf(terminal, options.onOut), sinkOf(undefined)];
  const io: Io = {
    stdin: bytesOf(input),
    stdinIsTerminal: options.typed ?? false,
    out: out.sink,
    err: err.sink,
    env: { ...process.env, HOLDFAST_STORE: store, HOLDFAST_SPACE: "", NO_COLOR: "1", ...env },
    catchInterrupt: () => interrupt,
  };
  const status = await run(args, io);
  return { status, out: out.text(), err: err.text() };
}

/** The same as `runCli` is called. */
export function runHere(store: string, args: readonly string[], input: Input = ""): Promise<Ran> {
  return holdfastHere(store, args, { input });
}

async function* bytesOf(input: Input): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  for (const part of typeof input === "string" || input instanceof Uint8Array ? [input] : input)
    yield typeof part === "string" ? encoder.encode(part) : part;
}

function sinkOf(
  columns: number | undefined,
  onText: (text: string) => void = () => undefined,
): { readonly sink: Sink; text(): string } {
  const parts: Uint8Array[] = [];
  const sink: Sink = {
    isTerminal: columns !== undefined,
    style: styleFor(false, {}),
    columns: columns ?? 80,
    write: async (text) => {
      parts.push(Buffer.from(text));
      onText(text);
    },
    writeBytes: async (bytes) => void parts.push(Uint8Array.from(bytes)),
  };
  return { sink, text: () => Buffer.concat(parts).toString("utf8") };
}
