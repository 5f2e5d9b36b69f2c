/** The contract's large cases at the sizes of the soak lane; `npm test` runs them at 500, with the rest of the contract. */
import { describe, test } from "vitest";
import { largeCases } from "../../src/store/contract/index.ts";
import { subjects } from "../support/subjects.ts";

const SIZES = process.env["HOLDFAST_SOAK"] === undefined ? [] : [5_000, 20_000];

describe.each(subjects)("the $name store", (subject) => {
  test.each(SIZES.flatMap((size) => largeCases(size)))("$name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });

  test.runIf(SIZES.length === 0)(
    "has its large cases in the contract, and larger ones in the soak lane",
    () => undefined,
  );
});
