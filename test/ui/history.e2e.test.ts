import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { user } from "#log/say";
import { UI_FOLDER } from "../support/build-ui.ts";
import { expectAccessible, openUi, picture, type Ui } from "../support/browser.ts";

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

test("an empty store leads to the sample, and the sample into the history", async () => {
  const page = await ui.open();
  await page.getByText("No conversations yet").waitFor();
  await expectAccessible(page);
  await picture(page, "history-empty");
  await page.getByRole("button", { name: "Load the sample" }).click();
  await page.waitForURL("**/c/sample");
  await page.getByRole("link", { name: "History" }).first().click();
  await page.getByRole("link", { name: "Plan the party" }).first().waitFor();
});

test("the history shows one row for each conversation, in both themes and at a phone's width", async () => {
  for (const title of ["A test fails", "Lemon cake for twelve"]) {
    const conversation = await ui.holdfast.create({ title, cwd: "/repo/party" });
    await conversation.append([user(`About ${title.toLowerCase()}: the needle`)]);
  }
  for (const theme of ["light", "dark"] as const) {
    const page = await ui.open({ theme });
    await page.getByRole("link", { name: "A test fails" }).first().waitFor();
    expect(await page.locator(".list-row.item").count()).toBe(12);
    await page.locator(".list-row.item a", { hasText: "Plan the party" }).hover();
    await page.locator(".chain li").first().waitFor();
    await expectAccessible(page, theme === "light" ? "all" : "colours");
    await picture(page, `history-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, theme: "dark" });
  await phone.locator(".list-row.item a").first().waitFor();
  await expectAccessible(phone);
  await picture(phone, "history-phone");
});

test("filters and search are in the address, and hits lead to their entries", async () => {
  const page = await ui.open();
  await page.getByRole("searchbox").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("needle");
  await page.waitForURL("**/?q=needle");
  await page.locator(".hit mark").first().waitFor();
  expect(await page.locator(".hit").count()).toBe(2);
  await picture(page, "history-search");
  await page.reload();
  await page.locator(".hit").first().click();
  await page.waitForURL("**/c/*?at=*");
});

test("the palette and the list are used by keys alone", async () => {
  const page = await ui.open();
  await page.locator(".list-row.item a").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox").waitFor();
  await page.keyboard.type("party");
  await page.getByRole("option", { name: "Plan the party" }).first().waitFor();
  await expectAccessible(page);
  await page.keyboard.press("Enter");
  await page.waitForURL("**/c/sample");
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL(`${ui.url}/`);
});

test("the first load stays small", () => {
  interface Chunk {
    readonly file: string;
    readonly imports?: readonly string[];
    readonly css?: readonly string[];
  }
  const manifest = JSON.parse(readFileSync(join(UI_FOLDER, ".vite", "manifest.json"), "utf8")) as Record<
    string,
    Chunk
  >;
  const files = new Set<string>(["index.html"]);
  const visit = (name: string): void => {
    const chunk = manifest[name];
    if (chunk === undefined || files.has(chunk.file)) return;
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const other of chunk.imports ?? []) visit(other);
  };
  visit("index.html");
  visit("src/pages/history/history-page.tsx");
  const bytes = [...files].map((file) => gzipSync(readFileSync(join(UI_FOLDER, file))).length);
  expect(files.size).toBeGreaterThan(4);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThan(80_000);
});
