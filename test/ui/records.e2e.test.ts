/** What a conversation is made of: its log, chain, context, effects and issues. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { user } from "#log/say";
import { openHoldfast } from "#open";
import { sampleEntries } from "../../ui/src/pages/history/empty/sample.ts";
import { expectAccessible, openUi, picture, type Ui } from "../support/browser.ts";
import { tempDir } from "../support/temp-dir.ts";

const folder = tempDir();
const LONG = 1_000;
const HOSTILE = "<img src=x onerror=alert(1)> \u202Egnp.exe ";
let ui: Ui;

async function fill(store: string): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  const sample = await holdfast.create({ id: "sample", title: "Plan the party" });
  await sample.append(sampleEntries(Date.parse("2026-03-02T12:00:00Z")));
  const long = await holdfast.create({ id: "long", title: `طويل ${"長い題名 ".repeat(30)}` });
  const entries = Array.from({ length: LONG }, (_, at): EntryBody => ({
    ...user(`${HOSTILE}${at} ${"x".repeat(at % 50)}`),
    id: `e${at}`,
  }));
  await long.append(entries);
  const torn = await holdfast.create({ id: "torn", title: "Damaged" });
  for (const words of ["one", "two", "spoilt", "four"]) await torn.append([user(words)]);
}

/** One byte in the middle is no text any more. */
function spoil(path: string): void {
  for (const name of readdirSync(path, { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".jsonl")) continue;
    const bytes = readFileSync(join(path, name));
    const at = bytes.indexOf("spoilt");
    if (at === -1) continue;
    bytes[at] = 0xff;
    writeFileSync(join(path, name), bytes);
  }
}

beforeAll(async () => {
  const store = `jsonl:${folder.path}`;
  await fill(store);
  spoil(folder.path);
  ui = await openUi({ holdfast: await openHoldfast({ store }) });
});
afterEach(() => ui.closePages());
afterAll(async () => {
  await ui[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The page in both themes and at a phone's width: nothing that axe finds, nothing that hangs over, and a picture of each. */
async function look(path: string, name: string, ready: (page: Page) => Promise<void>): Promise<void> {
  for (const theme of ["light", "dark"] as const) {
    const page = await ui.open({ theme, path });
    await ready(page);
    await expectAccessible(page, theme === "light" ? "all" : "colours");
    await picture(page, `${name}-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, path });
  await ready(phone);
  expect(await phone.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(phone, `${name}-phone`);
}

test("the log lists every record; one is opened by a press or by keys, and is in the address", async () => {
  await look("/c/sample/log?seq=7", "log", async (page) => {
    await page.locator(".rec-open pre", { hasText: "I will write to the baker." }).waitFor();
  });
  const page = await ui.open({ path: "/c/sample/log" });
  await page.locator(".rec-line").first().waitFor();
  const { headSeq } = await (await ui.holdfast.conversation("sample")).head();
  await page.getByText(`${headSeq} records`).waitFor();
  for (const _ of [1, 2, 3]) await page.keyboard.press("j");
  await page.waitForURL("**/log?seq=3");
  await page.locator(".rec-open pre", { hasText: "The guest of honour" }).waitFor();
  await page.getByRole("button", { name: "Copy JSON" }).click();
  const copied = JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()")) as object;
  expect(copied).toMatchObject({ seq: 3, id: "u1", type: "message" });
  await page.keyboard.press("Escape");
  await page.waitForURL("**/log");
  await page.getByLabel("Type").selectOption("compaction");
  await page.waitForURL("**/log?type=compaction");
  await page.getByText(/^1 record of/).waitFor();
  expect(await page.locator(".rec-line").count()).toBe(1);
});

test("a long log has few rows on the page, its end is one key away, and it grows as it is written", async () => {
  const page = await ui.open({ path: "/c/long/log" });
  await page.locator(".rec-line").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.locator(".rec-id", { hasText: `e${LONG - 1}` }).waitFor();
  expect(await page.locator(".rec").count()).toBeLessThan(120);
  const long = await ui.holdfast.conversation("long");
  await long.append([{ ...user("And one more"), id: "more" }]);
  await page.getByText(`${(LONG + 3).toLocaleString("en-US")} records`).waitFor();
  await page.goto(`${ui.url}/c/long/log?seq=500`);
  const raw = page.locator(".rec-open pre");
  await raw.waitFor();
  expect(await raw.textContent()).toContain("<img src=x onerror=alert(1)> ‹U+202E›gnp.exe");
});

test("of a damaged log all that can be read is shown, and where it breaks off", async () => {
  const page = await ui.open({ path: "/c/torn/log", expected: /500/ });
  await page.locator(".log-damage", { hasText: "is damaged at byte" }).waitFor();
  expect(await page.locator(".rec-line").count()).toBe(4);
  await expectAccessible(page);
  await picture(page, "log-damaged");
});

test("the chain says of each upstream session why it began, what it was told, what it carried and how it ended", async () => {
  await look("/c/sample/chain", "chain", async (page) => {
    await page.locator(".link-row").nth(3).waitFor();
  });
  const page = await ui.open({ path: "/c/sample/chain" });
  const rows = page.locator(".link-row");
  await rows.nth(3).waitFor();
  const texts = await rows.allInnerTexts();
  expect(texts).toHaveLength(4);
  expect(texts[2]).toContain("Ended: “Session expired: sim-session-000009”");
  for (const words of ["expired", "the summary", "4 messages word for word", "7 messages in outline only"])
    expect(texts[3]).toContain(words);
  expect(texts[1]).toMatch(/\d messages/);
  await rows
    .nth(1)
    .getByRole("link", { name: /^entries/ })
    .click();
  await page.waitForURL("**/log?seq=*");
  await page.locator(".rec-open pre").waitFor();
});
