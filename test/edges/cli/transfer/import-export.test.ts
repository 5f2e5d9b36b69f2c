import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { runHere } from "../cli-here.ts";
import { type Input, jsonLines, type Ran, ROOT, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

const GOLDEN = join(ROOT, "test/compat/golden/import-session-log.jsonl");
const SAMPLE = readFileSync(GOLDEN, "utf8");
const [HEADER = "", FIRST = "", SECOND = "", THIRD = ""] = SAMPLE.split("\n");

function fileOf(name: string, content: string): string {
  const path = join(stores.dir, name);
  writeFileSync(path, content);
  return path;
}

describe.each(stores.addresses)("over %s", (store) => {
  const run = (args: readonly string[], input: Input = ""): Promise<Ran> => runHere(store, args, input);
  const failed = async (args: readonly string[], input: Input = ""): Promise<unknown> => {
    const { status, err } = await run([...args, "--json"], input);
    const { error } = jsonLines(err)[0] as {
      error: { code: string; details: { line?: number; byte?: number } };
    };
    return { status, code: error.code, line: error.details.line, byte: error.details.byte };
  };

  test("imports the four-line session log with its ids, its parents and the expected context", async () => {
    const imported = await run(["import", GOLDEN, "--json"]);
    expect(jsonLines(imported.out)).toEqual([
      {
        schemaVersion: 1,
        conversation: "s1",
        entries: 4,
        format: "session-log",
        problems: [],
        blobs: 0,
        missing: [],
        missingSeeds: [],
        linked: false,
        links: "new",
        unprovenSeq: 4,
        leaf: "m3",
        dryRun: false,
        bytes: statSync(GOLDEN).size,
        leftOut: 0,
        conversations: [expect.objectContaining({ conversation: "s1", from: "s1", state: "new" })],
      },
    ]);
    const expected: unknown = JSON.parse(readFileSync(GOLDEN.replace(".jsonl", ".context.json"), "utf8"));
    expect(jsonLines((await run(["context", "s1", "--json"])).out)).toEqual([expected]);
    const log = jsonLines((await run(["log", "s1", "--json"])).out);
    expect(log.map(({ id, parentId, time, type }) => [id, parentId, time, type])).toEqual([
      ["s1", null, "2026-01-01T10:00:00.000Z", "conversation"],
      ["m1", "s1", "2026-01-01T10:00:01.000Z", "message"],
      ["m2", "m1", "2026-01-01T10:00:03.000Z", "message"],
      ["m3", "m2", "2026-01-01T10:00:06.000Z", "message"],
    ]);
    expect(log[0]).toMatchObject({ cwd: "/repo" });
  });

  test("a fork that comes out of a file has used what it used, not what its source had", async () => {
    const spent = (inputTokens: number): EntryBody => ({
      type: "message",
      message: { role: "assistant", content: [], model: "m", usage: { inputTokens } },
    });
    const usageOf = async (id: string): Promise<number> => {
      await using holdfast = await openHoldfast({ store });
      return (await (await holdfast.conversation(id)).usage()).inputTokens;
    };
    {
      await using holdfast = await openHoldfast({ store });
      const source = await holdfast.create({ id: "paid" });
      await source.append([spent(60), spent(40)]);
      await (await source.fork({ id: "paid-fork" })).append(spent(101));
    }
    for (const [from, to] of [
      ["paid-fork", "paid-1"],
      ["paid-1", "paid-2"],
    ] as const) {
      const file = join(stores.dir, `${to}-${store.split(":")[0]}.jsonl`);
      expect((await run(["export", from, "-o", file])).status).toBe(0);
      expect((await run(["import", file, "--id", to])).status).toBe(0);
      expect(await usageOf(to)).toBe(101);
    }
    const root = jsonLines((await run(["log", "paid-2", "--json"])).out)[0];
    expect(root).toMatchObject({ forkedFrom: { conversation: "paid" } });
  });

  test("refuses a second conversation of the same id, and takes it under another", async () => {
    expect(await failed(["import", GOLDEN])).toMatchObject({ status: 4, code: "conversation_exists" });
    expect((await run(["import", GOLDEN, "--id", "copy"])).status).toBe(0);
    const fresh = await run(["import", "-", "--as-new", "--json"], SAMPLE);
    expect(jsonLines(fresh.out)[0]).toMatchObject({ entries: 4, leaf: "m3" });
    expect((await run(["import", GOLDEN, "--id", "x", "--as-new"])).status).toBe(2);
    expect(
      jsonLines((await run(["import", GOLDEN, "--id", "y", "--dry-run", "--json"])).out)[0],
    ).toMatchObject({ entries: 4, dryRun: true });
    expect((await run(["log", "y"])).status).toBe(3);
  });

  test.each([
    [
      "a newer version",
      HEADER.replace('"version":1', '"version":2'),
      { status: 6, code: "unsupported_version" },
    ],
    ["a file of another kind", '{"hello":"world"}\n', { status: 2, code: "invalid_request", line: 1 }],
    ["a torn last line", SAMPLE.trimEnd().slice(0, -20), { status: 6, code: "damaged", line: 4 }],
    [
      "a corrupt line in the middle",
      [HEADER, "\0\0\0", SECOND].join("\n"),
      { status: 6, code: "damaged", line: 2, byte: HEADER.length + 1 },
    ],
    [
      "an entry before its parent",
      [HEADER, SECOND, FIRST].join("\n"),
      { status: 6, code: "damaged", line: 2 },
    ],
    ["an id twice", [HEADER, FIRST, FIRST].join("\n"), { status: 6, code: "damaged", line: 3 }],
    ["an empty file", "", { status: 2, code: "invalid_request" }],
  ])("refuses %s with its position, and writes nothing", async (_what, content, wanted) => {
    const file = fileOf("bad.jsonl", content);
    expect(await failed(["import", file, "--id", "bad"])).toMatchObject(wanted);
    expect((await run(["log", "bad"])).status).toBe(3);
  });

  test("salvages what can be reached when asked, and attaches nothing by guess", async () => {
    const fourth = THIRD.replace('"id":"m3"', '"id":"m4"').replace('"parentId":"m2"', '"parentId":"m1"');
    const file = fileOf(
      "salvage.jsonl",
      [HEADER, FIRST, SECOND.slice(0, 60), THIRD, fourth, FIRST.slice(0, 30)].join("\n"),
    );
    const salvaged = await run(["import", file, "--salvage", "--id", "saved", "--json"]);
    expect(salvaged.status).toBe(0);
    const { entries, problems } = jsonLines(salvaged.out)[0] ?? {};
    expect(entries).toBe(3);
    expect(
      (problems as readonly { line: number; code: string }[]).map(({ line, code }) => [line, code]),
    ).toEqual([
      [3, "invalid_entry"],
      [4, "unknown_parent"],
      [6, "invalid_entry"],
    ]);
    expect(jsonLines((await run(["log", "saved", "--json"])).out).map(({ id }) => id)).toEqual([
      "s1",
      "m1",
      "m4",
    ]);
  });

  test("brings a conversation through export and import with every byte of its entries", async () => {
    await run(["new", "--id", "origin", "--title", "Where it began"]);
    const bodies = [
      '{"type":"custom","id":"odd","customType":"note","data":{"b":1,"a":12345678901234567890,"b":1.50,"u":"\\ud83d"}}',
      said("user", "two", { id: "u2" }),
      said("assistant", "three", { id: "a3" }),
    ];
    await run(["append", "origin"], bodies.join("\n"));
    await run(["goto", "origin@u2"]);
    const file = join(stores.dir, `${store.slice(0, 5)}.jsonl`);
    expect((await run(["export", "origin", "--format", "jsonl", "-o", file])).status).toBe(0);
    expect((await run(["import", file, "--id", "again"])).status).toBe(0);
    const [before, after] = [await run(["log", "origin", "--json"]), await run(["log", "again", "--json"])];
    expect(after.out).toBe(before.out);
    expect((await run(["tree", "again"])).out).toBe((await run(["tree", "origin"])).out);
    const lines = readFileSync(file, "utf8").split("\n").slice(1);
    expect(lines.filter((line) => !line.startsWith('{"type":')).join("\n")).toBe(before.out);
    const cut = readFileSync(file, "utf8").split("\n").slice(0, -2).join("\n");
    expect(await failed(["import", "-", "--as-new"], cut)).toMatchObject({ status: 6, code: "damaged" });
  });

  test("an export proves itself: a changed letter is refused with its line, and nothing is written", async () => {
    const kind = store.split(":")[0] ?? "";
    const other = `${kind}:${join(stores.dir, `proven-${kind}`)}`;
    const { out } = await run(["export", "origin"]);
    const lines = out.split("\n");
    const at = lines.findIndex((line) => line.includes("three"));
    const spoilt = await runHere(other, ["import", "-", "--json"], out.replace("three", "threw"));
    const { error } = jsonLines(spoilt.err)[0] as {
      error: { code: string; details: { [name: string]: unknown } };
    };
    // Its batch begins two lines before it; the one before that ends with the title.
    expect([spoilt.status, error.code, error.details["line"], error.details["soundSeq"]]).toEqual([
      6,
      "damaged",
      at - 1,
      2,
    ]);
    expect((await runHere(other, ["ls", "--json"])).out).toBe("");
    const whole = await runHere(other, ["import", "-", "--json"], out);
    expect(jsonLines(whole.out)[0]).toMatchObject({ linked: true, links: "kept", unprovenSeq: 0 });
    const fresh = await runHere(other, ["import", "-", "--as-new", "--json"], out);
    expect(jsonLines(fresh.out)[0]).toMatchObject({ linked: true, links: "new" });
    const batches = (text: string): readonly string[] =>
      text.split("\n").filter((line) => line.startsWith('{"type":"batch"'));
    expect(batches((await runHere(other, ["export", "origin"])).out)).toEqual(batches(out));
    const salvaged = await runHere(
      other,
      ["import", "-", "--as-new", "--salvage", "--json"],
      out.replace("three", "threw"),
    );
    expect(jsonLines(salvaged.out)[0]).toMatchObject({ links: "new", problems: [{ code: "damaged" }] });
    expect((await runHere(other, ["doctor"])).status).toBe(0);
  });

  test("flattens a fork into one log with the same tree, leaf and context", async () => {
    await run(["append", "origin"], said("user", "left out of the model", { id: "h4" }));
    await run(["hide", "origin@h4"]);
    await run(["label", "origin@u2", "here"]);
    await run(
      ["append", "origin"],
      '{"type":"compaction","id":"s5","summary":"So far.","firstKeptEntryId":"u2"}',
    );
    await run(["fork", "origin@s5", "--id", "branch"]);
    await run(["append", "branch"], said("user", "in the fork", { id: "f1" }));
    await run(["goto", "branch@here"]);
    await run(["append", "branch"], said("user", "from the middle", { id: "f2" }));
    const exported = await run(["export", "branch"]);
    const entries = jsonLines(exported.out).filter(({ id }) => id !== undefined);
    expect(entries.map(({ seq }) => seq)).toEqual(entries.map((_, index) => index + 1));
    expect((await run(["import", "-", "--id", "flat"], exported.out)).status).toBe(0);
    for (const args of [
      ["context", "--json"],
      ["context", "@f1", "--json"],
    ]) {
      const at = args[1]?.startsWith("@") ? args[1] : "";
      const [fork, flat] = [
        await run(["context", `branch${at}`, "--json"]),
        await run(["context", `flat${at}`, "--json"]),
      ];
      expect(flat.out.replace('"flat"', '"branch"')).toBe(fork.out);
    }
    const shape = async (id: string): Promise<unknown> => {
      const { leaf, nodes } = jsonLines((await run(["tree", id, "--json"])).out)[0] ?? {};
      return {
        leaf,
        nodes: (nodes as readonly { inherited: boolean; seq: number }[]).map(
          ({ inherited: _, seq: __, ...node }) => node,
        ),
      };
    };
    expect(await shape("flat")).toEqual(await shape("branch"));
  });

  test("goes on with an import that was cut off, and tells when it is done already", async () => {
    const entries = Array.from({ length: 2_500 }, (_, at) => {
      const message = { role: "user", content: [{ type: "text", text: `Message ${at}` }] };
      return JSON.stringify({
        type: "message",
        id: `e${at}`,
        parentId: at === 0 ? "big" : `e${at - 1}`,
        timestamp: "2026-01-01T10:00:00.000Z",
        message,
      });
    });
    const header = HEADER.replace('"id":"s1"', '"id":"big"');
    const file = fileOf("big.jsonl", [header, ...entries, ""].join("\n"));
    const { importBundle } = await import("#transfer/bundles/import-bundle");
    const { createReadStream } = await import("node:fs");
    const source = { name: file, chunks: () => createReadStream(file) };
    {
      await using holdfast = await openHoldfast({ store });
      const cutOff = importBundle(holdfast, source, {
        onEntry(done) {
          if (done === 2_000) throw new Error("the power went");
        },
      });
      await expect(cutOff).rejects.toThrow("the power went");
    }
    expect(jsonLines((await run(["import", file, "--json"])).out)[0]).toMatchObject({
      entries: 2_501,
      leaf: "e2499",
    });
    expect(jsonLines((await run(["log", "big", "--json"])).out)).toHaveLength(2_501);
    expect(await failed(["import", file])).toMatchObject({ status: 4, code: "conversation_exists" });
  });
});
