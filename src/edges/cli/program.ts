import { setImmediate as nextTurn } from "node:timers/promises";
import type { Io } from "./command.ts";
import { STATUS } from "./exit.ts";
import { isReaderGone, Output } from "./terminal/output.ts";
import { findCommand } from "./commands.ts";
import { run } from "./run-command.ts";
import { safeText } from "./terminal/terminal.ts";

const ALIVE_MS = 1_000_000_000;

// The engine's notice about SQLite is for programmers, not for whoever reads this terminal; loading a command may bring it.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") process.stderr.write(`${warning.stack ?? warning.message}\n`);
});

const argv = process.argv.slice(2);
const writes = await findCommand(argv).then(
  ({ command }) => command?.writes === true,
  () => false,
);

const out = new Output(process.stdout, process.env, {
  forgiving: false,
  // A reader that has seen enough closes the pipe; for a command that only reads that is no failure.
  onBreak: (code) => (isReaderGone(code) && !writes ? process.exit(STATUS.ok) : undefined),
});
// Nobody hears what is told here any more; that changes nothing about what was done.
const err = new Output(process.stderr, process.env, { forgiving: true, onBreak: () => undefined });

const { stdin, stdout } = process;
const canEdit = stdin.isTTY && stdout.isTTY && (process.env["TERM"] ?? "dumb") !== "dumb";

const io: Io = {
  stdin,
  stdinIsTerminal: stdin.isTTY,
  ...(canEdit ? { keyboard: { input: stdin, output: stdout } } : {}),
  out: out.sink,
  err: err.sink,
  env: process.env,
  catchInterrupt() {
    const interrupt = new AbortController();
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      process.once(name, () => interrupt.abort(name));
    return interrupt.signal;
  },
};

// A store that waits for news lets the process go; a command that follows a log must not end over that.
const alive = setInterval(() => undefined, ALIVE_MS);
const status = await run(argv, io);
// A pipe says that it is broken only after the last write.
await nextTurn();
if (out.broken !== null && status === STATUS.ok) {
  await err.sink.write(`holdfast: ${safeText(out.failure().message)}\n`);
  process.exitCode = STATUS.unavailable;
} else process.exitCode = status;
clearInterval(alive);
// A command that stopped before the end of its input must not wait for the rest of it.
process.stdin.destroy();
