import type { Io, Sink } from "#edges/cli/command";
import { run } from "#edges/cli/run-command";
import { styleFor } from "#edges/cli/terminal/terminal";
import type { Ran } from "./cli-run.ts";

export interface HereOptions {
  readonly input?: string;
  /** The width of the terminal that is written to; a pipe when absent. */
  readonly terminal?: number;
}

/** Runs a command line in this process: for what it prints, where processes of their own would only cost time. */
export async function holdfastHere(
  store: string,
  args: readonly string[],
  options: HereOptions = {},
): Promise<Ran> {
  const { input = "", terminal } = options;
  const [out, err] = [sinkOf(terminal), sinkOf(undefined)];
  const io: Io = {
    stdin: (async function* () {
      yield new TextEncoder().encode(input);
    })(),
    stdinIsTerminal: false,
    out: out.sink,
    err: err.sink,
    env: { HOLDFAST_STORE: store, NO_COLOR: "1" },
    catchInterrupt: () => new AbortController().signal,
  };
  const status = await run(args, io);
  return { status, out: out.text(), err: err.text() };
}

function sinkOf(columns: number | undefined): { readonly sink: Sink; text(): string } {
  const parts: string[] = [];
  const sink: Sink = {
    isTerminal: columns !== undefined,
    style: styleFor(false, {}),
    columns: columns ?? 80,
    write: async (text) => void parts.push(text),
    writeBytes: async (bytes) => void parts.push(new TextDecoder().decode(bytes)),
  };
  return { sink, text: () => parts.join("") };
}
