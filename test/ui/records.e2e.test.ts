/** What a conversation is made of: its log, chain, context, effects and issues. axe looks at all of them elsewhere. */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { user } from "#log/message";
import { openHoldfast } from "#open";
import { sampleEntries } from "../../ui/src/pages/history/empty/sample.ts";
import { openUi, picture, type Ui } from "../support/browser.ts";
import { tempDir } from "../support/temp-dir.ts";

const folder = tempDir();
const LONG = 1_000;
const HOSTILE = "<img src=x onerror=alert(1)> \u202Egnp.exe ";
// Numbers and escapes as no program of the browser's would write them.
const INPUT = String.raw`{"n":12345678901234567890,"f":1.0,"e":1E2,"s":"a\u0041\/\\n","n":7}`;
const CALL = `{"type":"message","id":"call","message":{"role":"assistant","content":[{"type":"toolCall","id":"c1","name":"count","input":${INPUT}}]}}`;
let ui: Ui;
let page: Page;

async function fill(store: string): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  const sample = await holdfast.create({ id: "sample", title: "Plan the party" });
  await sample.append(sampleEntries(Date.parse("2026-03-02T12:00:00Z")));
  await sample.fork({ id: "fork", at: "a3" });
  const source = await holdfast.create({ id: "source" });
  await source.append([user("Said before the fork")]);
  await source.fork({ id: "orphan" });
  await source.erase();
  const long = await holdfast.create({ id: "long", title: `طويل ${"長い題名 ".repeat(30)}` });
  const entries = Array.from({ length: LONG }, (_, at): EntryBody => ({
    ...user(`${HOSTILE}${at} ${"x".repeat(at % 50)}`),
    id: `e${at}`,
  }));
  await long.append(entries);
  const exact = await holdfast.create({ id: "exact" });
  await exact.append([user("Count"), CALL]);
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
  // What is damaged is refused, and the browser says so.
  page = await ui.open({ expected: /status of 500/ });
});
afterAll(async () => {
  await ui[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** Goes there as a link does. */
async function goTo(address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate")); scrollTo(0, 0);`,
  );
}

/** The page at a phone's width: nothing hangs over, and the tab that is open is in sight. */
async function lookNarrow(name: string, ready: () => Promise<void>): Promise<void> {
  await picture(page, `${name}-light`);
  await page.setViewportSize({ width: 390, height: 844 });
  await ready();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(page, `${name}-phone`);
  await page.setViewportSize({ width: 1440, height: 900 });
}

const copied = (): Promise<string> => page.evaluate<string>("navigator.clipboard.readText()");
/** What is copied next. */
async function copy(name: string | RegExp, within: string = "main"): Promise<string> {
  await page.evaluate('navigator.clipboard.writeText("")');
  await page.locator(within).getByRole("button", { name }).first().click();
  await expect.poll(copied).not.toBe("");
  return copied();
}

test("the log lists every record; one is opened by a press or by keys, and is in the address", async () => {
  await goTo("/c/sample/log?seq=7");
  const ready = (): Promise<void> =>
    page.locator(".rec-open pre", { hasText: "I will write to the baker." }).waitFor();
  await ready();
  await lookNarrow("log", ready);
  await goTo("/c/sample/log");
  const { headSeq } = await (await ui.holdfast.conversation("sample")).head();
  await page.getByText(`${headSeq} records`).waitFor();
  for (const _ of [1, 2, 3]) await page.keyboard.press("j");
  await page.waitForURL("**/log?seq=3");
  await page.locator(".rec-open pre", { hasText: "The guest of honour" }).waitFor();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/log");
  await page.getByRole("button", { name: "Verify hashes" }).press("Enter");
  await page.getByTestId("hashes-match").waitFor();
  await page.getByLabel("Type").selectOption("compaction");
  await page.waitForURL("**/log?type=compaction");
  await page.getByText(/^1 record of/).waitFor();
  await expect.poll(() => page.locator(".rec-line").count()).toBe(1);
});

test("an entry that was inherited is opened in the log that it lies in", async () => {
  await goTo("/c/fork/log?at=u1");
  await page.waitForURL("**/c/sample/log?seq=3");
  await page.locator(".rec-open pre", { hasText: '"id": "u1"' }).waitFor();
  const { leaf } = await (await ui.holdfast.conversation("fork")).head();
  await goTo(`/c/fork/log?at=${leaf.id === "a3" ? "u1" : leaf.id}`);
  await page.waitForURL(/seq=\d+$/);
});

test("what is copied is the text of the log to the letter, in the log, the context and the effects", async () => {
  const conversation = await ui.holdfast.conversation("exact");
  const { seq } = await conversation.entry("call");
  await goTo(`/c/exact/log?seq=${seq}`);
  await page.locator(".rec-open pre", { hasText: "12345678901234567890" }).waitFor();
  await expect
    .poll(() => page.locator(".rec-open pre").textContent())
    .toContain(String.raw`"s": "a\u0041\/\\n"`);
  expect(await copy(/^Copy JSON/, ".rec-open")).toContain(`"input":${INPUT}`);
  await goTo("/c/exact/context?message=1");
  await page.locator(".exact pre", { hasText: "12345678901234567890" }).waitFor();
  expect(await copy("Copy JSON", ".context-page > .block-head")).toContain(INPUT);
  expect(await copy(/of message 2/)).toContain(INPUT);
  await goTo("/c/exact/effects?call=0");
  await page.locator(".fx-open pre", { hasText: "12345678901234567890" }).waitFor();
  expect(await copy(/of the arguments/)).toBe(INPUT);
});

test("a long log has few rows on the page, its end is one key away, and it grows as it is written", async () => {
  await goTo("/c/long/log");
  await page.getByText(`${(LONG + 2).toLocaleString("en-US")} records`).waitFor();
  await page.locator(".rec-line").first().waitFor();
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.locator(".rec-id", { hasText: `e${LONG - 1}` }).waitFor();
  await expect.poll(() => page.locator(".rec").count()).toBeLessThan(120);
  const long = await ui.holdfast.conversation("long");
  await long.append([{ ...user("And one more"), id: "more" }]);
  await page.getByText(`${(LONG + 3).toLocaleString("en-US")} records`).waitFor();
  await goTo("/c/long/log?seq=500");
  const raw = page.locator(".rec-open pre");
  await raw.waitFor();
  await expect.poll(() => raw.textContent()).toContain("<img src=x onerror=alert(1)> ‹U+202E›gnp.exe");
  await goTo("/c/long/context");
  await page.locator(".ctx-row .bar").first().waitFor();
  await expect.poll(() => page.locator(".ctx-row").count()).toBeLessThan(120);
  await page.locator(".ctx-row .kind").nth(2).click();
  await page.locator(".exact", { hasText: /of 100\d/ }).waitFor();
});

test("of a damaged log all that can be read is shown, record by record, and where it breaks off, told once", async () => {
  await goTo("/c/torn/log");
  await page.locator(".log-damage", { hasText: "is damaged at byte" }).waitFor();
  await expect.poll(() => page.locator(".rec-line").count()).toBe(4);
  await expect.poll(() => page.locator(".banner").count()).toBe(1);
  await page.locator(".rec-line").nth(2).press("Enter");
  await page.locator(".rec-open pre", { hasText: "one" }).waitFor();
  await expect.poll(() => page.locator(".banner").count()).toBe(1);
  await picture(page, "log-damaged");
  await goTo("/c/torn/context");
  await page.getByRole("alert").getByText("damaged at byte").waitFor();
});

test("the chain says of each upstream session why it began, what it was told, what it carried and how it ended", async () => {
  await goTo("/c/sample/chain");
  const rows = page.locator(".link-row");
  await rows.nth(3).waitFor();
  await lookNarrow("chain", () => rows.nth(3).waitFor());
  const texts = await rows.allInnerTexts();
  expect(texts).toHaveLength(4);
  expect(texts[2]).toContain("Ended: “Session expired: sim-session-000009”");
  for (const words of ["expired", "the summary", "4 messages in full", "7 messages shortened"])
    expect(texts[3]).toContain(words);
  expect(texts[1]).toMatch(/\d messages/);
  // The reason is about the session before, so it is no heading of the one that runs.
  expect(await rows.nth(3).locator("b").innerText()).toBe("Session D");
  expect(texts[3]).toContain("session C expired");
  expect(await rows.locator(".tag").allInnerTexts()).toEqual(["current"]);
  await rows
    .nth(1)
    .getByRole("link", { name: /^entries/ })
    .click();
  await page.waitForURL("**/log?seq=*");
  await page.locator(".rec-open pre").waitFor();
});

test("a fork shows where its inherited part moved to another session and how long calls took there, as the source does", async () => {
  const mark = page.locator(".ribbon.roll").first();
  const call = page.locator(".card summary", { hasText: "send_email" }).first();
  await goTo("/c/sample?at=a1");
  await call.getByText(/^\d.* s$/).waitFor();
  await mark.waitFor();
  const wanted = [await mark.innerText(), await call.innerText()];
  await goTo("/c/fork?at=a1");
  await page.locator(".tag", { hasText: "inherited" }).first().waitFor();
  await mark.waitFor();
  await call.getByText(/^\d.* s$/).waitFor();
  expect([await mark.innerText(), await call.innerText()]).toEqual(wanted);
  expect(await page.locator(".ribbon.roll").count()).toBe(1);
});

test("a fork whose source was erased shows what it inherited", async () => {
  const other = await ui.open({ path: "/c/orphan", expected: /status of 404/ });
  await other.getByText("Said before the fork").first().waitFor();
  await other.locator(".tag", { hasText: "inherited" }).first().waitFor();
  await expect.poll(() => other.locator(".banner.bad").count()).toBe(0);
});

test("the chain of a fork ends where the fork was taken: no session that its source began later, and none current", async () => {
  await goTo("/c/fork/chain");
  const rows = page.locator(".link-row");
  await rows.first().waitFor();
  const texts = await rows.allInnerTexts();
  expect(texts).toHaveLength(2);
  expect(texts.join()).not.toMatch(/until now|current/);
  expect(texts[1]).toContain("until the fork");
});

test("the context shows what is sent at an entry, and in place what was folded away", async () => {
  await goTo("/c/sample/context?at=a8");
  const fold = page.getByRole("button", { name: "summarized", exact: true });
  await fold.waitFor();
  await lookNarrow("context", () => fold.waitFor());
  const before = await page.locator(".ctx-row .kind").count();
  await fold.press("Enter");
  await page.waitForURL("**folded=1");
  const folded = page.locator(".ctx-row.in-place");
  await folded.first().waitFor();
  await expect.poll(() => folded.count()).toBe(4);
  expect(await folded.first().innerText()).toContain("The guest of honour");
  expect(await folded.first().locator("a").getAttribute("href")).toBe("/c/sample?at=u1");
  await picture(page, "context-folded");
  await fold.press("Enter");
  await expect.poll(() => page.locator(".ctx-row .kind").count()).toBe(before);
  await page.getByRole("link", { name: "context before" }).first().click();
  await page.waitForURL("**/context?at=a3");
  await fold.waitFor({ state: "detached" });

  await goTo("/c/sample/context");
  await page.locator(".ctx-row .bar.unk").waitFor();
  const { messages } = await (await ui.holdfast.conversation("sample")).context();
  await expect.poll(() => page.locator(".ctx-row .kind[aria-pressed]").count()).toBe(messages.length);
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.waitForURL("**/context?message=1");
  await page.locator(".exact", { hasText: "Message 2" }).waitFor();
  await page.getByRole("button", { name: "Earlier" }).click();
  await page.waitForURL("**/context?at=u6");
});

test("effects of unknown outcome come first, and lead to where they were called", async () => {
  await goTo("/c/sample/effects?call=3");
  const ready = (): Promise<void> => page.locator(".fx-open pre").waitFor();
  await ready();
  await lookNarrow("effects", ready);
  await goTo("/c/sample/effects");
  const first = page.locator(".fx-line").first();
  await first.waitFor();
  expect(await first.innerText()).toContain("outcome unknown");
  await page.getByRole("button", { name: /^Done/ }).click();
  await page.waitForURL("**/effects?state=done");
  await expect.poll(() => page.locator(".fx-line").count()).toBe(3);
  await goTo("/c/sample/effects?call=3");
  await page.getByRole("link", { name: "The intent in the log" }).click();
  await page.locator(".rec-open pre", { hasText: "tool_intent" }).waitFor();
});

test("issues are named in words, and each jumps to its entry; where there is none, that is said", async () => {
  await goTo("/c/sample/issues");
  const first = page.locator("a.issue").first();
  await first.waitFor();
  await lookNarrow("issues", async () => {
    await goTo("/c/sample/effects");
    await goTo("/c/sample/issues");
    await first.waitFor();
    const open = await page.locator(".tabs [aria-current]").boundingBox();
    expect([(open?.x ?? -1) >= 0, (open?.x ?? 0) + (open?.width ?? 0) <= 390]).toEqual([true, true]);
  });
  await page.locator("a.issue", { hasText: "Call without a result" }).first().focus();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/c/sample?at=a7");
  await goTo("/c/long/issues");
  await page.getByTestId("no-issues").waitFor();
});
