/** Reading and finding: each fault that a first visitor reported, by its number, in a real browser. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openUi, picture, type Ui } from "../support/browser.ts";

const PROMPTS = 300;
const UUID = "01a1e6f1-8985-7000-80c3-0123456789ab";

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
  const long = await ui.holdfast.create({ id: "long", title: "Long" });
  await long.append(
    Array.from({ length: PROMPTS }, (_, at) => [
      { ...user(`Prompt ${at}`), id: `u${at}` },
      { ...assistant(`Answer ${at}. ${"Words of it. ".repeat(40)}`), id: `a${at}` },
    ]).flat(),
  );
  for (let at = 0; at < 120; at++)
    await (
      await ui.holdfast.create({ id: `many-${at}`, title: `Why is the build slow #${at}` })
    ).append([user(at === 3 ? "needle3" : "straw")]);
  await (await ui.holdfast.create({ id: UUID })).append([user("Never named")]);
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

const scrollY = (page: Page): Promise<number> => page.evaluate<number>("window.scrollY");
const composer = (page: Page) => page.getByLabel("Message to the agent");

test("B3: Home leads to the top, and stays there", async () => {
  const page = await ui.open({ path: "/c/long" });
  await page.getByText(`Answer ${PROMPTS - 1}.`).waitFor();
  await page.locator("main").focus();
  await page.keyboard.press("Home");
  await page.getByText("Prompt 0", { exact: true }).first().waitFor();
  await expect.poll(() => scrollY(page)).toBeLessThan(20);
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  expect(await scrollY(page)).toBeLessThan(20);
});

test("B3: a drag of the scrollbar up is not taken back by rows that grow", async () => {
  const page = await ui.open({ path: "/c/long" });
  await page.getByText(`Answer ${PROMPTS - 1}.`).waitFor();
  const end = await scrollY(page);
  // A scrollbar gives no key and no wheel, and its first steps are small.
  await page.evaluate("window.scrollBy(0, -40)");
  await expect.poll(() => scrollY(page)).toBeLessThan(end - 20);
  await page.evaluate('document.querySelector(".thread").style.paddingBottom = "200px"');
  await page.evaluate("new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))");
  expect(await scrollY(page)).toBeLessThan(end - 20);
});

test("B4: Alt and an arrow stay with the browser", async () => {
  const page = await ui.open({ path: "/c/long?at=a5" });
  await page.locator('[data-entry="a5"].is-selected').waitFor();
  const prevented = await page.evaluate(`(() => {
    const event = new KeyboardEvent("keydown", { key: "ArrowLeft", altKey: true, bubbles: true, cancelable: true });
    document.body.dispatchEvent(event);
    return event.defaultPrevented;
  })()`);
  expect(prevented).toBe(false);
  await page.keyboard.press("h");
  await page.waitForURL("**at=u5");
});

test("B5: what is typed is there again after a reload", async () => {
  const page = await ui.open({ path: "/c/long" });
  await composer(page).fill("A draft that took long");
  await page.reload();
  await expect.poll(() => composer(page).inputValue()).toBe("A draft that took long");
  await composer(page).fill("");
  await page.reload();
  await composer(page).waitFor();
  expect(await composer(page).inputValue()).toBe("");
});

test("B9: a hit in the text is named by the title of its conversation", async () => {
  const page = await ui.open({ path: "/?q=needle3" });
  const hit = page.locator(".hit").first();
  await hit.waitFor();
  expect(await hit.textContent()).toContain("Why is the build slow #3");
});

test("B10: New and Import stay where no conversation matches", async () => {
  const page = await ui.open({ path: "/?model=none" });
  await page.getByTestId("no-match").waitFor();
  await page.getByRole("button", { name: "New", exact: true }).waitFor();
  await page.getByRole("link", { name: "Import", exact: true }).waitFor();
});

test("B11: the prompts in the inspector follow the screen", async () => {
  const page = await ui.open({ path: "/c/long?at=u150" });
  const prompts = page.locator(".outline");
  await prompts.getByText("Prompt 150", { exact: true }).waitFor();
  await page.goto(`${ui.url}/c/long?at=u20`);
  await prompts.getByText("Prompt 20", { exact: true }).waitFor();
  await expect.poll(() => prompts.locator("[aria-current]").textContent()).toContain("Prompt 20");
  await picture(page, "reported-outline");
});

test("B12: an entry's number does not touch the words beside it", async () => {
  const page = await ui.open({ path: `/c/long?at=u${PROMPTS - 1}` });
  const line = page.locator(".outline a", { hasText: `Prompt ${PROMPTS - 1}` });
  await line.waitFor();
  const gap = await page.evaluate<number>(`(() => {
    const line = document.querySelector(".outline a:last-of-type");
    const number = line.querySelector(".n");
    number.textContent = "49791";
    const range = document.createRange();
    range.selectNodeContents(number);
    return line.querySelector(".cut").getBoundingClientRect().left - range.getBoundingClientRect().right;
  })()`);
  expect(gap).toBeGreaterThanOrEqual(4);
});

test("B14: recent conversations are there again after a reload, and those that are gone are not", async () => {
  const page = await ui.open({ path: "/c/long" });
  const recent = page.locator(".views");
  await recent.getByRole("link", { name: "Long" }).waitFor();
  await page.goto(`${ui.url}/settings`);
  await page.reload();
  await recent.getByRole("link", { name: "Long" }).waitFor();
});

test("B15: a conversation without a title has one name everywhere", async () => {
  const page = await ui.open({ path: "/?prefix=01a1" });
  const row = page.locator(`[data-conversation="${UUID}"]`);
  await row.waitFor();
  const name = (await row.textContent()) ?? "";
  await row.hover();
  await expect.poll(() => page.locator(".preview h2").textContent()).toBe(name);
  await row.click();
  await expect.poll(() => page.locator("h1").textContent()).toBe(name);
});

test("B19: without scripts the page says what it needs, and before they come its frame is there", async () => {
  const page = await ui.open();
  const html = await page.evaluate<string>("fetch('/').then((answer) => answer.text())");
  expect(html).toMatch(/<noscript>[^]*JavaScript[^]*<\/noscript>/);
  expect(html).toMatch(/<div id="root">\s*<div class="shell/);
});

test("B31: grouped by folder, a row does not repeat it", async () => {
  await ui.holdfast.create({ id: "in-folder", title: "In a folder", cwd: "/home/ann/one/app" });
  await ui.holdfast.create({ id: "in-other", title: "In another", cwd: "/home/ann/two/app" });
  const page = await ui.open({ path: "/?by=folder" });
  await page.locator('[data-conversation="in-folder"]').waitFor();
  const groups = await page.locator(".group").allTextContents();
  expect(groups.filter((name) => name.includes("app"))).toHaveLength(2);
  const row = page.locator(".list-row", { has: page.locator('[data-conversation="in-folder"]') });
  expect(await row.locator(".where").count()).toBe(0);
});

test("B32: a conversation that is not there leads back to the history, without tabs", async () => {
  const page = await ui.open({ path: "/c/nope", expected: /404/ });
  const told = page.getByRole("alert").filter({ hasText: "conversation_not_found" });
  await told.waitFor();
  await told.getByRole("link", { name: "Back to history" }).waitFor();
  expect(await page.locator(".tabs a").count()).toBe(0);
});

test("B35: an empty entry in the URL asks the server for nothing wrong", async () => {
  const page = await ui.open({ path: "/c/long?at=" });
  await page.getByText(`Answer ${PROMPTS - 1}.`).waitFor();
});
