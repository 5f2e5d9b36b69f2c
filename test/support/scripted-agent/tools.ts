/** Tools: what the agent does in the world. Each leaves a line in a file, so that doing it twice shows. */
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { readControl } from "./control.ts";
import { act, type Answer, die, fileThere, type Turn, untilCancelled } from "./turn.ts";

interface Work {
  readonly call: string;
  readonly title: string;
}

/** Tells of the tool and asks for leave; null when it may not run. */
async function begin(turn: Turn, title: string, rawInput: object): Promise<Work | null> {
  const call = `call_${randomUUID()}`;
  const opening = { toolCallId: call, title, kind: "execute", status: "pending", rawInput };
  turn.update({ sessionUpdate: "tool_call", ...opening });
  const { inputs } = turn.session;
  if (inputs.flavour.like === "codex") review(turn, call, rawInput);
  if (inputs.ask || readControl(inputs.folder).ask === true) {
    const leave = await turn.permitted(call, title);
    if (leave !== "allowed") {
      turn.update({ sessionUpdate: "tool_call_update", toolCallId: call, status: "failed" });
      if (leave === "rejected") turn.say(`Not allowed: ${title}.`);
      return null;
    }
  }
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: call, status: "in_progress" });
  return { call, title };
}

/** Codex shows that it has reviewed a call as a call of its own, with that one's input in it. */
function review(turn: Turn, call: string, rawInput: object): void {
  const id = `guardian_assessment:${randomUUID()}`;
  const opening = { toolCallId: id, title: "Guardian Review", kind: "think", status: "in_progress" };
  const input = { targetItemId: call, action: { type: "command", ...rawInput } };
  turn.update({ sessionUpdate: "tool_call", ...opening, rawInput: input });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: id, status: "completed" });
}

function finish(turn: Turn, work: Work, output: string): void {
  const content = [{ type: "content", content: { type: "text", text: output } }];
  const done = { toolCallId: work.call, status: "completed", content, rawOutput: { output } };
  turn.update({ sessionUpdate: "tool_call_update", ...done });
  turn.keepTool(work.call, work.title, output);
  turn.say(`Done: ${output}.`);
}

function unlessStopped(turn: Turn): Answer {
  return turn.end(turn.cancelled.aborted ? "cancelled" : "end_turn");
}

export async function tool(turn: Turn, file: string, text: string): Promise<Answer> {
  const work = await begin(turn, `Write ${text}`, { file, text });
  if (work === null || turn.cancelled.aborted) return unlessStopped(turn);
  act(file, text);
  finish(turn, work, `wrote ${text}`);
  return unlessStopped(turn);
}

/** Starts, and writes only once `<file>.go` is there: a test can end things in between. */
export async function toolSlow(turn: Turn, file: string, text: string): Promise<Answer> {
  const work = await begin(turn, `Slowly write ${text}`, { file, text });
  if (work === null || !(await fileThere(`${file}.go`, turn.cancelled))) return unlessStopped(turn);
  act(file, text);
  finish(turn, work, `wrote ${text}`);
  return unlessStopped(turn);
}

// Bounded by its count, so that one that nobody ends is gone by itself.
const WAITER =
  'i=0; while [ ! -e "$1.go" ] && [ $i -lt 2400 ]; do sleep 0.05; i=$((i+1)); done; [ -e "$1.go" ] && echo "$2" >> "$1"; : > "$1.over"';

/** The work is done by a process of its own, which outlives the agent unless somebody ends it too. */
export async function toolChild(
  turn: Turn,
  order: { readonly file: string; readonly text: string; readonly apart: boolean },
): Promise<Answer> {
  const { file, text, apart } = order;
  const work = await begin(turn, `Have ${text} written`, { file, text });
  if (work === null) return unlessStopped(turn);
  // `apart`: a process group of its own, which only the token in its environment ties to us.
  const child = spawn("/bin/sh", ["-c", WAITER, "waiter", file, text], { stdio: "ignore", detached: apart });
  writeFileSync(`${file}.pid`, String(child.pid));
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: work.call, title: "Child is running" });
  await once(child, "exit");
  finish(turn, work, `child wrote ${text}`);
  return unlessStopped(turn);
}

export async function dieInTool(turn: Turn, file: string): Promise<Answer> {
  const work = await begin(turn, "Write and die", { file });
  if (work === null) return unlessStopped(turn);
  act(file, "died");
  return die();
}

/** Acts and writes it down, and says nothing of it; `late`: writes it down only once `<file>.record` is there. */
export async function toolUntold(turn: Turn, file: string, text: string, late: boolean): Promise<Answer> {
  const { session } = turn;
  const call = `call_${randomUUID()}`;
  const keep = (): void =>
    session.keep({ role: "tool", call, title: `Write ${text}`, output: `wrote ${text}` });
  act(file, text);
  if (late) void fileThere(`${file}.record`).then(keep);
  else keep();
  writeFileSync(`${file}.acted`, "");
  await untilCancelled(turn);
  return turn.end("cancelled");
}

/** Writes down, as Claude does when its adapter dies before leave was given, that the call never ran; says nothing of it. */
export async function toolRefused(turn: Turn, file: string, text: string): Promise<Answer> {
  const output =
    "Tool permission request failed: AbortError: Tool permission stream closed before response received";
  turn.session.keep({
    role: "tool",
    call: `call_${randomUUID()}`,
    title: `Write ${text}`,
    output,
    neverRan: true,
  });
  writeFileSync(`${file}.refused`, "");
  await untilCancelled(turn);
  return turn.end("cancelled");
}
