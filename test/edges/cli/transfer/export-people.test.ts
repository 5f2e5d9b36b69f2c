import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const [sqlite = ""] = stores.addresses;
const KEY = `ghp_${"a1".repeat(18)}`;

beforeAll(async () => {
  await holdfastHere(sqlite, ["new", "--id", "chat", "--title", "Deploying"]);
  await holdfastHere(sqlite, ["append", "chat"], { input: said("user", `push with ${KEY}\u001B[2J`) });
});

test("a page for people has no secrets, and what was taken out stands on standard error", async () => {
  for (const format of ["html", "markdown", "json"]) {
    const { status, out, err } = await holdfastHere(sqlite, ["export", "chat", "--format", format]);
    expect([status, out.includes("[redacted: access token]")]).toEqual([0, true]);
    expect(out + err).not.toContain(KEY);
    expect(err).toContain("taken out: access token ghp_… (40 characters) in chat@");
    const whole = await holdfastHere(sqlite, ["export", "chat", "--format", format, "--no-redact"]);
    expect([whole.out.includes(KEY), whole.err]).toEqual([true, ""]);
  }
  const json = await holdfastHere(sqlite, ["export", "chat", "--format", "json", "--json"]);
  expect(jsonLines(json.err)).toMatchObject([{ schemaVersion: 1, redactions: [{ kind: "access token" }] }]);
});

test("the review of a file is part of the answer for programs", async () => {
  const file = join(stores.dir, "chat.md");
  const args = ["export", "chat", "--format", "markdown", "-o", file, "--json"];
  const { out, err } = await holdfastHere(sqlite, args);
  expect(err).toBe("");
  expect(jsonLines(out)).toMatchObject([
    { conversation: "chat", file, redacted: true, redactions: [{ where: "message.content[0].text" }] },
  ]);
  expect(readFileSync(file, "utf8")).toMatch(/^# Deploying\n/);
  expect((await holdfastHere(sqlite, args)).status).toBe(2);
});

test("a redacted bundle is imported to be read, and cannot be gone on with", async () => {
  const file = join(stores.dir, "redacted.jsonl");
  const made = await holdfastHere(sqlite, ["export", "chat", "--redact", "-o", file, "--json"]);
  expect(jsonLines(made.out)).toMatchObject([{ redactions: [{ kind: "access token" }], unread: [] }]);
  expect(readFileSync(file, "utf8")).not.toContain(KEY);
  const other = `sqlite:${join(stores.dir, "other.db")}`;
  expect((await holdfastHere(other, ["import", file])).status).toBe(0);
  expect((await holdfastHere(other, ["show", "chat"])).out).toContain("[redacted: access token]");
  await holdfastHere(other, ["new", "--id", "plain"]);
  const goOn = async (id: string): Promise<number | null> =>
    (await holdfastHere(other, ["chat", id, "-p", "go on", "--model", "sim/echo"])).status;
  expect([await goOn("plain"), await goOn("chat")]).toEqual([0, 2]);
  expect((await holdfastHere(other, ["show", "chat"])).out).not.toContain("go on");
});

test("what makes no sense is refused, and nothing is written", async () => {
  const file = join(stores.dir, "none.md");
  for (const args of [
    ["--format", "pdf"],
    ["--format", "html", "--without", "words"],
    ["--without", "tools"],
    ["--redact", "--no-redact"],
    ["--format", "markdown", "--with-forks"],
    ["chat", "--format", "json"],
  ])
    expect((await holdfastHere(sqlite, ["export", "chat", ...args, "-o", file])).status, args.join(" ")).toBe(
      2,
    );
  expect(existsSync(file)).toBe(false);
});
