/** The contract's large cases at sizes that not every run of the contract has time for. */
import { describe, test } from "vitest";
import { largeCases } from "#store/contract/large-cases";
import { subjects } from "../support/subjects.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const cases = largeCases(SOAK ? { conversations: 20_000, forks: 5_000 } : { conversations: 500, forks: 500 });

describe.each(subjects)("the $name store", (subject) => {
  test.each(cases)("$name", async (promise) => {
    using data = subject.make();
    await promise.run(data);
  });
});
