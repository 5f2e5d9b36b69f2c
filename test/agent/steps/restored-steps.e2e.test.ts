/**
 * Goal: a step that another worker goes on with rests on everything that `restore` brings back.
 * Method: a task whose worker is gone behind the first answer, over a log with a skill, memory, a server's tools and state.
 * The store is copied: one is gone on with by the task's next attempt, the other by `continue`. Both models are asked the same.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { Restored } from "#agent/restore";
import { McpServers } from "#agent/mcp/mcp-servers";
import { Memory } from "#agent/memory/memory";
import { Skills } from "#agent/skills/skills";
import { engineSteps } from "#agent/steps/engine-steps";
import { Holdfast } from "#conversation/holdfast";
import type { Json } from "#log/json/json-text";
import { sqliteStore } from "#stores/sqlite/index";
import { hostile } from "../mcp/mcp-rig.ts";
import { counter, inShort } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { skillFolders } from "../skills/skill-folder.ts";
import { tempDir } from "../../support/temp-dir.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

async function worker(path: string, script: Script): Promise<AsyncDisposable & Worker> {
  const store = await sqliteStore({ path });
  const holdfast = new Holdfast(store, "default", undefined, () => store.close());
  const servers = new McpServers([hostile()]);
  const model = new ScriptedModel(script);
  const memory = new Memory(holdfast);
  const mail = counter("mail", {
    run: async (input) => ({ content: "sent", state: { lastMail: input } }),
  });
  const agent = new Agent(holdfast, {
    model,
    memory,
    servers,
    skills: new Skills(),
    tools: [mail],
    permission: () => "allow",
  });
  const close = async (): Promise<void> => {
    await agent.close();
    await servers[Symbol.asyncDispose]();
    await holdfast[Symbol.asyncDispose]();
  };
  return { holdfast, agent, model, memory, [Symbol.asyncDispose]: close };
}

interface Worker {
  readonly holdfast: Holdfast;
  readonly agent: Agent;
  readonly model: ScriptedModel;
  readonly memory: Memory;
}

/** How long a server took to open is another each time. */
function untimed({ servers, ...rest }: Restored): unknown {
  return { ...rest, servers: servers.map(({ name, state, tools }) => ({ name, state, tools })) };
}

test("a step of another worker asks what `continue` would ask, with skills, memory, servers and state", async () => {
  using dir = tempDir();
  await using folders = await skillFolders();
  await folders.skill(join(folders.project, ".agents/skills"), "bake");
  const [path, copy] = [join(dir.path, "log.db"), join(dir.path, "copy.db")];
  const kept = new Map<string, Json>();
  const steps = (diesAt: string) =>
    engineSteps({
      engine: "memory",
      taskId: "t",
      async run(name, body) {
        if (name.endsWith(diesAt)) throw new Error("the worker is gone");
        const value = kept.get(name) ?? (await body());
        kept.set(name, value);
        return value;
      },
    });
  {
    await using first = await worker(path, [{ calls: [{ id: "m1", name: "mail", input: { to: "bob" } }] }]);
    await first.holdfast.create({ id: "c", cwd: folders.project });
    await first.memory.save("user", { content: "Bob wants short mails." });
    await first.agent.activateSkill("c", "bake");
    await expect(first.agent.send("c", "write to bob", { steps: steps("/2") })).rejects.toThrow("gone");
    await first.holdfast.backup(copy);
  }
  await using inSteps = await worker(path, [{ text: "It is sent." }]);
  await using continued = await worker(copy, [{ text: "It is sent." }]);
  const [ours, theirs] = [await inSteps.agent.restore("c"), await continued.agent.restore("c")];
  expect(untimed(ours)).toEqual(untimed(theirs));
  expect([ours.skills.length, ours.servers.length, ours.missing]).toEqual([1, 1, []]);
  const [result, plain] = [
    await inSteps.agent.send("c", "write to bob", { steps: steps("none") }),
    await continued.agent.continue("c"),
  ];
  expect([result.outcome, result.text]).toEqual([plain.outcome, plain.text]);
  const [asked] = inSteps.model.asked;
  expect(JSON.stringify(asked)).toMatch(
    /Bob wants short mails.*How to bake|How to bake.*Bob wants short mails/,
  );
  expect(inSteps.model.asked).toEqual(continued.model.asked);
  const named = (restored: Restored): unknown => ({
    ...(untimed(restored) as object),
    leaf: "",
    messages: restored.messages.map(inShort),
  });
  const [after, other] = [await inSteps.agent.restore("c"), await continued.agent.restore("c")];
  expect(named(after)).toEqual(named(other));
  expect(after.state).toEqual({ lastMail: { to: "bob" } });
});
