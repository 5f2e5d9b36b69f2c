#!/usr/bin/env node
import type { Io, Sink } from "./command.ts";
import { run } from "./run.ts";
import { styleFor } from "./terminal.ts";

const COLUMNS_DEFAULT = 80;
const ALIVE_MS = 1_000_000_000;

// A reader that has seen enough closes the pipe; that is no failure.
for (const stream of [process.stdout, process.stderr]) {
  stream.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1));
}

// The engine's notice about SQLite is for programmers, not for whoever reads this terminal.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") process.stderr.write(`${warning.stack ?? warning.message}\n`);
});

const io: Io = {
  stdin: process.stdin,
  stdinIsTerminal: process.stdin.isTTY,
  out: sinkOf(process.stdout),
  err: sinkOf(process.stderr),
  env: process.env,
  catchInterrupt() {
    const interrupt = new AbortController();
    process.once("SIGINT", () => interrupt.abort());
    process.once("SIGTERM", () => interrupt.abort());
    return interrupt.signal;
  },
};

// A store that waits for news lets the process go; a command that follows a log must not end over that.
const alive = setInterval(() => undefined, ALIVE_MS);
process.exitCode = await run(process.argv.slice(2), io);
clearInterval(alive);
// A command that stopped before the end of its input must not wait for the rest of it.
process.stdin.destroy();

function sinkOf(stream: NodeJS.WriteStream): Sink {
  const isTerminal = stream.isTTY;
  return {
    isTerminal,
    style: styleFor(isTerminal, process.env),
    columns: isTerminal && stream.columns > 0 ? stream.columns : COLUMNS_DEFAULT,
    async write(text) {
      if (text === "" || stream.write(text)) return;
      await new Promise<void>((resolve) => stream.once("drain", resolve));
    },
  };
}
