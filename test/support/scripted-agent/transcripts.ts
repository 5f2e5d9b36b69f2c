/**
 * Claude's transcripts as Claude keeps them, in the home folder, with only the members that matter to a resume. The
 * real agent resumes whatever stands there, also what somebody else wrote, so this one does too.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Said, SessionFile } from "./session-files.ts";
import { fieldsOf, textOf, type Fields } from "./wire.ts";

function placeOf(home: string, cwd: string): string {
  return join(home, ".claude", "projects", cwd.replaceAll(/[^a-zA-Z0-9]/g, "-"));
}

export function transcriptPath(home: string, id: string): string | null {
  const projects = join(home, ".claude", "projects");
  if (!existsSync(projects)) return null;
  const found = readdirSync(projects)
    .map((project) => join(projects, project, `${id}.jsonl`))
    .find((path) => existsSync(path));
  return found ?? null;
}

export function writeTranscript(home: string, session: SessionFile): void {
  const place = transcriptPath(home, session.id) ?? join(placeOf(home, session.cwd), `${session.id}.jsonl`);
  mkdirSync(join(place, ".."), { recursive: true });
  let parentUuid: string | null = null;
  const lines = session.messages.flatMap(recordsOf).map((record, at) => {
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

function recordsOf(said: Said): readonly Fields[] {
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
export function readTranscript(home: string, id: string): SessionFile | null {
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
