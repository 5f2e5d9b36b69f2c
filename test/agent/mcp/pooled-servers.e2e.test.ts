/** Servers that are given for one conversation go with what is held of it, and are there again when it is taken up. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { McpServers } from "#agent/mcp/mcp-servers";
import { openHoldfast } from "#open";
import { ScriptedModel } from "../scripted-model.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { hostile } from "./mcp-rig.ts";

const nothing = async (): Promise<void> => undefined;

test("a limit of processes: the least recently used conversation's servers end, and are opened again by the next work", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  for (const id of ["a", "b"]) await holdfast.create({ id });
  await using first = new McpServers([hostile()]);
  await using second = new McpServers([hostile()]);
  await using agent = new Agent(holdfast, {
    model: new ScriptedModel([]),
    instructions: false,
    servers: (conversation) => [conversation === "a" ? first : second],
    pool: { processes: 1 },
  });
  const states = async (id: string): Promise<readonly string[]> =>
    agent.pool.with(id, async ({ restored }) =>
      restored.servers.map(({ name, state }) => `${name} ${state}`),
    );
  expect(await states("a")).toEqual(["odd open"]);
  expect([first.weight, agent.pool.use().processes]).toEqual([1, 1]);
  expect(await states("b")).toEqual(["odd open"]);
  await expect.poll(() => first.weight).toBe(0);
  expect([second.weight, agent.pool.use().processes]).toEqual([1, 1]);
  expect(await states("a")).toEqual(["odd open"]);
  await agent.pool.release("a");
  expect([first.weight, agent.pool.use().processes]).toEqual([0, 0]);
});

test("one that two conversations have ends with the last of them; one that is given to all is the host's", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  for (const id of ["a", "b"]) await holdfast.create({ id });
  await using shared = new McpServers([hostile()]);
  const options = { model: new ScriptedModel([]), instructions: false };
  await using agent = new Agent(holdfast, { ...options, servers: () => [shared] });
  for (const id of ["a", "b"]) await agent.pool.with(id, nothing);
  await agent.pool.release("a");
  expect(shared.weight).toBe(1);
  await agent.pool.release("b");
  expect(shared.weight).toBe(0);
  await using other = new Agent(holdfast, { ...options, servers: shared, pool: { mode: "rebuild" } });
  await other.pool.with("a", nothing);
  expect(shared.weight).toBe(1);
});
