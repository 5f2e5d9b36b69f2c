/** In a conversation of 50,000 messages every place is reached, and only what is on the screen is there. */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openUi, type Ui } from "../support/browser.ts";

const TURNS = 25_000;
const AT_ONCE = 500;

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
  const long = await ui.holdfast.create({ id: "long", title: "Fifty thousand" });
  for (let turn = 0; turn < TURNS; turn += AT_ONCE)
    await long.append(
      Array.from({ length: AT_ONCE }, (_, at) => [
        { ...user(`Prompt ${turn + at}`), id: `u${turn + at}` },
        { ...assistant(`Answer ${turn + at}: **done**`), id: `a${turn + at}` },
      ]).flat(),
    );
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

test("it opens at its end, and is scrolled through without filling the page or the heap", async () => {
  const page = await ui.open({ path: "/c/long" });
  await page.getByText(`Answer ${TURNS - 1}: done`).waitFor();
  await expect.poll(() => page.locator(".virtual-row").count()).toBeLessThan(60);
  const heap = (): Promise<number> => page.evaluate<number>("performance.memory.usedJSHeapSize");
  for (const share of [0.9, 0.7, 0.5, 0.3, 0.1, 0]) {
    await page.mouse.wheel(0, -1);
    await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight * ${share})`);
    await page.locator(".thread .msg").nth(4).waitFor();
  }
  await page.locator(".thread").getByText("Prompt 0", { exact: true }).waitFor();
  await expect.poll(() => page.locator(".virtual-row").count()).toBeLessThan(60);
  expect(await heap()).toBeLessThan(80_000_000);
});

test("an address leads to any entry of it, and keys go on from there", async () => {
  const page = await ui.open({ path: "/c/long?at=u12345" });
  await page.locator(".is-selected", { hasText: "Prompt 12345" }).waitFor();
  expect(await page.locator(".is-selected").first().isVisible()).toBe(true);
  await page.keyboard.press("J");
  await page.locator(".is-selected", { hasText: "Prompt 12346" }).waitFor();
  expect(page.url()).toContain("at=u12346");
  await page.keyboard.press("g");
  await page.keyboard.press("l");
  await page.getByText(`Answer ${TURNS - 1}: done`).waitFor();
});
