import { closeSync, openSync, writeSync } from "node:fs";
import { type HistoryItem, historyOf, type HistoryShape, type Said } from "./history.ts";

const FLUSH_CHARS = 4_000_000;
const START_MS = Date.UTC(2026, 0, 1);

/** Writes a history as a session file of pi: a header, then one entry per line, each naming its parent. */
export function writePiSession(path: string, shape: HistoryShape): void {
  const file = openSync(path, "w");
  const header = { type: "session", version: 3, id: "bench", timestamp: timeAt(0), cwd: "/projects/bench" };
  let text = `${JSON.stringify(header)}\n`;
  let parentId: string | null = null;
  let n = 0;
  for (const item of historyOf(shape)) {
    n++;
    const id: string =
      item.kind === "said" && item.name !== null ? item.name : n.toString(16).padStart(8, "0");
    text += `${JSON.stringify({ id, parentId, timestamp: timeAt(n), ...payloadOf(item, n) })}\n`;
    parentId = id;
    if (text.length > FLUSH_CHARS) {
      writeSync(file, text);
      text = "";
    }
  }
  writeSync(file, text);
  closeSync(file);
}

function payloadOf(item: HistoryItem, n: number): object {
  if (item.kind === "said")
    return { type: "message", message: { ...messageOf(item.said), timestamp: START_MS + n } };
  return {
    type: "compaction",
    summary: item.summary,
    firstKeptEntryId: item.firstKept,
    tokensBefore: 100_000,
  };
}

function messageOf(said: Said): object {
  const text = { type: "text", text: said.text };
  if (said.role === "user") return { role: "user", content: [text] };
  if (said.role === "toolResult")
    return { role: "toolResult", toolCallId: said.call, toolName: "bash", isError: false, content: [text] };
  const call = { type: "toolCall", id: said.call, name: "bash", arguments: { command: "ls" } };
  return {
    role: "assistant",
    content: said.call === null ? [text] : [text, call],
    provider: "example",
    model: "example-1",
    usage: { input: 1_200, output: 180 },
    stopReason: said.call === null ? "stop" : "toolUse",
  };
}

function timeAt(n: number): string {
  return new Date(START_MS + n).toISOString();
}
