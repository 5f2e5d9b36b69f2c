import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { withOldEnd } from "../../../support/bundle-text.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran, someStores } from "../cli-run.ts";
import { spaceOf } from "#conversation/on-space";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

// More than one line of an export can hold.
const LARGE = Uint8Array.from({ length: 2_000_000 }, (_, at) => (at * 31 + (at >> 9)) % 256);
const SMALL = new TextEncoder().encode("a small image");
const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
const LOST = "0".repeat(64);

function image(blob: string): object {
  return { type: "image", mediaType: "image/png", blob };
}

describe.each(stores.addresses)("over %s", (store) => {
  const file = join(stores.dir, `${store.slice(0, 5)}.jsonl`);
  const run = (args: readonly string[], input: string = ""): Promise<Ran> =>
    holdfastHere(store, args, { input });

  beforeAll(async () => {
    await using holdfast = await openHoldfast({ store });
    const chat = await holdfast.create({ id: "pictures" });
    const [large, small] = [await chat.putBlob(LARGE), await chat.putBlob(SMALL)];
    const content = [image(large), image(small), image(large)];
    await chat.append(JSON.stringify({ type: "message", message: { role: "user", content } }));
    await chat.append(
      JSON.stringify({ type: "message", message: { role: "user", content: [] }, details: { kept: small } }),
    );
    await chat.append({
      type: "message",
      message: { role: "assistant", content: [{ type: "text", text: "Nice" }] },
    });
    const fork = await chat.fork({ id: "fork" });
    await fork.append({
      type: "message",
      message: { role: "user", content: [{ type: "text", text: "And?" }] },
    });
  });

  test("an export has the images, and the import restores them byte for byte", async () => {
    const wrote = await run(["export", "pictures", "-o", file, "--json"]);
    expect(jsonLines(wrote.out)[0]).toMatchObject({ entries: 4, blobs: 2, missing: [] });
    const read = await run(["import", file, "--id", "copy", "--json"]);
    expect(jsonLines(read.out)[0]).toMatchObject({ entries: 4, blobs: 2, missing: [], problems: [] });
    await using holdfast = await openHoldfast({ store });
    const copy = await holdfast.conversation("copy");
    expect(digestOf(await copy.getBlob(digestOf(LARGE)))).toBe(digestOf(LARGE));
    expect(digestOf(await copy.getBlob(digestOf(SMALL)))).toBe(digestOf(SMALL));
    const lines = (id: string): Promise<readonly string[]> =>
      holdfast
        .conversation(id)
        .then(async (chat) => (await Array.fromAsync(chat.log())).map(({ payload }) => payload));
    expect(await lines("copy")).toEqual(await lines("pictures"));
  });

  test("a fork takes the images it inherited along", async () => {
    const { out } = await run(["export", "fork"]);
    expect((await run(["import", "-", "--id", "fork-copy"], out)).status).toBe(0);
    await using holdfast = await openHoldfast({ store });
    const copy = await holdfast.conversation("fork-copy");
    expect(digestOf(await copy.getBlob(digestOf(SMALL)))).toBe(digestOf(SMALL));
  });

  test("an altered or cut-off image stops the import, and --salvage leaves it out and says so", async () => {
    const whole = readFileSync(file, "utf8").split("\n");
    const at = whole.findIndex((line) => line.includes('"type":"blob"'));
    const altered = whole.with(at, (whole[at] ?? "").replace(/"data":"..../, '"data":"AAAA'));
    const cut = whole.toSpliced(at + 1, 1);
    for (const lines of [altered, cut]) {
      const path = join(stores.dir, "bad.jsonl");
      writeFileSync(path, lines.join("\n"));
      expect((await run(["import", path, "--id", "bad"])).status).toBe(6);
      const dry = await run(["import", path, "--id", "bad", "--dry-run", "--salvage", "--json"]);
      expect(jsonLines(dry.out)[0]).toMatchObject({ entries: 4, blobs: 1, missing: [digestOf(LARGE)] });
    }
  });

  test("a file from before images were exported is imported, and the missing ones are reported by it and the doctor", async () => {
    const entries = withOldEnd(readFileSync(file, "utf8"))
      .split("\n")
      .filter((line) => !line.includes('"type":"blob"'));
    const read = await run(["import", "-", "--id", "bare", "--json"], entries.join("\n"));
    expect(jsonLines(read.out)[0]).toMatchObject({ blobs: 0, missing: [digestOf(LARGE), digestOf(SMALL)] });
    const { out } = await run(["doctor", "--json"]);
    const { issues } = jsonLines(out)[0] as { issues: readonly { conversation: string; kind: string }[] };
    expect(
      issues.filter(({ kind }) => kind === "missing_blob").map(({ conversation }) => conversation),
    ).toEqual(["bare", "bare"]);
  });

  test("an export that cannot find an image is made without it and names it", async () => {
    await run(["new", "--id", "lost"]);
    const content = [image(LOST)];
    await run(["append", "lost"], JSON.stringify({ type: "message", message: { role: "user", content } }));
    const { status, err } = await run(["export", "lost"]);
    expect([status, err.includes(LOST)]).toEqual([0, true]);
  });

  test("an import that was cut off before its images goes on when it is run again", async () => {
    await using holdfast = await openHoldfast({ store });
    const space = spaceOf(holdfast);
    const stop = new Error("cut off");
    const { importBundle } = await import("#transfer/bundles/import-bundle");
    const source = {
      name: file,
      chunks: async function* () {
        yield readFileSync(file);
      },
    };
    const failing = Object.assign(Object.create(space) as typeof space, {
      putBlob: () => Promise.reject(stop),
    });
    const bound = new Holdfast({ ...holdfast.store, space: () => failing }, "default");
    await expect(importBundle(bound, source, { id: "twice" })).rejects.toBe(stop);
    await holdfast.close();
    expect(jsonLines((await run(["import", file, "--id", "twice", "--json"])).out)[0]).toMatchObject({
      blobs: 2,
    });
    await using again = await openHoldfast({ store });
    expect((await (await again.conversation("twice")).head()).headSeq).toBe(4);
    expect((await (await again.conversation("twice")).getBlob(digestOf(SMALL))).length).toBe(SMALL.length);
  });
});
