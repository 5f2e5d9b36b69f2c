/** The bridge is killed in the middle of a turn of its own loop; another process loads the conversation and goes on. */
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";
import { expect, test } from "vitest";
import { startModelServer, type ModelServer } from "../../support/model-server.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { MAIN } from "../cli/cli-run.ts";
import { eventually } from "./eventually.ts";
import { runs } from "./mini-agent.ts";
import { fieldsOf, textOf } from "../../support/scripted-agent/wire.ts";
import { LoopEditor } from "./loop-editor.ts";

const END_MS = 40_000; // only what does not leave by itself meets it

type Child = ChildProcessByStdio<Writable, Readable, null>;

/** An editor in front of `holdfast acp --model`, in a process of its own. */
async function openProcess(
  dir: string,
  server: ModelServer,
): Promise<{ readonly editor: LoopEditor; readonly kill: () => Promise<void> }> {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const model = ["--model", "openai-compatible/m", "--base-url", server.baseUrl("openai-compatible")];
  const args = [MAIN, "acp", "--store", `sqlite:${join(dir, "h.db")}`, ...model];
  const env = { PATH, HOME: dir, TZ: "UTC", NODE_COMPILE_CACHE };
  const child: Child = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "ignore"], env, cwd: dir });
  child.stdin.on("error", () => undefined); // it may die while we write
  const gone = once(child, "exit");
  const close = async (): Promise<void> => {
    child.stdin.end();
    const late = setTimeout(() => child.kill("SIGKILL"), END_MS);
    await gone;
    clearTimeout(late);
  };
  const editor = new LoopEditor({
    toAgent: Writable.toWeb(child.stdin) as WritableStream<Uint8Array>,
    fromAgent: Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>,
    close,
  });
  await editor.initialize();
  const kill = async (): Promise<void> => {
    child.kill("SIGKILL");
    await gone;
  };
  return { editor, kill };
}

/** Kills the bridge at `site` of the prompt's turn, and gives what the editor that loads it next is told. */
async function killedAt(
  dir: string,
  server: ModelServer,
  site: (editor: LoopEditor) => Promise<void>,
): Promise<{ readonly id: string; readonly editor: LoopEditor; readonly told: ReturnType<typeof fieldsOf> }> {
  const first = await openProcess(dir, server);
  const id = await first.editor.begin(dir);
  first.editor.onPermission = ({ options }) =>
    first.editor.permissions.length > 1
      ? new Promise(() => undefined)
      : { outcome: "selected", optionId: options[0]?.optionId ?? "" };
  void first.editor.prompt(id, "do it").catch(() => undefined);
  await site(first.editor);
  await first.kill();
  const { editor } = await openProcess(dir, server);
  const told = fieldsOf((await editor.load(id, dir))["restored"]);
  return { id, editor, told };
}

test("in the middle of an answer: /continue asks for it anew, and the prompt is there once", async () => {
  using dir = tempDir();
  await using server = await startModelServer([
    { text: ["Half ", "of it, ", "and the rest"], hold: { at: "middle", name: "half" } },
    { text: "All of it" },
  ]);
  const { id, editor, told } = await killedAt(dir.path, server, () => server.held("half"));
  await using _ = editor;
  expect(fieldsOf(told["openTurn"])["turn"]).toEqual(expect.any(String));
  await editor.until(() =>
    editor.of("notice").some(({ description }) => textOf(description).includes("/continue")),
  );
  expect((await editor.prompt(id, "/continue")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain("All of it");
  expect(editor.words("user_message_chunk")).toBe("do it");
  expect(server.requests).toHaveLength(2);
});

test("in a tool: it does not run again, the model is told that nobody knows, and the turn completes", async () => {
  using dir = tempDir();
  const effects = join(dir.path, "effects");
  const command = `echo one >> effects; echo begun; sleep 600`;
  await using server = await startModelServer([
    { calls: [{ id: "s", name: "shell", input: { command } }] },
    { text: "Nobody knows" },
  ]);
  const begun = async (editor: LoopEditor): Promise<void> => {
    await editor.until(() => editor.of("tool_call_update").some(({ status }) => status === "in_progress"));
    await eventually("the tool begins", () => isThere(effects));
  };
  const { id, editor } = await killedAt(dir.path, server, begun);
  await using _ = editor;
  expect((await editor.prompt(id, "/continue")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain("Nobody knows");
  expect(readFileSync(effects, "utf8")).toBe("one\n");
  expect(server.requests.at(-1)?.body).toContain("nknown");
});

test("in a tool: the editor that loads the conversation finds its command ended, and the turn as it was left", async () => {
  using dir = tempDir();
  const file = join(dir.path, "pid");
  await using server = await startModelServer([
    { calls: [{ id: "s", name: "shell", input: { command: "trap '' TERM; echo $$ > pid; sleep 600" } }] },
    { text: "Nobody knows" },
  ]);
  const begun = (): Promise<void> => eventually("the tool begins", () => isThere(file));
  const { id, editor, told } = await killedAt(dir.path, server, begun);
  await using _ = editor;
  expect(runs(Number(readFileSync(file, "utf8")))).toBe(false);
  expect(fieldsOf(told["openTurn"])["turn"]).toEqual(expect.any(String));
  expect(server.requests).toHaveLength(1);
  expect((await editor.prompt(id, "/continue")).stopReason).toBe("end_turn");
  expect(editor.words()).toContain("Nobody knows");
});

test("while an approval waits: it is shown as waiting, asked for again, and what was allowed before ran once", async () => {
  using dir = tempDir();
  const add = (word: string): { readonly command: string } => ({ command: `echo ${word} >> effects` });
  await using server = await startModelServer([
    {
      calls: [
        { id: "a", name: "shell", input: add("one") },
        { id: "b", name: "shell", input: add("two") },
      ],
    },
    { text: "Both" },
  ]);
  const asked = async (editor: LoopEditor): Promise<void> => {
    await editor.until(() => editor.permissions.length === 2);
    await editor.until(() => editor.of("tool_call_update").some(({ status }) => status === "completed"));
  };
  const { id, editor, told } = await killedAt(dir.path, server, asked);
  await using _ = editor;
  expect(told["waiting"]).toMatchObject([{ call: "b", tool: "shell", input: add("two") }]);
  await editor.until(() => editor.of("tool_call_update").some(({ status }) => status === "pending"));
  expect((await editor.prompt(id, "/continue")).stopReason).toBe("end_turn");
  expect(editor.permissions.map(({ toolCall }) => toolCall.toolCallId)).toEqual(["b"]);
  expect(readFileSync(join(dir.path, "effects"), "utf8")).toBe("one\ntwo\n");
  expect(editor.words()).toContain("Both");
});

function isThere(file: string): boolean {
  try {
    return readFileSync(file, "utf8") !== "";
  } catch {
    return false;
  }
}
