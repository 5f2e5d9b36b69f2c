/**
 * Goal: whatever a file holds, an import either takes it by the rules or refuses it in words, and what was in the store is as it was,
 * byte for byte.
 * Method: files made by hand with ends that fit them, so that nothing but what they say speaks against them, and a whole
 * bundle spoilt at every line; into a JSONL store, whose files are compared.
 */
import { createHash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { jsonlStore } from "#stores/jsonl/index";
import { importBundle, type ImportOptions } from "#transfer/bundles/import-bundle";
import { user } from "../../support/a-log.ts";
import { bundleText, fileOfText } from "../../support/bundle-text.ts";
import { filesUnder } from "../../support/files-under.ts";
import { sealed } from "../../support/bundle-lines.ts";
import { hostileBundles, soundBundles, wholeFamily } from "../../support/hostile-bundles.ts";
import { tempDir } from "../../support/temp-dir.ts";

const dir = tempDir();
let store: Store;
let holdfast: Holdfast;
const family = new Holdfast(inMemoryStore(), "s");
const whole = await bundleText(await wholeFamily(family));

beforeAll(async () => {
  store = jsonlStore({ dir: dir.path });
  holdfast = new Holdfast(store, "s");
  const chat = await holdfast.create({ id: "mine" });
  await chat.append(user("untouched", "m1"));
  await chat.putBlob(Buffer.from("mine, too"));
});
afterAll(async () => {
  await store.close();
  dir[Symbol.dispose]();
});

function bytesOfStore(): readonly string[] {
  return filesUnder(dir.path)
    .filter((path) => statSync(path).isFile())
    .map((path) => `${path} ${createHash("sha256").update(readFileSync(path)).digest("hex")}`)
    .toSorted();
}

/** The code of the refusal; null when it was taken. */
async function refusal(text: string | Uint8Array, options: ImportOptions = {}): Promise<string | null> {
  const before = bytesOfStore();
  try {
    await importBundle(holdfast, fileOfText(text), options);
    return null;
  } catch (error) {
    if (!isLogError(error)) throw error;
    expect(bytesOfStore()).toEqual(before);
    expect(error.message.length).toBeLessThan(20_000);
    return error.code;
  }
}

const REFUSALS = ["damaged", "invalid_id", "invalid_request", "too_large", "unsupported_version"];

describe("what is refused, with nothing written", () => {
  test.each(hostileBundles(whole))("$name", async ({ name, text }) => {
    expect([name, await refusal(text)]).toEqual([name, expect.toBeOneOf(REFUSALS)]);
    // Nor does anything of it harm whoever only looks, or takes what can be had.
    for (const options of [
      { asNew: true, dryRun: true },
      { salvage: true, asNew: true, dryRun: true },
    ])
      await refusal(text, options);
    expect((await Array.fromAsync(holdfast.listAll())).map(({ conversation }) => conversation)).toEqual([
      "mine",
    ]);
  });
});

test("a bundle that was cut off behind any line, or in the middle of any, is refused", async () => {
  const lines = whole.trimEnd().split("\n");
  let end = 0;
  const taken: number[] = [];
  for (const line of lines) {
    for (const at of [end, end + 1, end + Math.floor(line.length / 2), end + line.length]) {
      const cut = whole.slice(0, at);
      if (cut !== whole.trimEnd() && (await refusal(cut)) === null) taken.push(at);
    }
    end += line.length + 1;
  }
  expect(taken).toEqual([]);
});

test("what the corpus is made of is taken where nothing is wrong with it", async () => {
  await using other = inMemoryStore();
  for (const [at, { name, text }] of soundBundles().entries()) {
    const { conversations } = await importBundle(new Holdfast(other, `s${at}`), fileOfText(text));
    expect([name, conversations.map(({ state }) => state)]).toEqual([name, conversations.map(() => "new")]);
  }
});

test("what is harmless is taken: paths and escapes in titles, ends of lines of another system, an image that is missing", async () => {
  await using other = inMemoryStore();
  const into = (space: string): Holdfast => new Holdfast(other, space);
  await importBundle(into("crlf"), fileOfText(whole.replaceAll("\n", "\r\n")));
  expect(await (await into("crlf").conversation("fork")).usage()).toMatchObject({ inputTokens: 0 });
  const lines = whole.trimEnd().split("\n").slice(0, -1);
  const bare = sealed(lines.filter((line) => !line.startsWith('{"type":"blob"')));
  const { conversations } = await importBundle(into("bare"), fileOfText(bare));
  expect(conversations.map(({ missing }) => missing.length)).toEqual([1, 0]);
  const title = "../../\u001b[31m<script>alert(1)</script>\u202e";
  const chat = await into("title").create({ id: "odd", title });
  const brought = into("brought");
  await importBundle(brought, fileOfText(await bundleText([chat])));
  expect((await (await brought.conversation("odd")).head()).title).toBe(title);
  // A file may call its conversation as it likes where another name is chosen for it.
  const file = sealed([
    '{"type":"holdfast","v":2,"conversation":"../../x"}',
    '{"id":"r","type":"conversation"}',
  ]);
  const imported = await importBundle(into("named"), fileOfText(file), { id: "fine" });
  expect(imported.conversations[0]).toMatchObject({ conversation: "fine", from: "../../x" });
});

test("a run whose seed is nowhere is imported and told of", async () => {
  await using other = inMemoryStore();
  const from = new Holdfast(other, "from");
  const chat = await from.create({ id: "runs" });
  await chat.append({ type: "run_start", run: "r1", trigger: "email", seed: "gone", seedCount: 3 });
  const { conversations } = await importBundle(
    new Holdfast(other, "to"),
    fileOfText(await bundleText([chat])),
  );
  expect(conversations[0]?.missingSeeds).toEqual(["gone"]);
});
