/** Goal: runs on the command line, for people and for scripts, with nothing of theirs obeyed by a terminal. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type EntryBody, openHoldfast } from "#index";
import { widthOf } from "#edges/cli/terminal/terminal";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran } from "../cli-run.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
const store = `sqlite:${join(folder.path, "store.db")}`;
const run = (...args: readonly string[]): Promise<Ran> => holdfastHere(store, args);

const text = (words: string) => [{ type: "text", text: words }] as const;
const HOSTILE = "\u001B[31mred\u001B[0m\nnext";

function email(id: string, more: readonly (EntryBody | string)[] = []): readonly (EntryBody | string)[] {
  return [
    ...more,
    {
      type: "run_start",
      run: id,
      trigger: "email",
      triggerId: HOSTILE,
      mailbox: "billing",
      seed: `${id}-seed`,
    },
    { type: "message", id: `${id}-p`, message: { role: "user", content: text(`about ${id} ${HOSTILE}`) } },
    { type: "turn_start", turn: `${id}-t`, prompt: `${id}-p`, run: id },
    { type: "message", message: { role: "assistant", content: text("Done."), usage: { costMicros: 70 } } },
    { type: "turn_end", turn: `${id}-t`, outcome: "completed" },
    { type: "run_end", run: id, status: "completed" },
  ];
}

const SEED =
  '{"type":"seed","id":"r-1-seed","run":"r-1","messages":[{"role":"system","content":"Brief."},{"role":"user","content":"Mail","details":{"n":12345678901234567890}}]}';

beforeAll(async () => {
  await using holdfast = await openHoldfast({ store });
  const thread = await holdfast.create({ id: "thread" });
  await thread.append(email("r-1", [SEED]));
  await thread.append(
    email("r-2", [{ type: "seed", id: "r-2-seed", run: "r-2", messages: [{ role: "user", content: "x" }] }]),
  );
  const chat = await holdfast.createFrom("chat", [
    { type: "conversation", parent: { conversation: "thread", entry: "r-1-p" } },
  ]);
  await chat.append({ type: "run_start", run: "r-3", trigger: "chat" });
});

test("one line per run, oldest first, by mailbox, trigger and conversation", async () => {
  const listed = async (...args: readonly string[]): Promise<readonly unknown[]> =>
    jsonLines((await run("runs", ...args, "--json")).out).map((row) => row["run"]);
  expect(await listed()).toEqual(["r-1", "r-2", "r-3"]);
  expect(await listed("--mailbox", "billing")).toEqual(["r-1", "r-2"]);
  expect(await listed("--trigger", "chat")).toEqual(["r-3"]);
  expect(await listed("chat")).toEqual(["r-3"]);
  expect(await listed("chat", "--along")).toEqual(["r-1", "r-3"]);
  expect(await listed("-n", "2")).toEqual(["r-2", "r-3"]);
  expect(await listed("-n", "0")).toEqual([]);
  expect(await listed("--until", "2020-01-01")).toEqual([]);
  const [row] = jsonLines((await run("runs", "thread", "--json")).out);
  expect(row).toMatchObject({
    schemaVersion: 1,
    run: "r-1",
    conversation: "thread",
    trigger: { type: "email", id: HOSTILE },
    status: "completed",
    steps: 1,
    usage: { costMicros: 70 },
  });
});

test("at a terminal and in a pipe a run is a line that nothing in it breaks", async () => {
  const terminal = await holdfastHere(store, ["runs"], { terminal: 80 });
  const lines = terminal.out.trimEnd().split("\n");
  expect(lines).toHaveLength(4);
  expect(lines.filter((line) => widthOf(line) > 80)).toEqual([]);
  const pipe = (await run("runs")).out;
  expect(pipe.trimEnd().split("\n")).toHaveLength(3);
  expect(`${terminal.out}${pipe}`).not.toContain("\u001B");
  expect(await run("runs", "--mailbox", "none")).toMatchObject({ status: 0, out: "" });
});

test("a run is hydrated as it is stored, every digit of it", async () => {
  const { status, out } = await run("hydrate", "r-1", "--json");
  expect([status, out.match(/12345678901234567890/g)]).toEqual([0, ["12345678901234567890"]]);
  const [hydrated] = jsonLines(out);
  const [row] = jsonLines((await run("runs", "thread", "--json")).out);
  expect({ schemaVersion: 1, ...(hydrated?.["run"] as object) }).toEqual(row);
  expect(hydrated).toMatchObject({
    seeds: [{ role: "system" }, { role: "user" }],
    messages: [{ id: "r-1-p", type: "message" }, { type: "message" }],
    context: { system: "Brief.", messages: [{ role: "user" }, { role: "user" }, { role: "assistant" }] },
    state: null,
    totals: { steps: 1, prompts: 1, usage: { costMicros: 70 } },
  });
  const people = await holdfastHere(store, ["hydrate", "r-1"], { terminal: 60 });
  expect(people.out).toContain("seed · system\n  Brief.");
  expect(people.out).not.toContain("\u001B");
});

test("for people a long result is shortened, and for scripts it is whole", async () => {
  const lines = Array.from({ length: 60 }, (_, at) => `line ${at}.`);
  const log = await holdfastHere(store, ["new", "--id", "long", "--json"]);
  expect(log.status).toBe(0);
  await using holdfast = await openHoldfast({ store });
  const call = { type: "toolCall", id: "c", name: "look", input: {} } as const;
  await (
    await holdfast.conversation("long")
  ).append([
    { type: "run_start", run: "r-long", trigger: "chat" },
    { type: "message", message: { role: "user", content: text("look") } },
    { type: "message", message: { role: "assistant", content: [call] } },
    { type: "message", message: { role: "toolResult", toolCallId: "c", content: text(lines.join("\n")) } },
    { type: "run_end", run: "r-long", status: "completed" },
  ]);
  const people = await run("hydrate", "r-long");
  expect(people.out.split("\n").length).toBeLessThan(30);
  for (const shown of ["line 0.", "line 59."]) expect(people.out).toContain(shown);
  expect((await run("hydrate", "r-long", "--json")).out).toContain("line 30.");
});

test("a fork from a run shares its seeds and says what is other", async () => {
  const file = join(folder.path, "patch.md");
  await writeFile(file, "Be long.");
  const flags = ["--model", "p/two", "--tools", "read, write", "--patch-system", file, "--id", "from-run"];
  const [made] = jsonLines((await run("fork", "r-1@r-1-p", ...flags, "--json")).out);
  expect(made).toMatchObject({
    conversation: "from-run",
    origin: { conversation: "thread", entry: "r-1-p" },
  });
  const [row] = jsonLines((await run("runs", "from-run", "--json")).out);
  expect(row).toMatchObject({
    run: made?.["run"],
    trigger: { type: "fork", id: "r-1" },
    model: "p/two",
    tools: ["read", "write"],
    promptPatch: { system: "Be long." },
    continues: "r-1",
    seed: "r-1-seed",
  });
  const [hydrated] = jsonLines((await run("hydrate", String(made?.["run"]), "--json")).out);
  expect(hydrated).toMatchObject({ context: { system: "Brief.", messages: [{}, { role: "user" }] } });
  expect((await run("fork", "thread", "--tools", "read")).status).toBe(2);
  expect((await run("fork", "r-1", "--tools", ",")).status).toBe(2);
  expect((await run("fork", "r-1", "--patch-system", join(folder.path, "none"))).status).toBe(2);
  expect((await run("fork", "r-1@r-2-p")).status).toBe(2);
  expect((await run("fork", "r-1@nowhere")).status).toBe(3);
});

test("what is not there, or said wrongly, is a clear error", async () => {
  expect((await run("hydrate", "gone")).status).toBe(3);
  expect((await run("hydrate", "r-1", "--conversation", "nowhere")).status).toBe(3);
  expect((await run("hydrate", "r-3", "--conversation", "thread")).status).toBe(3);
  expect((await run("runs", "nowhere")).status).toBe(3);
  expect((await run("runs", "--along")).status).toBe(2);
  expect((await run("runs", "--since", "yesterday")).status).toBe(2);
  expect((await run("hydrate")).status).toBe(2);
});
