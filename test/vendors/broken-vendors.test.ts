/** The contract of vendors is worth what it finds: readers with the mistakes that are easily made do not keep to it. */
import { readFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { textIn } from "#log/json/json-fields";
import type { NativeStore } from "#vendors/native-store";
import { PLAIN_DIALECT, type Vendor, type VendorRecords } from "#vendors/vendor";
import { recordsContract, vendorContract } from "#testing/index";
import { EXAMPLE_GOLDEN, EXAMPLE_VENDOR } from "./example-vendor.ts";
import { aHome } from "./homes.ts";

const WHOLE = EXAMPLE_VENDOR.records as VendorRecords;
const pathOf = (folder: string, id: string): string => join(folder, "notebooks", `${id}.jsonl`);

async function brokenCases(
  change: (store: NativeStore, folder: string) => NativeStore,
): Promise<readonly string[]> {
  const records = { ...WHOLE, open: (folder: string) => change(WHOLE.open(folder), folder) };
  const broken: string[] = [];
  for (const promise of recordsContract) {
    using home = aHome();
    await promise
      .run({ records, golden: EXAMPLE_GOLDEN, folder: home.dir })
      .catch(() => broken.push(promise.name));
  }
  return broken;
}

const BY_PATH = "finds, moves and removes nothing by an id that is a path, wherever it leads";
const TORN = "passes over a last line that is not whole";
const GARBAGE = "passes over files that hold no session, and folders that are named like one";

test("a reader that keeps to it breaks nothing", async () => {
  expect(await brokenCases((store) => store)).toEqual([]);
});

test("a reader whose id is followed out of its folder is found", async () => {
  const follows = await brokenCases((store, folder) => ({
    ...store,
    read: async (id) => {
      const text = await readFile(pathOf(folder, id), "utf8").catch(() => null);
      return text === null ? null : store.read(basename(id));
    },
  }));
  expect(follows).toContain(BY_PATH);
});

test("a remover that deletes by a path is found", async () => {
  const removes = await brokenCases((store, folder) => ({
    ...store,
    remove: (id) => rm(pathOf(folder, id.replaceAll("\0", "")), { force: true }),
  }));
  expect(removes).toContain(BY_PATH);
});

test("a reader that fails at a torn line is found, and so is a list that does", async () => {
  const parseAll = async (folder: string): Promise<void> => {
    const text = await readFile(pathOf(folder, EXAMPLE_GOLDEN.id), "utf8").catch(() => "");
    for (const line of text.split("\n").filter(Boolean)) JSON.parse(line);
  };
  const reading = await brokenCases((store, folder) => ({
    ...store,
    read: async (id) => {
      await parseAll(folder);
      return store.read(id);
    },
  }));
  const listing = await brokenCases((store, folder) => ({
    ...store,
    list: async () => {
      await parseAll(folder);
      return store.list();
    },
  }));
  expect([reading, listing]).toEqual([[TORN], [TORN]]);
});

test("a list that shows what is no session is found", async () => {
  const shows = await brokenCases((store) => ({
    ...store,
    list: async () => [
      ...(await store.list()),
      ...((await store.stamp("renb")) === null
        ? []
        : [{ id: "renb", cwd: null, title: null, updatedAt: new Date(0).toISOString() }]),
    ],
  }));
  expect(shows).toEqual([GARBAGE]);
});

test("a dialect that fails at what it does not expect is found", () => {
  const withToolName = (toolName: Vendor["dialect"]["toolName"]): Vendor => ({
    ...EXAMPLE_VENDOR,
    dialect: { ...PLAIN_DIALECT, toolName },
  });
  const broken = (vendor: Vendor): readonly string[] =>
    vendorContract
      .filter((promise) => {
        try {
          promise.run(vendor);
          return false;
        } catch {
          return true;
        }
      })
      .map(({ name }) => name);
  const careful = withToolName((meta) => textIn(meta["kind"])?.trim() ?? null);
  const trusting = withToolName((meta) => (meta["kind"] as string | undefined)?.trim() ?? null);
  expect(broken(careful)).toEqual([]);
  expect(broken(trusting)).toEqual(["reads whatever an agent says without failing"]);
});
