/** acpx drives the bridge through all that its command line offers, with a scripted agent and with the real Claude. */
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Acpx, acpx } from "./acpx.ts";
import { type AgentHome, agentHome, WIRES } from "./agent-home.ts";
import { fakeModel } from "./fake-model.ts";
import { agentsFolder, commandOf } from "./install.ts";
import { at, textAt } from "./json.ts";
import { until } from "./until.ts";

const SCRIPTED = join(import.meta.dirname, "../support/scripted-agent/scripted-agent.ts");

/** What differs between the agents. */
interface Rig extends AsyncDisposable {
  readonly home: AgentHome;
  readonly client: Acpx;
  /** A prompt that has a line written to a file of the project by a tool. */
  readonly tool: (file: string, line: string) => string;
  /** A prompt whose answer stops half way, and the words that come before that. */
  readonly half: () => { readonly prompt: string; readonly words: string };
  /** The agent's own records of its sessions. */
  records(): readonly string[];
}

function scripted(): Promise<Rig> {
  const home = agentHome({});
  const folder = join(home.path, "agent");
  const agent = [process.execPath, SCRIPTED, folder, "--like", "opencode", "--ask"] as const;
  const client = acpx({ home: home.path, cwd: home.project, env: home.env, agent });
  return Promise.resolve({
    home,
    client,
    tool: (file: string, line: string) => `tool ${join(home.project, file)} ${line}`,
    half: () => ({ prompt: "partial Half of it, ", words: "Half of it" }),
    records: () => filesIn(join(folder, "sessions"), ".json"),
    [Symbol.asyncDispose]: async () => {
      await client.crash();
      home[Symbol.dispose]();
    },
  });
}

async function claude(): Promise<Rig> {
  const model = await fakeModel(WIRES.claude);
  const home = agentHome({ claude: model.url });
  const agent = commandOf("claude", agentsFolder());
  const client = acpx({ home: home.path, cwd: home.project, env: home.env, agent });
  return {
    home,
    client,
    tool: (file, line) => `run: echo ${line} >> ${file}; echo there`,
    half: () => {
      model.next("hang");
      return { prompt: "tell me something long, and take your time", words: "something" };
    },
    records: () => filesIn(join(home.path, ".claude", "projects"), ".jsonl"),
    [Symbol.asyncDispose]: async () => {
      await client.crash();
      await model[Symbol.asyncDispose]();
      home[Symbol.dispose]();
    },
  };
}

function filesIn(folder: string, ending: string): readonly string[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending))
    .map((file) => join(folder, file));
}

const AGENTS = { "a scripted agent": scripted, Claude: claude };

test.each(Object.entries(AGENTS))("acpx and %s behind the bridge", async (_name, open) => {
  await using rig = await open();
  const { client } = rig;
  await once(client);
  const id = await sessionOf(client);
  expect(await client.said("remember color=blue")).toContain("Noted color=blue.");
  await tools(rig);
  await recalls(client, "alive");

  await client.crash();
  await recalls(client, "crashed");

  await client.crash();
  expect(rig.records()).not.toEqual([]);
  for (const file of rig.records()) rmSync(file);
  await recalls(client, "forgotten");

  await stopped(rig);
  await recalls(client, "stopped");
  await settings(client);
  expect(await listed(client)).toContain(id);
  expect((await client.run("held", "sessions", "close")).status).toBe(0);
  expect((await client.run("held", "prompt", "what is color?")).status).not.toBe(0);
  expect(await listed(client)).toContain(id);
});

async function once(client: Acpx): Promise<void> {
  const { out, status } = await client.run("--format", "quiet", "held", "exec", "remember shape=round");
  expect(out).toContain("Noted shape=round.");
  expect(status).toBe(0);
}

/** A session that is made once and found again. */
async function sessionOf(client: Acpx): Promise<string> {
  const made = await client.json("sessions", "new");
  const id = textAt(made, "acpxSessionId");
  expect(id).not.toBe("");
  const found = await client.json("sessions", "ensure");
  expect([at(found, "created"), at(found, "acpxSessionId")]).toEqual([false, id]);
  expect(await listed(client)).toContain(id);
  return id;
}

/** The sessions as the bridge tells them, not as acpx remembers them. */
async function listed(client: Acpx): Promise<readonly string[]> {
  const list = await client.json("sessions", "list");
  expect(at(list, "source")).toBe("agent");
  const sessions = at(list, "sessions");
  return Array.isArray(sessions) ? sessions.map((session) => textAt(session, "sessionId")) : [];
}

/** What is allowed is done once, what is not is not done. */
async function tools({ client, home, tool }: Rig): Promise<void> {
  expect(await client.said(tool("effects.txt", "one"), "--approve-all")).toContain("Done: ");
  await client.run("--deny-all", "--format", "quiet", "held", "prompt", tool("effects.txt", "two"));
  expect(readFileSync(join(home.project, "effects.txt"), "utf8")).toBe("one\n");
}

async function recalls(client: Acpx, mark: string): Promise<void> {
  expect(await client.said("what is color?"), mark).toContain("color is blue");
}

async function stopped({ client, half }: Rig): Promise<void> {
  const { prompt, words } = half();
  const running = client.begin("held", "prompt", prompt);
  await until("the first half", () => (running.out().includes(words) ? true : undefined));
  const cancelled = await client.run("held", "cancel");
  expect([cancelled.status, cancelled.out]).toEqual([0, expect.stringContaining("cancel requested")]);
  expect((await running.ended).out).toContain("cancelled");
}

async function settings(client: Acpx): Promise<void> {
  expect((await client.run("held", "set-mode", "plan")).out).toContain("mode set: plan");
  expect((await client.run("held", "status")).out).toContain("running");
}
