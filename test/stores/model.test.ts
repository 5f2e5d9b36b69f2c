/**
 * Goal: every store behaves like a plain array with a guarded push, whatever the order of acts.
 * Method: fast-check makes up a history of appends, branches, navigation, hiding, retries, forks and reopenings;
 * a model of a few lines says what must come out, and all views of all conversations are compared at the end.
 */
import { describe, test } from "vitest";
import { agreesWithModel } from "../support/store-model.ts";
import { subjects } from "../support/subjects.ts";

describe.each(subjects)("the $name store", (subject) => {
  test("agrees with the model after any history", async () => {
    await agreesWithModel(Number(process.env["HOLDFAST_MODEL_RUNS"] ?? 60), async (work) => {
      using data = subject.make();
      await work(data);
    });
  });
});
