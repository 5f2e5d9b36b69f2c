/** Pipes that break, files that are none, places that cannot hold a store. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, MAIN, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const { dir, addresses } = stores;
const [sqlite = ""] = addresses;

beforeAll(async () => {
  for (const store of addresses) {
    await runHere(store, ["new", "--id", "rel.1"]);
    await runHere(store, ["append", "rel.1"], said("user", "one"));
  }
});

/** Runs a shell line with `hf` as the command. */
async function shell(line: string): Promise<{ readonly out: string; readonly err: string }> {
  const env = { ...process.env, HOLDFAST_STORE: sqlite, HF: MAIN, NODE: process.execPath };
  const child = spawn("/bin/bash", ["-c", `hf() { "$NODE" "$HF" "$@"; }; ${line}`], { env });
  const [out, err] = [child.stdout.toArray(), child.stderr.toArray()];
  await once(child, "close");
  return { out: Buffer.concat(await out).toString(), err: Buffer.concat(await err).toString() };
}

describe("a reader that goes away", () => {
  test("is no failure for a command that reads", async () => {
    const { err } = await shell("(hf log rel.1; echo status=$? >&2) | true");
    expect(err).toBe("status=0\n");
  });

  test("is one for a command that writes: input is left, and the status says so", async () => {
    const lines = join(dir, "many.jsonl");
    writeFileSync(lines, `${said("user", "x")}\n`.repeat(2_000));
    await runHere(sqlite, ["new", "--id", "many"]);
    const { err } = await shell(`(hf append many --each < ${lines}; echo status=$? >&2) | head -1`);
    expect(err).toContain("status=5");
    const [listed] = jsonLines((await runHere(sqlite, ["ls", "many", "--json"])).out);
    expect(Number(listed?.["headSeq"])).toBeLessThan(2_000);
    expect((await shell("(hf title many T; echo status=$? >&2) | true")).err).toContain("status=5");
  });

  test("of standard error changes nothing", async () => {
    expect((await shell("hf log nobody 2>&-; echo $?")).out).toBe("3\n");
    expect((await shell("hf append rel.1 2>/dev/full </dev/null; echo $?")).out).toBe("2\n");
  });
});

describe("export to a file", () => {
  test("replaces what is there only when told to, and leaves a link a link", async () => {
    const [file, link] = [join(dir, "chat.jsonl"), join(dir, "link.jsonl")];
    writeFileSync(file, "precious");
    symlinkSync(file, link);
    for (const target of [file, link])
      expect((await runHere(sqlite, ["export", "rel.1", "-o", target])).status).toBe(2);
    expect(readFileSync(file, "utf8")).toBe("precious");
    expect((await runHere(sqlite, ["export", "rel.1", "-o", link, "--force"])).status).toBe(0);
    expect(readFileSync(file, "utf8")).toContain('"holdfast"');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  test("writes into a pipe or a device and never replaces it; import reads from a pipe", async () => {
    const pipe = join(dir, "pipe");
    await shell(`mkfifo ${pipe}`);
    const { out } = await shell(`hf export rel.1 -o ${pipe} & hf import ${pipe} --as-new --json; wait`);
    expect(out).toContain('"entries":2');
    expect(statSync(pipe).isFIFO()).toBe(true);
    expect((await runHere(sqlite, ["export", "rel.1", "-o", "/dev/null"])).status).toBe(0);
    expect(statSync("/dev/null").isCharacterDevice()).toBe(true);
    expect((await shell("hf import <(hf export rel.1) --as-new --json")).out).toContain('"entries":2');
  });
});

test("an address whose place cannot hold such a store is a wrong call", async () => {
  const [file, folder] = [join(dir, "file"), join(dir, "folder")];
  writeFileSync(file, "x");
  mkdirSync(folder);
  for (const store of [`sqlite:${folder}`, `sqlite:${file}/x.db`, `jsonl:${file}`, `jsonl:${file}/logs`])
    for (const args of [["ls"], ["new"]])
      expect((await runHere(store, args)).status, `${store} ${args.join(" ")}`).toBe(2);
});

describe.each(addresses)("over %s", (store) => {
  test("the start of an id may end anywhere", async () => {
    expect((await runHere(store, ["show", "rel."])).status).toBe(0);
    expect((await runHere(store, ["show", "nope."])).status).toBe(3);
    expect((await runHere(store, ["new", "--id", "bad."])).status).toBe(2);
  });

  test("a batch that breaks a rule names the line that does", async () => {
    const bad: readonly (readonly [string, string])[] = [
      ["unknown_parent", said("user", "x", { parentId: "nobody" })],
      ["duplicate_id", said("user", "x", { id: "m1" })],
      ["unknown_target", '{"type":"leaf","target":"nobody"}'],
      ["invalid_boundary", '{"type":"compaction","summary":"s","firstKeptEntryId":"nobody"}'],
    ];
    for (const [code, line] of bad) {
      const input = `${said("user", "fine", { id: "m1" })}\n\n${line}\n${said("user", "never")}\n`;
      const { status, err } = await runHere(store, ["append", "rel.1", "--json"], input);
      const [told] = jsonLines(err);
      expect({ status, told }).toMatchObject({ status: 2, told: { error: { code, details: { line: 3 } } } });
    }
  });

  test("members of a payload that are named like ours stay what they are", async () => {
    await runHere(store, ["new", "--id", "own"]);
    const entry = said("user", "x", { id: "m1", hidden: "mine", inherited: "mine too" });
    await runHere(store, ["append", "own"], entry);
    await runHere(store, ["hide", "own@m1"]);
    await runHere(store, ["fork", "own", "--id", "own-fork"]);
    const shown = (await runHere(store, ["show", "own", "--json"])).out;
    expect(jsonLines(shown)).toMatchObject([
      { hidden: ["m1"], entries: [{}, { id: "m1", hidden: "mine", inherited: "mine too" }] },
    ]);
    const log = jsonLines((await runHere(store, ["log", "own-fork", "--json"])).out);
    expect(log[0]).toMatchObject({ type: "conversation", inherited: true });
    expect(log[1]).toMatchObject({ id: "m1", inherited: "mine too" });
  });
});
