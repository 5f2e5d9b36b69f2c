import type { NativeMessage } from "#upstream/upstream";
import { type Message, type ToolCall, textOfBlocks } from "#log/message";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import { actsFor, commandsOf, type Line } from "./replies.ts";
import type { SimWorld } from "#testing/world";
import { readJson } from "#log/json/read-json";

/** A history as the agent would have written it down itself. */
export function linesOf(messages: readonly Message[]): readonly Line[] {
  const calls = new Map<string, ToolCall>();
  return messages.flatMap((message): readonly Line[] => {
    const text = textOfBlocks(message.content);
    if (message.role !== "toolResult") {
      for (const block of message.content) if (block.type === "toolCall") calls.set(block.id, block);
      return text.trim() === "" ? [] : [{ role: message.role, text }];
    }
    const call = calls.get(message.toolCallId);
    if (call === undefined) return [];
    const result = message.isError === true ? "failed" : "done";
    const state = text === OUTCOME_UNKNOWN ? "outcome unknown" : result;
    return [{ role: "tool", text: `${call.name} ${JSON.stringify(call.input)}: ${state}` }];
  });
}

const TOOL_LINE = /^(\S+) (\{.*\}): (done|failed|not run|outcome unknown)$/s;

/** What the agent's own record of a session holds: a tool is a call when it begins and a result when it ends. */
export function nativeOf(session: string, lines: readonly Line[]): readonly NativeMessage[] {
  let open: ToolCall | null = null;
  const messages: Pick<NativeMessage, "message" | "notRun">[] = [];
  for (const [at, { role, text }] of lines.entries()) {
    const [, name = "", input = "{}", state = ""] = (role === "tool" && TOOL_LINE.exec(text)) || [];
    if (role !== "tool") messages.push({ message: { role, content: [{ type: "text", text }] } });
    else if (open === null || state === "outcome unknown") {
      open = { type: "toolCall", id: `${session}-call-${at}`, name, input: readJson(input) };
      messages.push({ message: { role: "assistant", content: [open] } });
    }
    if (role !== "tool" || state === "outcome unknown" || open === null) continue;
    const about = { toolCallId: open.id, toolName: name, isError: state !== "done" };
    const message: Message = { role: "toolResult", ...about, content: [{ type: "text", text: state }] };
    messages.push({ message, ...(state === "not run" ? { notRun: true } : {}) });
    open = null;
  }
  return messages.map((native, at) => Object.assign(native, { id: `${session}/${at}`, time: null }));
}

/** Someone goes on with a session in the agent's own program; Holdfast sees nothing of it but the record. */
export function visit(world: SimWorld, session: string, prompt: string): void {
  const lines = [...(world.transcript(session) ?? [])];
  const count = lines.length;
  lines.push({ role: "user", text: prompt });
  for (const command of commandsOf(prompt)) {
    const act = actsFor(command, lines);
    if (act.do === "email") {
      world.outbox.add({ identity: act.identity, atMs: world.nowMs(), session });
      const mark = `send_email ${JSON.stringify(act.input)}`;
      lines.push({ role: "tool", text: `${mark}: outcome unknown` }, { role: "tool", text: `${mark}: done` });
    }
    const text = act.do === "email" ? `Sent the ${act.identity}. ` : act.pieces.join("");
    lines.push({ role: "assistant", text });
  }
  world.appendTranscript(session, lines.slice(count));
}
