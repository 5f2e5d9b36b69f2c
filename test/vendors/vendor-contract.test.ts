/** Every vendor keeps to one contract. One that is added to the list is tested by being there. */
import { describe, expect, test } from "vitest";
import { UNKNOWN_VENDOR, vendorOf, VENDORS } from "#vendors/known-vendors";
import type { Vendor } from "#vendors/vendor";
import { EXAMPLE_GOLDEN, EXAMPLE_VENDOR } from "./example-vendor.ts";
import { type GoldenRecord, recordsContract } from "#testing/vendors/records-cases";
import { vendorContract } from "#testing/vendors/vendor-cases";
import { GOLDEN } from "./golden.ts";
import { aHome } from "./homes.ts";

const GIVEN: readonly Vendor[] = [...VENDORS, UNKNOWN_VENDOR, EXAMPLE_VENDOR];
const FILES: readonly GoldenRecord[] = [...GOLDEN, EXAMPLE_GOLDEN];

describe.each(GIVEN)("$name", (vendor) => {
  test.each(vendorContract)("$name", (promise) => promise.run(vendor));
});

const KEPT = GIVEN.flatMap(({ name, records }) => (records === null ? [] : [{ name, records }]));

describe.each(KEPT)("the records of $name", ({ name, records }) => {
  test.each(recordsContract)("$name", async (promise) => {
    const golden = FILES.find(({ vendor }) => vendor === name);
    if (golden === undefined) throw new Error(`A file that ${name} itself wrote belongs into test/vendors`);
    using home = aHome();
    await promise.run({ records, golden, folder: home.dir });
  });

  test("are not taken for another's", () => {
    const [line = ""] = FILES.find(({ vendor }) => vendor === name)?.file[1].split("\n") ?? [];
    const taken = KEPT.filter((other) => other.records.isRecord(JSON.parse(line)));
    expect(taken.map((other) => other.name)).toEqual([name]);
  });
});

test("each is found by its name, and no two share one", () => {
  expect(VENDORS.map(({ name }) => vendorOf(name).name)).toEqual(VENDORS.map(({ name }) => name));
  expect(new Set(GIVEN.map(({ name }) => name)).size).toBe(GIVEN.length);
});
