/** Killed outright in the middle, and taken up at once: nothing is lost, and no tool runs twice. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { jsonLines, type Ran } from "../cli-run.ts";
import { MODEL, type ModelCli, modelCli, type Running } from "../model-cli.ts";

async function killed({ child, ended }: Running): Promise<void> {
  child.kill("SIGKILL");
  await ended;
}

/** The lease of the dead process runs for half a minute more: whoever waited for it would have said so. */
const unhindered = (ran: Ran): void => expect(ran.err).not.toContain("Waiting");

const messages = async (cli: ModelCli, id: string): Promise<readonly string[]> =>
  jsonLines((await cli.run(["log", id, "--json"])).out)
    .filter(({ type }) => type === "message")
    .map(({ message }) => JSON.stringify(message));

test("killed while the model speaks: continue asks again and completes the turn, once", async () => {
  await using cli = await modelCli([
    { text: ["half an ", "answer"], hold: { at: "middle", name: "half" } },
    { text: "the whole answer" },
  ]);
  const running = cli.start(["chat", "cut", "-p", "my words", "--model", MODEL, "--json"]);
  await running.printed("half an");
  await killed(running);
  const done = await cli.run(["continue", "cut", "--json"]);
  unhindered(done);
  expect(done.status).toBe(0);
  expect(jsonLines(done.out).at(-1)).toMatchObject({ outcome: "completed", text: "the whole answer" });
  const kept = await messages(cli, "cut");
  expect(kept.filter((text) => text.includes("my words"))).toHaveLength(1);
  expect(kept.filter((text) => text.includes("the whole answer"))).toHaveLength(1);
  expect(await cli.run(["continue", "cut"])).toMatchObject({ status: 0, out: "" }); // nothing is left to do
});

test("killed in a tool: it is not run again, its processes are ended, and the model is told that nobody knows", async () => {
  await using cli = await modelCli([
    { calls: [{ name: "shell", input: { command: "echo ran >> ran.txt; sleep 1000" } }] },
    { text: "I shall look." },
  ]);
  const running = cli.start(["chat", "tool", "-p", "go", "--model", MODEL, "--yes", "--json"]);
  await running.printed('"state":"started"');
  await expect.poll(() => existsSync(join(cli.folder, "ran.txt"))).toBe(true);
  await killed(running);
  const looked = await cli.run(["chat", "tool"], { input: "/usage\n" });
  expect(looked.out.replaceAll(/\s+/g, " ")).toMatch(/shell .*unknown/);
  const done = await cli.run(["continue", "tool", "--yes"]);
  unhindered(done);
  expect(done).toMatchObject({ status: 0, out: "I shall look.\n" });
  expect(readFileSync(join(cli.folder, "ran.txt"), "utf8")).toBe("ran\n");
  expect((await cli.run(["effects", "tool"])).out).toMatch(/^unknown +shell /);
  expect(cli.server.requests[1]?.body).toContain("unknown");
});

test("killed at a chat, while a question waits: the next chat says so and goes on with it", async () => {
  await using cli = await modelCli([
    { calls: [{ name: "write", input: { path: "made", content: "x" } }] },
    { text: "written" },
  ]);
  const running = cli.start(["chat", "asked", "--model", MODEL]);
  running.type("go\n");
  await running.printed("write wants to write made");
  await killed(running);
  const back = await cli.run(["chat", "asked"], { input: "/continue\ny\n" });
  unhindered(back);
  expect(back.out).not.toContain("Waiting for process");
  expect(back.out).toContain("written");
  expect(readFileSync(join(cli.folder, "made"), "utf8")).toBe("x");
  expect(cli.server.requests).toHaveLength(2);
});

test("a new prompt after a kill ends the turn that was cut off, and the model knows what was said", async () => {
  await using cli = await modelCli([
    { text: ["half", " more"], hold: { at: "middle", name: "half" } },
    { text: "new answer" },
  ]);
  const running = cli.start(["chat", "anew", "-p", "first words", "--model", MODEL, "--json"]);
  await running.printed('"half"');
  await killed(running);
  const next = await cli.run(["chat", "anew", "-p", "second words"]);
  expect(next).toEqual({ status: 0, out: "new answer\n", err: "" });
  expect(cli.server.requests[1]?.body).toContain("first words");
});
