import { AssertionError } from "node:assert";
import { describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/index";
import { conv, Rig, user } from "#store/contract/rig";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { jsonlOnPower, sqliteOnPower } from "../support/power.ts";
import { subjects } from "../support/subjects.ts";

const anywhere = storeContract.filter((promise) => promise.needsPowerCut !== true);
const onPower = storeContract.filter((promise) => promise.needsPowerCut === true);

describe.each(subjects)("the $name store", (subject) => {
  test.each(anywhere)("$group: $name", async (promise) => {
    // Thousands of synced files would cost a minute here and show nothing more: large.e2e.test.ts has a real disk.
    const inMemory = subject.name === "jsonl" && promise.group === "large";
    using data = inMemory ? jsonlOnPower() : subject.make();
    await promise.run(data);
  });
});

test.each(onPower)("$group: $name: counts as kept only where the power was cut", async (promise) => {
  const backing = inMemoryBacking();
  const run = promise.run({ open: async () => inMemoryStore({ backing }) });
  await expect(run).rejects.toThrow(AssertionError);
});

describe.each([
  { name: "jsonl", make: jsonlOnPower },
  { name: "sqlite", make: sqliteOnPower },
])("the $name store, when the power goes,", (subject) => {
  test.each(onPower)("$group: $name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });

  test("loses what was asked for as relaxed and may be: the cut is a real one", async () => {
    using data = subject.make();
    await using rig = new Rig(data);
    const space = await rig.space();
    await rig.create(space, "a", [user("kept", "m1")]);
    await rig.append(space, "a", [{ type: "update", data: "…" }]);
    await rig.cutPower();
    expect((await (await rig.space()).head(conv("a"))).headSeq).toBe(2);
  });
});
