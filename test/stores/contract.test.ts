import { describe, test } from "vitest";
import { storeContract } from "../../src/store/contract/index.ts";
import { subjects } from "../support/subjects.ts";

describe.each(subjects)("the $name store", (subject) => {
  test.each(storeContract)("$group: $name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });
});
