import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openHoldfast } from "#open";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { importBundle } from "#transfer/bundles/import-bundle";
import { expectAccessible, openUi, picture, type Ui } from "../support/browser.ts";
import { fileOfText } from "../support/bundle-text.ts";
import { hostileBundles, wholeFamily } from "../support/hostile-bundles.ts";
import { tempDir } from "../support/temp-dir.ts";

const KEY = `ghp_${"a1".repeat(18)}`;
const REFUSED = /Failed to load resource/; // a browser says so of every answer that is no success
const set = tempDir();
let ui: Ui;
let bundle = "";

beforeAll(async () => {
  ui = await openUi({ limits: { importBytes: 60_000_000 } });
  await using other = await openHoldfast({ store: "memory:" });
  await wholeFamily(other);
  const titled = await other.create({ id: "titled", title: "<img src=x onerror=alert(1)> Plan" });
  await titled.append([user("Hello"), assistant("Hi")]);
  const chunks = await Array.fromAsync(exportBundle(other, ["root", "fork", "titled"]));
  bundle = Buffer.concat(chunks).toString();
  const leaky = await ui.holdfast.create({ id: "leaky", title: `Deploy ${KEY}` });
  const { lastId } = await leaky.append([
    user(`push with ${KEY} <script>alert(1)</script>`),
    {
      type: "message",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "a thought" },
          { type: "text", text: "Pushed, told ada@example.com" },
        ],
      },
    },
  ]);
  await leaky.append([user("and then?")]);
  await leaky.append([{ ...user("or rather?"), parentId: lastId }]);
});
afterEach(() => ui.closePages());
afterAll(async () => {
  await ui[Symbol.asyncDispose]();
  set[Symbol.dispose]();
});

/** A file on disk, for whoever drops or chooses it. */
function fileCalled(name: string, content: string | Uint8Array): string {
  mkdirSync(set.path, { recursive: true });
  const path = join(set.path, name);
  writeFileSync(path, content);
  return path;
}

async function choose(page: Page, ...paths: readonly string[]): Promise<void> {
  await page.getByLabel("Files to import").setInputFiles([...paths]);
}

/** As a person drops a file on a page. */
async function drop(page: Page, name: string, text: string): Promise<void> {
  const data = await page.evaluateHandle(`(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File([${JSON.stringify(text)}], ${JSON.stringify(name)}));
    return transfer;
  })()`);
  // A browser sends it every 50 ms while a file is held over a page.
  const over = async (): Promise<number> => {
    await page.dispatchEvent("body", "dragover", { dataTransfer: data });
    return page.getByTestId("drop-here").count();
  };
  await expect.poll(over).toBe(1);
  await page.dispatchEvent("body", "drop", { dataTransfer: data });
}

const item = (page: Page, name: string): ReturnType<Page["locator"]> =>
  page.getByRole("region", { name, exact: true });

test("a bundle that is dropped on the history is shown before it is imported; what has its id here is never touched", async () => {
  await (await ui.holdfast.create({ id: "fork", title: "Mine" })).append([user("mine alone")]);
  const page = await ui.open({ expected: REFUSED });
  await page.locator(".list-row.item").first().waitFor();
  await drop(page, "family.jsonl", bundle);
  await page.waitForURL("**/import");
  const family = item(page, "family.jsonl");
  await family.getByText("Bundle, version").waitFor();
  await expect.poll(() => family.locator("tbody tr").count()).toBe(3);
  await expect.poll(() => family.locator(".tag").allTextContents()).toEqual(["new", "new", "new"]);
  await family.getByText("Import with new ids").waitFor();
  await family.getByRole("checkbox").uncheck();
  await expect.poll(() => family.locator(".tag").allTextContents()).toEqual(["new", "conflict", "new"]);
  await expect.poll(() => page.getByRole("button", { name: /^Import \d/ }).count()).toBe(0);
  expect(await ui.holdfast.listPage({}).then(({ conversations }) => conversations.length)).toBe(2);
  await expectAccessible(page);
  await picture(page, "import-conflict");
  await family.getByRole("checkbox").check();
  await page.getByRole("button", { name: "Import 3 conversations" }).click();
  await page.getByTestId("imported").waitFor();
  await picture(page, "import-done");
  await family.getByRole("link", { name: "<img src=x onerror=alert(1)> Plan" }).click();
  await page.getByText("Hello").first().waitFor();
  const mine = await (await ui.holdfast.conversation("fork")).context();
  expect(JSON.stringify(mine.messages)).toContain("mine alone");
  await (await ui.holdfast.conversation("fork")).erase();
});

test("under its own ids it is imported once, and the second time it is here already", async () => {
  const page = await ui.open({ path: "/import", expected: REFUSED });
  const path = fileCalled("again.jsonl", bundle);
  await choose(page, path);
  await page.getByRole("button", { name: "Import 3 conversations" }).click();
  await page.getByTestId("imported").waitFor();
  await choose(page, path);
  const second = item(page, "again.jsonl").nth(1);
  await expect.poll(() => second.locator(".tag").allTextContents()).toEqual(["same", "same", "same"]);
  await expect.poll(() => page.getByRole("button", { name: /^Import \d/ }).count()).toBe(0);
  expect((await (await ui.holdfast.conversation("root")).head()).title).toBe("Root");
});

test("every hostile, torn, packed or strange file has one clear error of its own, and nothing is lost or written", async () => {
  const before = await Array.fromAsync(ui.holdfast.listAll(), ({ conversation }) => conversation);
  const all = hostileBundles(bundle);
  const named = (name: string): string | Uint8Array =>
    all.find((one) => one.name === name)?.text ?? expect.fail(name);
  const strange: Readonly<Record<string, readonly [string | Uint8Array, string]>> = {
    "half.jsonl": [bundle.slice(0, bundle.length / 2), "damaged"],
    "path.jsonl": [named("a conversation in a bundle called by a path"), "invalid id"],
    "passwd.jsonl": [named('a conversation called "../../etc/passwd"'), "invalid id"],
    "deep.jsonl": [named("a payload nested too deep"), "damaged"],
    "picture.png": [Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0, 1]), "This file is not text."],
    "bomb.gz": [gzipSync(Buffer.alloc(20_000_000)), "This file is compressed."],
    "bomb.zip": [Buffer.from("PK\u0003\u0004rest"), "This file is compressed."],
    "empty.jsonl": ["", "This file is empty."],
    "claude.jsonl": [
      '{"type":"user","sessionId":"s","uuid":"u","parentUuid":null}\n',
      "Claude Code session file",
    ],
    "<b>odd</b>.txt": ["hello\n", "neither a bundle nor a session log"],
    "line.jsonl": ["x".repeat(40_000_000), "neither a bundle nor a session log"],
    "huge.jsonl": [Buffer.alloc(60_000_001, "a"), "takes files of up to 60.0 MB"],
  };
  const page = await ui.open({ path: "/import", expected: REFUSED });
  const paths = Object.entries(strange).map(([name, [content]]) =>
    fileCalled(name.replaceAll("/", "_"), content),
  );
  await choose(page, ...paths);
  for (const [name, [, words]] of Object.entries(strange)) {
    const one = item(page, name.replaceAll("/", "_"));
    await one.getByRole("alert").waitFor();
    await expect.poll(() => one.getByRole("alert").count()).toBe(1);
    await expect.poll(() => one.getByRole("alert").textContent()).toContain(words);
    await expect.poll(() => one.getByRole("alert").textContent()).not.toMatch(/--[a-z]/);
  }
  expect(await Array.fromAsync(ui.holdfast.listAll(), ({ conversation }) => conversation)).toEqual(before);
  await picture(page, "import-errors");
  const half = item(page, "half.jsonl");
  await half.getByRole("button", { name: "Show the readable part" }).click();
  await half.locator("tbody tr").first().waitFor();
  await half.getByRole("button", { name: /^Remove/ }).click();
  await expect.poll(() => half.count()).toBe(0);
});

test("each redaction is shown where it stands and can be kept; what was looked at is what is downloaded", async () => {
  const page = await ui.open({ path: "/export" });
  await page.getByRole("link", { name: /Deploy/ }).click();
  await page.waitForURL("**/export?conversation=leaky");
  const list = page.getByRole("list", { name: "Redactions" });
  await page.getByText("2 redactions").waitFor();
  await expect.poll(() => list.getByRole("listitem").count()).toBe(2);
  await expect.poll(() => list.textContent()).not.toContain(KEY);
  await list.getByText("push with").waitFor();
  await page.getByText("Best effort").waitFor();
  await expectAccessible(page);
  await picture(page, "export");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("leaky.html"); // the title has a key in it
  const text = readFileSync(await file.path(), "utf8");
  expect([text.includes(KEY), text.includes("&lt;script&gt;"), text.includes("<script")]).toEqual([
    false,
    true,
    false,
  ]);
  expect([text.includes("a thought"), text.includes("or rather?"), text.includes("and then?")]).toEqual([
    true,
    true,
    false,
  ]);
  await page.getByRole("checkbox", { name: "Thinking" }).uncheck();
  await page.getByRole("checkbox", { name: /email addresses/ }).check();
  await page.getByText("3 redactions").waitFor();
  await page.getByLabel("Branch").selectOption({ index: 1 });
  await page.getByRole("button", { name: /^Keep.*access token in entry .*text$/ }).click();
  await page.getByText("1 kept").waitFor();
  expect(page.url()).toContain("without=thinking");
  const [kept] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: "Download" }).click(),
  ]);
  const other = readFileSync(await kept.path(), "utf8");
  expect(other.split(KEY)).toHaveLength(2);
  expect([other.includes("a thought"), other.includes("ada@"), other.includes("and then?")]).toEqual([
    false,
    false,
    true,
  ]);
});

test("a redacted bundle is made when somebody says that it is to be read; a whole one goes to another store", async () => {
  const page = await ui.open({ path: "/export?conversation=leaky&format=bundle" });
  const button = page.getByRole("button", { name: "Download" });
  await page.getByTestId("not-ready").waitFor();
  expect(await button.isDisabled()).toBe(true);
  await picture(page, "export-bundle");
  const bytes = async (): Promise<string> => {
    const [file] = await Promise.all([page.waitForEvent("download"), button.click()]);
    expect(file.suggestedFilename()).toMatch(/\.holdfast\.jsonl$/);
    return readFileSync(await file.path(), "utf8");
  };
  await page.getByRole("checkbox", { name: /read-only/ }).check();
  await page.locator("button.primary:not([disabled])").waitFor();
  const redacted = await bytes();
  expect([redacted.includes(KEY), redacted.includes('"redacted":true')]).toEqual([false, true]);
  await page.getByRole("checkbox", { name: /^Remove/ }).uncheck();
  await page.getByTestId("secrets-kept").waitFor();
  await page.locator("button.primary:not([disabled])").waitFor();
  const whole = await bytes();
  await using other = await openHoldfast({ store: "memory:" });
  const { conversations } = await importBundle(other, fileOfText(whole));
  expect(conversations).toMatchObject([{ conversation: "leaky", state: "new", links: "kept" }]);
  const phone = await ui.open({ width: 390, height: 844, theme: "dark", path: "/export?conversation=leaky" });
  await phone.getByText("2 redactions").waitFor();
  await expectAccessible(phone);
  await picture(phone, "export-phone");
});
