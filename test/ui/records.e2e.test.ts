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
async function look(path: string, name: string, ready: (page: Page) => Promise<void>): Promise<Page> {
  const page = await ui.open({ path });
  await ready(page);
  await expectAccessible(page);
  await picture(page, `${name}-light`);
  await page.emulateMedia({ colorScheme: "dark" });
  await expectAccessible(page, "colours");
  await picture(page, `${name}-dark`);
  await page.setViewportSize({ width: 390, height: 844 });
  await ready(page);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(page, `${name}-phone`);
  await page.setViewportSize({ width: 1440, height: 900 });
  return page;
}

test("the log lists every record; one is opened by a press or by keys, and is in the address", async () => {
  const page = await look("/c/sample/log?seq=7", "log", async (opened) => {
    await opened.locator(".rec-open pre", { hasText: "I will write to the baker." }).waitFor();
  });
  await page.goto(`${ui.url}/c/sample/log`);
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
  const page = await look("/c/sample/chain", "chain", async (opened) => {
    await opened.locator(".link-row").nth(3).waitFor();
  });
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

test("the context shows what is sent at an entry, what was folded away, and each message word for word", async () => {
  const page = await look("/c/sample/context?at=a8", "context", async (opened) => {
    await opened.locator(".ctx-row.folded").waitFor();
  });
  await page.goto(`${ui.url}/c/sample/context`);
  await page.locator(".ctx-row .bar.unk").waitFor();
  const { messages } = await (await ui.holdfast.conversation("sample")).context();
  expect(await page.locator(".ctx-row .kind[aria-pressed]").count()).toBe(messages.length);
  await page.getByRole("button", { name: "Copy JSON" }).first().click();
  const copied = JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()")) as {
    readonly messages: readonly { readonly content: unknown }[];
  };
  expect(copied.messages.map(({ content }) => content)).toEqual(messages.map(({ content }) => content));
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForURL("**/context?message=1");
  await page.locator(".exact", { hasText: "Message 2" }).waitFor();
  await page.getByRole("button", { name: "Earlier" }).click();
  await page.waitForURL("**/context?at=u6");
  await page.getByRole("link", { name: "Context before" }).click();
  await page.waitForURL("**/context?at=a3");
  await page.locator(".ctx-row.folded").waitFor({ state: "detached" });
});

test("a long context has few rows on the page", async () => {
  const page = await ui.open({ path: "/c/long/context", width: 390, height: 844 });
  await page.locator(".ctx-row .bar").first().waitFor();
  expect(await page.locator(".ctx-row").count()).toBeLessThan(120);
  await page.locator(".ctx-row .kind").nth(2).click();
  await page.locator(".exact", { hasText: /of 100\d/ }).waitFor();
  await picture(page, "context-long-phone");
});

test("effects of unknown outcome come first, and lead to where they were called", async () => {
  const page = await look("/c/sample/effects?call=3", "effects", async (opened) => {
    await opened.locator(".fx-open").waitFor();
  });
  await page.goto(`${ui.url}/c/sample/effects`);
  const first = page.locator(".fx-line").first();
  await first.waitFor();
  expect(await first.innerText()).toContain("outcome unknown");
  await page.getByRole("button", { name: /^Done/ }).click();
  await page.waitForURL("**/effects?state=done");
  expect(await page.locator(".fx-line").count()).toBe(3);
  await page.goBack();
  await page.goto(`${ui.url}/c/sample/effects?call=3`);
  await page.getByRole("link", { name: "The intent in the log" }).click();
  await page.locator(".rec-open pre", { hasText: "tool_intent" }).waitFor();
});

test("issues are named in words, and each jumps to its entry; where there is none, that is said", async () => {
  const page = await look("/c/sample/issues", "issues", async (opened) => {
    await opened.locator("a.issue").first().waitFor();
  });
  await page.locator("a.issue", { hasText: "Call without a result" }).first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/c/sample?at=a7");
  await page.goto(`${ui.url}/c/long/issues`);
  await page.getByText("Nothing needs a look").waitFor();
});
