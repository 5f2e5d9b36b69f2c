import { describe } from "vitest";
import { subjects } from "../support/subjects.ts";
import { readerCases } from "./reader-cases.ts";

describe.each(subjects)("in the $name store", (subject) => {
  describe.each(readerCases)("%s", (_, cases) => cases(subject));
});
