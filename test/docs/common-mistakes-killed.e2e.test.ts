/** Saving at the end is no mistake that can be made: a process that is killed in the middle of a turn has saved by then. */
import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { openHoldfast } from "#open";
import { said } from "../agent/rig.ts";

const folders: string[] = [];
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

/** A host that saves nothing itself, and says when its tool runs. */
const HOST = `
import { Agent } from "#agent/agent";
import { openHoldfast } from "#open";
const holdfast = await openHoldfast({ store: process.argv[1] });
const chat = await holdfast.create({ id: "c" });
const look = { name: "look", effect: "none", run: () => { console.log("running"); return new Promise(() => setInterval(() => {}, 1000)); } };
const agent = new Agent(holdfast, { model: "sim", tools: [look], permission: () => "allow", instructions: false });
await agent.send(chat, "remember color=blue");
await agent.send(chat, "tool look {}");
`;

test("a process that is killed has saved everything; another one finishes the turn", async () => {
  const folder = await mkdtemp(join(tmpdir(), "killed-"));
  folders.push(folder);
  const store = `sqlite:${join(folder, "log.db")}`;
  const host = spawn(process.execPath, ["--input-type=module-typescript", "-e", HOST, store], {
    cwd: join(import.meta.dirname, "..", ".."),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = new Promise((resolve) => host.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    host.stdout.once("data", () => resolve());
    host.once("exit", () => reject(new Error("The host ended by itself")));
  });
  host.kill("SIGKILL");
  await gone;
  await using holdfast = await openHoldfast({ store });
  const look = { name: "look", effect: "none" as const, run: async (): Promise<string> => "a tree" };
  await using agent = new Agent(holdfast, {
    model: "sim",
    tools: [look],
    permission: () => "allow",
    instructions: false,
  });
  const { messages, openTurn } = await agent.restore("c");
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "user", "assistant", "toolResult"]);
  expect(openTurn).not.toBeNull();
  expect(await agent.continue("c")).toMatchObject({ outcome: "completed" });
  const chat = await holdfast.conversation("c");
  expect((await said(chat)).some((line) => line === "toolResult: a tree")).toBe(true);
  expect(await agent.send(chat, "recall color")).toMatchObject({ outcome: "completed" });
});
