/** The audit log at the command line: what is done there is in it, and it prints the lines of a space. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { LogError } from "#log/errors";
import { audited } from "#edges/http/access/audit-log";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { inMemoryStore } from "#stores/in-memory/index";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines } from "../cli-run.ts";

test.each(["sqlite", "jsonl"])(
  "erase, prune and changes of tokens are recorded in their space: %s",
  async (kind) => {
    using folder = tempDir();
    const store = `${kind}:${join(folder.path, "store")}`;
    const run = async (...args: readonly string[]): Promise<number | null> =>
      (await holdfastHere(store, args)).status;
    const audit = async (...args: readonly string[]): Promise<readonly unknown[]> =>
      jsonLines((await holdfastHere(store, [...args, "audit", "--json"])).out).map((line) => {
        const { token, operation, conversation, target, outcome } = line as Record<string, unknown>;
        return [token, operation, conversation ?? target, outcome];
      });
    for (const id of ["first", "second"]) expect(await run("new", "--id", id)).toBe(0);
    expect(await run("erase", "first")).toBe(2);
    expect(await audit()).toEqual([]);
    expect(await run("erase", "first", "--yes")).toBe(0);
    expect(await run("prune", "--older-than", "0d", "--yes")).toBe(0);
    expect(await run("--space", "customer", "token", "add", "laptop")).toBe(0);
    expect(await run("--space", "customer", "token", "rm", "laptop")).toBe(0);
    expect(await audit()).toEqual([
      ["local", "erase", "first", "intent"],
      ["local", "erase", "first", "done"],
      ["local", "prune", "second", "intent"],
      ["local", "prune", "second", "done"],
    ]);
    expect(await audit("--space", "customer")).toEqual([
      ["local", "addToken", "laptop", "intent"],
      ["local", "addToken", "laptop", "done"],
      ["local", "removeToken", "laptop", "intent"],
      ["local", "removeToken", "laptop", "done"],
    ]);
    expect((await holdfastHere(store, ["audit", "--month", "2001-01"])).out).toBe("");
    expect(await run("audit", "--month", "yesterday")).toBe(2);
    expect((await holdfastHere(store, ["audit"])).out).toContain("first");
  },
);

test("an act whose intent cannot be stored is not done, unless it may be what makes room or removes the damage", async () => {
  const inner = inMemoryStore();
  let code: "store_gone" | "disk_full" | "damaged" = "store_gone";
  const append = async (): Promise<never> => Promise.reject(new LogError(code, "No line is accepted"));
  const holdfast = new Holdfast(
    {
      ...inner,
      space: (id) => {
        const own = inner.space(id);
        return id === "holdfast.server" ? { ...own, append } : own;
      },
    },
    "default",
  );
  const erased: string[] = [];
  const erase = (): Promise<number> =>
    audited(holdfast, { space: "default", operation: "erase" }, async () => erased.push(code));
  await expect(erase()).rejects.toMatchObject({ code: "store_gone" });
  for (code of ["disk_full", "damaged"] as const) await erase();
  expect(erased).toEqual(["disk_full", "damaged"]);
});

test("the audit log of a store is printed without changing the store", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  await (await openHoldfast({ store })).close();
  expect((await holdfastHere(store, ["audit"])).status).toBe(0);
});
