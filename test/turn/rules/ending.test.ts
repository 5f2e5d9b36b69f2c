/** The one table from endings to actions. */
import { describe, expect, test } from "vitest";
import { ACTIONS, type AttemptFacts, nextStep } from "#turn/rules/ending";
import { sessionIsGone } from "#upstream/rules/proof";
import { ENDING_CLASSES } from "#log/ending-class";

describe("what follows an ending", () => {
  const fresh: AttemptFacts = {
    toolStarted: false,
    recovered: false,
    backoffs: 0,
    cancelConfirmed: true,
    promptPoisoned: false,
    failedBefore: false,
  };
  const all = ENDING_CLASSES.flatMap((ending) =>
    [false, true].flatMap((toolStarted) =>
      [false, true].flatMap((recovered) =>
        [0, 4].flatMap((backoffs) =>
          [false, true].map((failedBefore) => ({
            ending,
            facts: { ...fresh, toolStarted, recovered, backoffs, failedBefore },
          })),
        ),
      ),
    ),
  );

  test("every class has an action and every case a step", () => {
    expect(Object.keys(ACTIONS).toSorted()).toEqual([...ENDING_CLASSES].toSorted());
    for (const { ending, facts } of all) expect(nextStep(ending, facts).do).toBeTypeOf("string");
  });

  test("nothing is sent again once a tool may have started", () => {
    const again = all
      .filter(({ facts }) => facts.toolStarted)
      .filter(({ ending, facts }) =>
        ["roll", "restart", "back_off", "ask_auth"].includes(nextStep(ending, facts).do),
      );
    expect(again).toEqual([]);
  });

  test("a short limit is waited for, as often as an overload, and nothing else that is parked", () => {
    const short = { ...fresh, limitIsShort: true };
    expect(nextStep("limit", short)).toEqual(nextStep("overloaded", short));
    for (const facts of [
      { ...short, backoffs: 4 },
      { ...short, toolStarted: true },
    ])
      expect(nextStep("limit", facts)).toEqual({ do: "park" });
    expect(nextStep("credit", short)).toEqual({ do: "park" });
  });

  test("nothing is recovered twice", () => {
    const again = all
      .filter(({ facts }) => facts.recovered)
      .filter(({ ending, facts }) => ["roll", "restart"].includes(nextStep(ending, facts).do));
    expect(again).toEqual([]);
  });

  test("the table of a first attempt without tools", () => {
    const steps = Object.fromEntries(ENDING_CLASSES.map((ending) => [ending, nextStep(ending, fresh).do]));
    expect(steps).toEqual({
      completed: "finish",
      empty: "roll",
      limit: "park",
      credit: "park",
      overloaded: "back_off",
      auth: "ask_auth",
      expired: "roll",
      lost: "roll",
      crashed: "restart",
      too_long: "roll",
      poisoned: "roll",
      stale_replay: "roll",
      turn_limit: "finish",
      cancelled: "finish",
      failed: "finish",
    });
  });

  test("too long is never the same request again, and a cancel that was not confirmed costs the session", () => {
    expect(nextStep("too_long", { ...fresh, recovered: true })).toMatchObject({ upstream: "drop" });
    expect(nextStep("poisoned", { ...fresh, promptPoisoned: true })).toMatchObject({ upstream: "drop" });
    expect(nextStep("cancelled", fresh)).toMatchObject({ upstream: "keep" });
    expect(nextStep("cancelled", { ...fresh, cancelConfirmed: false })).toMatchObject({ upstream: "drop" });
    expect(nextStep("empty", { ...fresh, recovered: true })).toEqual({
      do: "finish",
      outcome: "completed",
      upstream: "unproven",
    });
  });

  test("an unknown error is the prompt's once, and the session's the second time", () => {
    const again = { ...fresh, failedBefore: true };
    expect(nextStep("failed", fresh)).toMatchObject({ upstream: "unproven" });
    expect(nextStep("failed", again)).toEqual({ do: "roll" });
    for (const spent of [{ toolStarted: true }, { recovered: true }])
      expect(nextStep("failed", { ...again, ...spent })).toMatchObject({ do: "finish", upstream: "drop" });
  });

  test("back-off doubles and ends", () => {
    const delays = [0, 1, 2, 3, 4].map((backoffs) => nextStep("overloaded", { ...fresh, backoffs }));
    expect(delays.map((step) => (step.do === "back_off" ? step.delayMs : step.do))).toEqual([
      1_000,
      2_000,
      4_000,
      8_000,
      "finish",
    ]);
  });

  test("a failed resume speaks for the session only when it says that it is gone", () => {
    const gone = ENDING_CLASSES.filter((ending) => sessionIsGone(ending, false));
    expect(gone).toEqual([
      "completed",
      "empty",
      "expired",
      "lost",
      "too_long",
      "poisoned",
      "stale_replay",
      "failed",
    ]);
    expect(sessionIsGone("crashed", true)).toBe(true);
  });
});
