/** A client that is not ours, the protocol's own, drives the bridge through all that an editor does. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import {
  client,
  type ClientConnection,
  methods,
  ndJsonStream,
  type PromptRequest,
  PROTOCOL_VERSION,
  RequestError,
  type RequestPermissionRequest,
  type SessionNotification,
} from "@agentclientprotocol/sdk";
import { expect, test } from "vitest";
import { tempDir } from "../../support/temp-dir.ts";
import { MAIN } from "../cli/cli-run.ts";
import { LIKES, type Like } from "../../support/scripted-agent/flavours.ts";
import { programFile } from "../../support/programs.ts";

const AGENT = programFile(join(import.meta.dirname, "../../support/scripted-agent/scripted-agent.ts"));
const END_MS = 40_000; // only what does not leave by itself meets it
const { agent: ask, client: hear } = methods;

type Update = SessionNotification["update"];

/** An editor as the library's users write it. */
class Editor implements AsyncDisposable {
  readonly connection: ClientConnection;
  readonly updates: SessionNotification[] = [];
  readonly permissions: RequestPermissionRequest[] = [];
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #heard: () => void = () => undefined;

  constructor(dir: string, like: Like) {
    const agent = [process.execPath, AGENT, join(dir, "agent"), "--like", like, "--ask"];
    const args = [MAIN, "acp", "--store", `sqlite:${join(dir, "h.db")}`, "--", ...agent];
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const env = { PATH, HOME: dir, TZ: "UTC", NODE_COMPILE_CACHE };
    this.#child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env, cwd: dir });
    const { stdin, stdout } = this.#child;
    const input = Readable.toWeb(stdout) as ReadableStream<Uint8Array>;
    this.connection = client({ name: "an-editor" })
      .onNotification(hear.session.update, ({ params }) => this.#receive(params))
      .onRequest(hear.session.requestPermission, ({ params }) => {
        this.permissions.push(params);
        const optionId = params.options.find(({ kind }) => kind === "allow_once")?.optionId ?? "";
        return { outcome: { outcome: "selected", optionId } };
      })
      .connect(ndJsonStream(Writable.toWeb(stdin), input));
  }

  #receive(notification: SessionNotification): void {
    this.updates.push(notification);
    this.#heard();
  }

  /** Resolves once an update fits; the library answers requests before it has handed on the updates before them. */
  async until(fits: (update: Update) => boolean): Promise<void> {
    while (!this.updates.some(({ update }) => fits(update))) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#heard = resolve;
      await promise;
    }
  }

  get words(): string {
    return wordsOf(this.updates, "agent_message_chunk");
  }

  async prompt(sessionId: string, text: string): Promise<string> {
    const params: PromptRequest = { sessionId, prompt: [{ type: "text", text }] };
    return (await this.connection.agent.request(ask.session.prompt, params)).stopReason;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const gone = once(this.#child, "exit", { signal: AbortSignal.timeout(END_MS) });
    this.#child.stdin.end();
    await gone.catch(() => this.#child.kill("SIGKILL"));
  }
}

function wordsOf(updates: readonly SessionNotification[], kind: Update["sessionUpdate"]): string {
  return updates
    .map(({ update }) => update)
    .filter((update) => update.sessionUpdate === kind)
    .map((update) => ("content" in update ? fieldText(update.content) : ""))
    .join("");
}

function fieldText(content: unknown): string {
  return typeof content === "object" && content !== null && "text" in content ? String(content.text) : "";
}

function says(words: string): (update: Update) => boolean {
  return (update) => JSON.stringify(update).includes(words);
}

async function greeted(dir: string, like: Like): Promise<Editor> {
  const editor = new Editor(dir, like);
  const introduced = await editor.connection.agent.request(ask.initialize, {
    protocolVersion: PROTOCOL_VERSION,
    clientInfo: { name: "an-editor", version: "1.0.0" },
    clientCapabilities: { session: { notices: {} } },
  });
  expect(introduced.protocolVersion).toBe(PROTOCOL_VERSION);
  expect(introduced.agentCapabilities?.loadSession).toBe(true);
  const can = introduced.agentCapabilities?.sessionCapabilities;
  expect(can).toMatchObject({ list: {}, resume: {}, close: {}, delete: {} });
  return editor;
}

/** What a person does in an hour: says something, has a tool run, stops something. */
async function aFirstLife(dir: string, like: Like): Promise<string> {
  await using editor = await greeted(dir, like);
  const { agent } = editor.connection;
  const { sessionId } = await agent.request(ask.session.new, { cwd: dir, mcpServers: [] });
  expect(await editor.prompt(sessionId, "remember color=blue")).toBe("end_turn");
  expect(await editor.prompt(sessionId, `tool ${join(dir, "effects")} one`)).toBe("end_turn");
  expect(editor.permissions.map((asked) => asked.sessionId)).toEqual([sessionId]);
  expect(readFileSync(join(dir, "effects"), "utf8")).toBe("one\n");
  await editor.until(says("Done: wrote one."));
  const kinds = editor.updates.map(({ update }) => update.sessionUpdate);
  expect(kinds).toEqual(expect.arrayContaining(["tool_call", "tool_call_update", "agent_message_chunk"]));
  const running = editor.prompt(sessionId, "partial Half of it, ");
  await editor.until(says("Half of it"));
  await agent.notify(ask.session.cancel, { sessionId });
  expect(await running).toBe("cancelled");
  await agent.request(ask.session.setMode, { sessionId, modeId: "plan" });
  expect(new Set(editor.updates.map((one) => one.sessionId))).toEqual(new Set([sessionId]));
  return sessionId;
}

async function aSecondLife(dir: string, like: Like, sessionId: string): Promise<void> {
  await using editor = await greeted(dir, like);
  const { agent } = editor.connection;
  const { sessions } = await agent.request(ask.session.list, { cwd: dir });
  const listed = sessions.find((session) => session.sessionId === sessionId);
  expect(listed).toMatchObject({ cwd: dir, title: "remember color=blue" });
  const loaded = await agent.request(ask.session.load, { sessionId, cwd: dir, mcpServers: [] });
  expect(loaded.modes?.currentModeId).toBe("plan");
  await editor.until(says("Half of it"));
  expect(wordsOf(editor.updates, "user_message_chunk")).toContain("remember color=blue");
  expect(editor.words).toContain("Noted color=blue.");
  const tools = editor.updates.filter(
    ({ update }) =>
      update.sessionUpdate === "tool_call" && !update.toolCallId.startsWith("guardian_assessment:"),
  );
  expect(tools.map(({ update }) => "status" in update && update.status)).toEqual(["completed"]);
  editor.updates.length = 0;
  expect(await editor.prompt(sessionId, "what is color?")).toBe("end_turn");
  await editor.until(says("color is blue"));
  await agent.request(ask.session.resume, { sessionId, cwd: dir, mcpServers: [] });
  await expect(
    agent.request(ask.session.load, { sessionId: "nobody", cwd: dir, mcpServers: [] }),
  ).rejects.toSatisfy((error) => error instanceof RequestError && error.code === -32_002);
  await agent.request(ask.session.close, { sessionId });
  await agent.request(ask.session.delete, { sessionId });
  const left = (await agent.request(ask.session.list, { cwd: dir })).sessions;
  expect(left.map((session) => session.sessionId)).not.toContain(sessionId);
}

test.each(LIKES)(
  "the protocol's own client and %s: new, prompt, tool, cancel, list, load, resume",
  async (like) => {
    using folder = tempDir();
    const sessionId = await aFirstLife(folder.path, like);
    await aSecondLife(folder.path, like, sessionId);
  },
);
