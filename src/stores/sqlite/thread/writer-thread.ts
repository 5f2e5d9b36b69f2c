import { parentPort, receiveMessageOnPort, workerData } from "node:worker_threads";
import { type FlatCommand, flattenOutcome, readCommand } from "./flat-commands.ts";
import type { Command, GroupCommand, Outcome, Posted, Report, WriterOptions } from "./messages.ts";
import { toWire } from "#stores/sqlite/sqlite-errors";
import { Writer } from "#stores/sqlite/write/writer";

// The entry of the writer's thread: passes received commands to the writer in order, and reports whole groups.

// A group of this many has shared its sync enough: those in it prepare their next turns while others are written.
const JOIN_MAX = 32;

const port = parentPort;
if (port !== null) {
  const options = workerData as WriterOptions;
  try {
    const writer = new Writer(options);
    const queue: Posted[] = [];
    port.on("message", (posted: readonly FlatCommand[]) => {
      for (const flat of posted) queue.push(readCommand(flat));
      drain(writer, queue);
    });
    report({ kind: "opened", error: null });
  } catch (error) {
    report({ kind: "opened", error: toWire(error, options.path) });
    port.close();
  }
}

function report(message: Report): void {
  port?.postMessage(message, []);
}

/** Everything that has arrived by the time a group starts is in it. */
function receiveArrived(queue: Posted[]): void {
  if (port === null) return;
  for (
    let arrival = receiveMessageOnPort(port);
    arrival !== undefined;
    arrival = receiveMessageOnPort(port)
  ) {
    for (const flat of arrival.message as readonly FlatCommand[]) queue.push(readCommand(flat));
  }
}

function drain(writer: Writer, queue: Posted[]): void {
  for (;;) {
    receiveArrived(queue);
    const first = queue[0];
    if (first === undefined) return;
    const size = writer.groupSize(queue.map((posted) => posted.command));
    const group = queue.splice(0, Math.max(size, 1));
    const outcomes =
      size === 0
        ? [writer.runSolo(first.command)]
        : writer.runGroup(commandsOf(group), () => late(writer, queue, group));
    report({
      kind: "done",
      outcomes: group.map((posted, index) =>
        flattenOutcome(posted, outcomes[index] ?? missing(posted.command)),
      ),
    });
    if (first.command.kind === "close") return port?.close();
    // After the report: only later commands wait for it.
    writer.boundLog();
  }
}

function commandsOf(posted: readonly Posted[]): readonly GroupCommand[] {
  return posted.map(({ command }) => command as GroupCommand);
}

/** Commands that arrived since the group began join it, up to the first that must run alone. */
function late(writer: Writer, queue: Posted[], group: Posted[]): readonly GroupCommand[] {
  if (group.length >= JOIN_MAX) return [];
  receiveArrived(queue);
  const joining = queue.splice(
    0,
    writer.groupSize(
      queue.map((posted) => posted.command),
      group.length,
    ),
  );
  group.push(...joining);
  return commandsOf(joining);
}

function missing(command: Command): Outcome {
  return {
    ok: false,
    error: {
      code: "store_failed",
      message: `The command ${command.kind} did not run`,
      details: {},
      safe: "Nothing was written.",
      cause: null,
    },
  };
}
