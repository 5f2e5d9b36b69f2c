/** Goal: memory means the same on every store, for two processes at once, and what is erased is gone. */
import { afterEach, describe, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import type { Store } from "#store/store";
import { subjects } from "../../support/subjects.ts";
import { memoryCases } from "./memory-cases.ts";

const opened: Store[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((store) => store.close()));
});

describe.each(subjects)("over $name", (named) => {
  test.each(memoryCases)("$name", async (promise) => {
    using subject = named.make();
    const open = async (): Promise<Holdfast> => {
      const store = await subject.open(Date.now);
      opened.push(store);
      return new Holdfast(store, "default");
    };
    const [holdfast, elsewhere] = [await open(), await open()];
    await promise.run({ memory: new Memory(holdfast), other: new Memory(elsewhere), holdfast });
    await Promise.all(opened.splice(0).map((store) => store.close()));
  });
});
