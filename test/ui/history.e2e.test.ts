import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { user } from "#log/message";
import { CLAUDE } from "#vendors/claude/claude";
import { firstLoad } from "../../scripts/first-load.ts";
import { tempDir } from "../support/temp-dir.ts";
import { UI_FOLDER } from "../support/build-ui.ts";
import { openUi, picture, type Ui } from "../support/browser.ts";

const SESSION = "11111111-1111-4111-8111-111111111111";
const home = tempDir();
let ui: Ui;
beforeAll(async () => {
  const records = CLAUDE.records?.open(home.path);
  if (records === undefined) throw new Error("Claude has records");
  ui = await openUi({ agentRecords: new Map([["claude", records]]) });
});
afterEach(() => ui.closePages());
afterAll(async () => {
  await ui[Symbol.asyncDispose]();
  home[Symbol.dispose]();
});

/** What Claude Code leaves in its folder. */
function writeSession(): void {
  const project = join(home.path, "projects", "-repo-party");
  mkdirSync(project, { recursive: true });
  const message = { role: "user", content: "Gate code <b>for</b> the orchard" };
  const line = { type: "user", uuid: "u", parentUuid: null, sessionId: SESSION, cwd: "/repo/party", message };
  const time = "2026-01-01T00:00:00.000Z";
  writeFileSync(join(project, `${SESSION}.jsonl`), `${JSON.stringify({ ...line, timestamp: time })}\n`);
}

test("an empty store leads to the sample, and the sample into the history", async () => {
  const page = await ui.open();
  await page.getByTestId("no-conversations").waitFor();
  await picture(page, "history-empty");
  await page.getByRole("button", { name: "Load sample data" }).click();
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
    await expect.poll(() => page.locator(".list-row.item").count()).toBe(12);
    await page.locator(".list-row.item a", { hasText: "Plan the party" }).hover();
    await page.locator(".chain li").first().waitFor();
    await picture(page, `history-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, theme: "dark" });
  await phone.locator(".list-row.item a").first().waitFor();
  await picture(phone, "history-phone");
});

test("filters and search are in the address, and hits lead to their entries", async () => {
  const page = await ui.open();
  await page.getByRole("searchbox").waitFor();
  await page.keyboard.press("/");
  await page.keyboard.type("needle");
  await page.waitForURL("**/?q=needle");
  await page.locator(".hit mark").first().waitFor();
  await expect.poll(() => page.locator(".hit").count()).toBe(2);
  await picture(page, "history-search");
  await page.reload();
  await page.locator(".hit").first().click();
  await page.waitForURL("**/c/*?at=*");
});

test("badges and filters say how conversations stand; a session that only an agent has is brought in by a click", async () => {
  const call = { type: "toolCall", id: "c", name: "bash", input: {} } as const;
  const stuck = await ui.holdfast.create({
    id: "stuck",
    title: "A call without a result",
    cwd: "/repo/oven",
  });
  await stuck.append([
    user("Bake it"),
    {
      type: "message",
      message: { role: "assistant", content: [call], model: "x/dear", usage: { costMicros: 2_000_000 } },
    },
    { type: "turn_start", turn: "t" },
    { type: "turn_end", turn: "t", outcome: "failed" },
  ]);
  writeSession();
  const page = await ui.open();
  const row = page.locator(".list-row.item", { hasText: "A call without a result" });
  await row.getByText("1 issue", { exact: false }).waitFor({ state: "attached" });
  await row.locator(".c-dot .open").waitFor();
  await page.getByTestId("found-here").waitFor();
  await picture(page, "history-badges");
  const titles = (): Promise<readonly string[]> => page.locator(".list-row.item .title").allTextContents();
  const only = async (): Promise<void> => {
    await row.waitFor();
    await page.locator(".list-row.item").nth(1).waitFor({ state: "detached" });
    expect(await titles()).toEqual(["A call without a result"]);
  };
  await page.getByLabel("Status").selectOption("unclean");
  await page.waitForURL("**/?status=unclean");
  await only();
  await page.reload();
  await only();
  await page.getByLabel("Cost").selectOption("10");
  await page.getByTestId("no-match").waitFor();
  await picture(page, "history-none");
  await page.getByRole("button", { name: "Clear filters" }).click();
  await page.waitForURL(`${ui.url}/`);
  await page.getByLabel("Folder", { exact: true }).selectOption("/repo/oven");
  await only();
  await page.goto(`${ui.url}/?model=${encodeURIComponent("x/dear")}&cost=1`);
  await only();
  await page.goto(`${ui.url}/?status=agent_only`);
  await page.getByTestId("found-here").getByText("1 session").waitFor();
  await expect.poll(() => page.locator(".list-row.item").count()).toBe(1);
  await page.getByRole("button", { name: /^Import Gate code/ }).click();
  await page.waitForURL(`**/c/claude%3A${SESSION}`);
  await page.getByText("Gate code <b>for</b> the orchard").first().waitFor();
  await page.goto(`${ui.url}/?status=agent_only`);
  await page.getByTestId("no-match").waitFor();
});

test("the palette and the list are used by keys alone", async () => {
  const page = await ui.open();
  await page.locator(".list-row.item a").first().waitFor();
  await page.keyboard.press("j");
  await page.keyboard.press("j");
  await page.keyboard.press("k");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).waitFor();
  await page.keyboard.type("party");
  await page.getByRole("option", { name: "Plan the party" }).first().waitFor();
  await page.keyboard.press("Enter");
  await page.waitForURL("**/c/sample");
  await page.keyboard.press("g");
  await page.keyboard.press("h");
  await page.waitForURL(`${ui.url}/`);
});

test("the first load stays small", () => {
  const { files, gzipBytes } = firstLoad(UI_FOLDER);
  expect(files.length).toBeGreaterThan(4);
  expect(gzipBytes).toBeLessThan(80_000);
});
