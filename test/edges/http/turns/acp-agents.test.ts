import { UNKNOWN_VENDOR } from "#vendors/known-vendors";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UnattendedAgent } from "#edges/acp/index";
import type { Client } from "#edges/http/client/index";
import type { Entry, EntryOf } from "#log/entry";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../../cli/cli-here.ts";
import { writeMiniAgent } from "../../acp/mini-agent.ts";
import { serve, type Served } from "../served.ts";

/** An agent that asks before it acts, asks an editor for a file and a terminal, and dies when it is told to. */
const ASKING = `
  const { id, method, params, result, error } = message;
  const told = globalThis.told ??= [];
  if (method === undefined && globalThis.open !== undefined) {
    const { session, prompt } = globalThis.open;
    told.push(result?.outcome?.optionId ?? result?.outcome?.outcome ?? "error " + error.code);
    if (told.length < globalThis.open.asked) return true;
    globalThis.open = undefined;
    chunk(session, "Told " + told.splice(0).join(", "));
    if (globalThis.isStopped) answer(prompt, { stopReason: "cancelled" });
    else answer(prompt, { stopReason: "end_turn" });
    return true;
  }
  if (method === "session/cancel") { globalThis.isStopped = true; return true; }
  if (method !== "session/prompt") return false;
  const session = params.sessionId;
  const words = textOf(params);
  if (words === "die") process.exit(7);
  const ask = (method, params) => say(JSON.stringify({ jsonrpc: "2.0", id: "q-" + method, method, params: { sessionId: session, ...params } }));
  if (words === "act") {
    globalThis.open = { session, prompt: id, asked: 1 };
    ask("session/request_permission", {
      toolCall: { toolCallId: "call-1", title: "rm", kind: "execute", rawInput: { path: "x" } },
      options: [
        { optionId: "always", name: "Always", kind: "allow_always" },
        { optionId: "yes", name: "Yes", kind: "allow_once" },
        { optionId: "no", name: "No", kind: "reject_once" },
      ],
    });
    return true;
  }
  if (words === "edit") {
    globalThis.open = { session, prompt: id, asked: 2 };
    ask("fs/read_text_file", { path: "/etc/passwd" });
    ask("terminal/create", { command: "sh" });
    return true;
  }
  return false;
`;

interface Rig extends AsyncDisposable {
  readonly dir: string;
  readonly served: Served;
  readonly client: Client;
  readonly token: string;
  /** What the agent was sent. */
  received(method: string): readonly { readonly params: { readonly [name: string]: unknown } }[];
  /** How often it was started. */
  starts(): number;
}

async function rig(): Promise<Rig> {
  const folder = tempDir();
  const dir = folder.path;
  const script = writeMiniAgent(dir, ASKING);
  const agents: UnattendedAgent[] = [];
  const spec = {
    name: "mini",
    vendor: UNKNOWN_VENDOR,
    native: null,
    command: { command: process.execPath, args: [script, dir], cwd: dir, env: { PATH: process.env["PATH"] } },
  };
  const open = (holdfast: Served["holdfast"]): UnattendedAgent => {
    const agent = new UnattendedAgent(holdfast, spec, { cwd: dir, version: "1" });
    agents.push(agent);
    return agent;
  };
  const served = await serve({ store: `sqlite:${join(dir, "h.db")}`, agents: { mini: { open } } });
  await served.holdfast.create({ id: "c" });
  const token = await served.token("write");
  const lines = (name: string): readonly string[] =>
    existsSync(join(dir, name)) ? readFileSync(join(dir, name), "utf8").split("\n").filter(Boolean) : [];
  return {
    dir,
    served,
    client: served.client(token, "patient"),
    token,
    received: (method) =>
      lines("lines")
        .map((line) => JSON.parse(line) as { method?: string; params: { [name: string]: unknown } })
        .filter((message) => message.method === method),
    starts: () => lines("pids").length,
    [Symbol.asyncDispose]: async () => {
      for (const agent of agents) await agent.close();
      await served[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

/** Follows a turn until it asks; the question, and the rest of the turn. */
async function asked(
  client: Client,
): Promise<{ readonly question: EntryOf<"permission">; readonly rest: () => Promise<readonly Entry[]> }> {
  const events = client.turnEvents(await client.send({ conversation: "c", content: "act" }));
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error("It asks");
    if (value.type === "permission") return { question: value, rest: () => Array.fromAsync(events) };
  }
}

async function turn(client: Client, content: string): Promise<readonly Entry[]> {
  return Array.fromAsync(client.turnEvents(await client.send({ conversation: "c", content })));
}

const said = (entries: readonly Entry[]): string =>
  entries
    .flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant" ? entry.message.content : [],
    )
    .flatMap((block) => (block.type === "text" ? [block.text] : []))
    .join("");

test("what an ACP agent asks a person is answered over HTTP, at any server on the store, and the turn goes on by it", async () => {
  await using here = await rig();
  const { client, served, token, dir } = here;
  await using other = await serve({ store: `sqlite:${join(dir, "h.db")}` });
  for (const [outcome, option] of [
    ["allowed", "yes"],
    ["denied", "no"],
  ] as const) {
    const { question, rest } = await asked(client);
    expect(question).toMatchObject({
      call: "call-1",
      data: { tool: "rm", input: { path: "x" } },
      options: [{ id: "always" }, { id: "yes", kind: "allow_once" }, { id: "no" }],
    });
    const request = question.request ?? "";
    expect((await client.listWaiting({ conversation: "c" })).asked).toMatchObject([{ request, tool: "rm" }]);
    // Whoever is told that it is busy takes nothing away from the turn that waits.
    const more = served.client(token).send({ conversation: "c", content: "more" });
    await expect(more).rejects.toMatchObject({ code: "busy" });
    const answer = { conversation: "c", request, outcome };
    expect(await other.client(token).answerRequest(answer)).toMatchObject({ deduped: false, turn: null });
    const entries = await rest();
    expect(said(entries)).toBe(`Told ${option}`);
    expect(entries.at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });
    expect(entries.filter(({ type }) => type.startsWith("permission"))).toMatchObject([
      { type: "permission_answer", request, outcome, by: "write-1" },
    ]);
    expect((await client.listWaiting({ conversation: "c" })).asked).toEqual([]);
  }
  const { effects } = await client.listEffects({ conversation: "c" });
  expect(effects.at(-1)).toMatchObject({ name: "rm", state: "failed" });
  expect(served.errors).toEqual([]);
});

test("a turn that is cancelled while it asks leaves no question; what only an editor has is declined; a dead agent is started again", async () => {
  await using here = await rig();
  const { client, dir } = here;
  const entries = await turn(client, "edit");
  expect(said(entries)).toBe("Told error -32601, error -32601");
  expect(here.received("initialize")[0]?.params["clientCapabilities"]).toEqual({
    fs: { readTextFile: false, writeTextFile: false },
    terminal: false,
  });
  expect(here.received("session/new")[0]?.params).toEqual({ cwd: dir, mcpServers: [] });

  expect((await turn(client, "die")).at(-1)).toMatchObject({ type: "turn_end" });
  expect(said(await turn(client, "hello"))).toContain("You said hello");
  expect(here.starts()).toBeGreaterThan(1);

  const { question, rest } = await asked(client);
  expect(await client.cancel({ conversation: "c" })).toMatchObject({ cancelled: true });
  const left = await rest();
  expect(left.at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });
  await expect.poll(async () => (await client.listWaiting({ conversation: "c" })).asked).toEqual([]);
  const { request = "" } = question;
  expect(await client.answerRequest({ conversation: "c", request, outcome: "allowed" })).toMatchObject({
    deduped: true,
  });
});

test("an agent of the command line needs a folder, and each its own name", async () => {
  for (const args of [
    ["--agent", "one=x"],
    ["--cwd", ".", "--agent", "one=x", "--agent", "one=y"],
    ["--cwd", ".", "--agent", "nonsense"],
    ["--speed", "0"],
  ])
    expect([args, (await holdfastHere("memory:", ["serve", ...args])).status]).toEqual([args, 2]);
});
