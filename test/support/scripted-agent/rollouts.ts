/** Codex's rollouts as Codex keeps them, in the home folder: one file per thread, in a folder per day. */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Said, SessionFile } from "./session-files.ts";
import type { Fields } from "./wire.ts";

const DAY = ["2026", "01", "02"];
const TIME = "2026-01-02T03:04:05.000Z";

export function rolloutPath(home: string, id: string): string | null {
  const folder = join(home, ".codex", "sessions", ...DAY);
  if (!existsSync(folder)) return null;
  const name = readdirSync(folder).find((file) => file.endsWith(`-${id}.jsonl`));
  return name === undefined ? null : join(folder, name);
}

/** There is a rollout once there is something in it. */
export function writeRollout(home: string, session: SessionFile): void {
  if (session.messages.length === 0) return;
  const folder = join(home, ".codex", "sessions", ...DAY);
  mkdirSync(folder, { recursive: true });
  const { id, cwd } = session;
  const meta = {
    id,
    timestamp: TIME,
    cwd,
    originator: "codex-acp",
    cli_version: "0.166.0",
    source: "vscode",
  };
  const records = [{ type: "session_meta", payload: meta }, ...session.messages.flatMap(recordsOf)];
  const lines = records.map(
    (record, ordinal) => `${JSON.stringify({ timestamp: TIME, ordinal, ...record })}\n`,
  );
  writeFileSync(join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`), lines.join(""));
}

function recordsOf(said: Said): readonly Fields[] {
  const item = (payload: Fields): Fields => ({ type: "response_item", payload });
  if (said.role === "tool")
    return [
      item({ type: "function_call", name: said.title, arguments: "{}", call_id: said.call }),
      item({ type: "function_call_output", call_id: said.call, output: said.output }),
    ];
  const { role, texts, messageId } = said;
  const kind = role === "user" ? "input_text" : "output_text";
  const content = texts.map((text) => ({ type: kind, text }));
  return [item({ type: "message", id: messageId, role, content })];
}
