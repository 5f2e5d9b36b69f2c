/** The contract's large cases at the sizes of the soak lane; `npm test` runs them at 500, with the rest of the contract. */
import { describe, test } from "vitest";
import { largeCases } from "#store/contract/index";
import { subjects } from "../support/subjects.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const cases = SOAK ? largeCases({ conversations: 20_000, forks: 5_000 }) : [];

describe.each(subjects)("the $name store", (subject) => {
  test.each(cases)("$name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });

  test.runIf(!SOAK)("has its large cases in the contract, and larger ones in the soak lane", () => undefined);
});
