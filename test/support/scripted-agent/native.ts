/** What an agent keeps in the home folder, beside its own files here: hosts read it, and so its form matters. */
import type { Like } from "./flavours.ts";
import type { SessionFile, Said } from "./session-files.ts";
import { existsSync, mkdirSync, readdirSync, writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Fields, fieldsOf, textOf } from "./wire.ts";
import { createHash } from "node:crypto";

/**
 * Claude's transcripts as Claude keeps them, in the home folder, with only the members that matter to a resume. The
 * real agent resumes whatever stands there, also what somebody else wrote, so this one does too.
 */
function placeOf(home: string, cwd: string): string {
  return join(home, ".claude", "projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
}

function transcriptPath(home: string, id: string): string | null {
  const projects = join(home, ".claude", "projects");
  if (!existsSync(projects)) return null;
  const found = readdirSync(projects)
    .map((project) => join(projects, project, `${id}.jsonl`))
    .find((path) => existsSync(path));
  return found ?? null;
}

function writeTranscript(home: string, session: SessionFile): void {
  const place = transcriptPath(home, session.id) ?? join(placeOf(home, session.cwd), `${session.id}.jsonl`);
  mkdirSync(join(place, ".."), { recursive: true });
  let parentUuid: string | null = null;
  const lines = session.messages.flatMap(transcriptRecords).map((record, at) => {
    const uuid = uuidOf(session.id, at);
    const line = JSON.stringify({
      parentUuid,
      isSidechain: false,
      userType: "external",
      cwd: session.cwd,
      sessionId: session.id,
      version: "2.1.312",
      gitBranch: "",
      ...record,
      uuid,
      timestamp: new Date().toISOString(),
    });
    parentUuid = uuid;
    return `${line}\n`;
  });
  writeFileSync(place, lines.join(""));
}

/** A record keeps its name: real transcripts are only ever added to. */
function uuidOf(id: string, at: number): string {
  const hex = createHash("sha256").update(`${id}/${at}`).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(12, 15)}-8${hex.slice(15, 18)}-${hex.slice(18, 30)}`;
}

function transcriptRecords(said: Said): readonly Fields[] {
  if (said.role === "tool") {
    const use = { type: "tool_use", id: said.call, name: said.title, input: {} };
    const result = { type: "tool_result", tool_use_id: said.call, content: said.output };
    const content = [said.neverRan === true ? { ...result, is_error: true } : result];
    const why = { toolDenialKind: "permission-rule", toolUseResult: `Error: ${said.output}` };
    return [
      reply([use], `msg_${said.call}`),
      { type: "user", message: { role: "user", content }, ...(said.neverRan === true ? why : {}) },
    ];
  }
  if (said.role === "user") {
    const content = said.texts.map((text) => ({ type: "text", text }));
    return [{ type: "user", message: { role: "user", content } }];
  }
  return said.texts.map((text) => reply([{ type: "text", text }], said.messageId));
}

function reply(content: readonly Fields[], id: string): Fields {
  const message = { id, type: "message", role: "assistant", model: "claude-scripted", content };
  return { type: "assistant", message };
}

/** Reads what it can: a last line that was torn off is no reason to forget the others. */
function readTranscript(home: string, id: string): SessionFile | null {
  const path = transcriptPath(home, id);
  if (path === null) return null;
  const records = readFileSync(path, "utf8").split("\n").filter(Boolean).flatMap(recordIn);
  const messages = records.flatMap(saidIn);
  if (messages.length === 0) return null;
  const cwd = records.map((record) => textOf(record["cwd"])).find((one) => one !== "") ?? "/";
  return { id, cwd, title: null, messages };
}

function recordIn(line: string): readonly Fields[] {
  try {
    return [fieldsOf(JSON.parse(line))];
  } catch {
    return [];
  }
}

function saidIn(record: Fields): readonly Said[] {
  const { role, content, id } = fieldsOf(record["message"]);
  if (role !== "user" && role !== "assistant") return [];
  const messageId = textOf(id) === "" ? textOf(record["uuid"]) : textOf(id);
  if (typeof content === "string") return [{ role, texts: [content], messageId }];
  const texts = (Array.isArray(content) ? content : [])
    .map(fieldsOf)
    .filter((block) => block["type"] === "text")
    .map((block) => textOf(block["text"]));
  return texts.length === 0 ? [] : [{ role, texts, messageId }];
}

/** Codex's rollouts as Codex keeps them, in the home folder: one file per thread, in a folder per day. */
const DAY = ["2026", "01", "02"];
const TIME = "2026-01-02T03:04:05.000Z";

function rolloutPath(home: string, id: string): string | null {
  const folder = join(home, ".codex", "sessions", ...DAY);
  if (!existsSync(folder)) return null;
  const name = readdirSync(folder).find((file) => file.endsWith(`-${id}.jsonl`));
  return name === undefined ? null : join(folder, name);
}

/** There is a rollout once there is something in it. */
function writeRollout(home: string, session: SessionFile): void {
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
  const records = [{ type: "session_meta", payload: meta }, ...session.messages.flatMap(rolloutRecords)];
  const lines = records.map(
    (record, ordinal) => `${JSON.stringify({ timestamp: TIME, ordinal, ...record })}\n`,
  );
  writeFileSync(join(folder, `rollout-2026-01-02T03-04-05-${id}.jsonl`), lines.join(""));
}

function rolloutRecords(said: Said): readonly Fields[] {
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

export interface Native {
  path(id: string): string | null;
  write(session: SessionFile): void;
  /** What it takes up that it did not write itself; null where it does not. */
  read(id: string): SessionFile | null;
}

export function nativeOf(like: Like, home: string): Native | null {
  if (like === "claude")
    return {
      path: (id) => transcriptPath(home, id),
      write: (session) => writeTranscript(home, session),
      read: (id) => readTranscript(home, id),
    };
  if (like === "codex")
    return {
      path: (id) => rolloutPath(home, id),
      write: (session) => writeRollout(home, session),
      read: () => null,
    };
  return null;
}
