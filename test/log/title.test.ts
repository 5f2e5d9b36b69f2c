import { expect, test } from "vitest";
import { forkTitle, promptTitle } from "#log/title";

test("a prompt names a conversation by its first line, cut where a list ends; an empty one names none", () => {
  expect(promptTitle("  Plan   the\tparty \nwith balloons")).toBe("Plan the party");
  expect(promptTitle(" \n ")).toBeNull();
  const long = promptTitle("word ".repeat(30)) ?? "";
  expect(long).toHaveLength(72);
  expect(long.endsWith("…")).toBe(true);
  expect(promptTitle(`${"a".repeat(70)}😀b`)).toBe(`${"a".repeat(70)}…`);
});

test("a fork is called by its source, with a mark that counts", () => {
  expect(forkTitle("Plan")).toBe("Plan (fork)");
  expect(forkTitle("Plan (fork)")).toBe("Plan (fork 2)");
  expect(forkTitle("Plan (fork 2)")).toBe("Plan (fork 3)");
  expect(forkTitle("x".repeat(80))).toBe(`${"x".repeat(64)}… (fork)`);
});
