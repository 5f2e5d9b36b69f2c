import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { awkwardServer, replayLetters } from "../support/awkward-store.ts";
import { writeBranchyLog, writeWideLogs } from "../support/branchy-log.ts";
import { openUi, picture, type Ui } from "../support/browser.ts";

let ui: Ui;
beforeAll(async () => {
  ui = await openUi({ replays: awkwardServer().replays });
  await writeBranchyLog(ui.holdfast);
  await writeWideLogs(ui.holdfast, 10_000, 5_000);
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

const TREE = "/c/fix-the-test/tree";

test("a tree shows lanes, folds, forks and labels, in both themes and at a phone's width", async () => {
  for (const theme of ["light", "dark"] as const) {
    const page = await ui.open({ theme, path: `${TREE}?a=fix-the-test@b2&b=fix-the-test@x2&at=x2` });
    await page.locator(".tree-row.pick-b").waitFor();
    await page.getByRole("treeitem", { name: /decision/ }).waitFor();
    await page.getByRole("treeitem", { name: /\(fork\)/ }).waitFor();
    await expect
      .poll(() => page.locator(".tree-row.ancestor").textContent())
      .toContain("No, the parser is wrong");
    await picture(page, `tree-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, path: `${TREE}?at=a2` });
  await phone.locator(".tree-row.is-at").waitFor();
  await picture(phone, "tree-phone");
});

test("a tree is walked, unfolded, filtered and picked from by keys; all of it is in the address", async () => {
  const page = await ui.open({ path: TREE });
  const tree = page.getByRole("tree");
  await tree.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL("**?at=u1");
  await page.keyboard.press(" ");
  await page.keyboard.press("End");
  await page.keyboard.press(" ");
  await page.waitForURL(/a=fix-the-test%40u1&b=fix-the-test%40a9/);
  const before = await page.getByRole("treeitem").count();
  const fold = page.getByRole("treeitem", { expanded: false }).first();
  await fold.click();
  await expect.poll(() => page.getByRole("treeitem").count()).toBeGreaterThan(before);
  await page.getByRole("button", { name: "Labeled" }).click();
  await expect.poll(() => page.getByRole("treeitem").count()).toBeLessThan(6);
  expect(page.url()).toContain("filter=labeled");
});

test("one goes on from another entry, and the tree follows what is written elsewhere", async () => {
  const page = await ui.open({ path: "/c/third-try/tree?at=v2" });
  await page.locator(".tree-row.is-at").waitFor();
  await page.getByRole("button", { name: "Continue from here" }).click();
  await page.locator(".tree-row.is-at .tag.ok").waitFor();
  const conversation = await ui.holdfast.conversation("third-try");
  await conversation.label("v2", "from elsewhere");
  await page.locator(".tree-row .label-tag", { hasText: "from elsewhere" }).waitFor();
  await page.getByRole("link", { name: "Open in the conversation" }).click();
  await page.waitForURL("**/c/third-try?at=v2");
});

test("a replay is a dashed way out of the tree, and is compared with what it was made of", async () => {
  await replayLetters(ui);
  const page = await ui.open({ path: "/c/letters/tree" });
  const replay = page.locator(".tree-row", { hasText: "tools dry-run" });
  await replay.waitFor();
  await expect.poll(() => replay.locator("svg .replay").count()).toBeGreaterThan(0);
  await picture(page, "tree-replay");
  await replay.click();
  await page
    .getByRole("heading", { name: /Letters/ })
    .last()
    .waitFor();
  await page.getByRole("button", { name: "Select to compare" }).click();
  await page.locator(".tree-row", { hasText: "Done" }).hover();
  await page.locator(".tree-card", { hasText: "$0.0033 and" }).waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("d");
  await page.waitForURL("**/diff?*");
  await page.locator(".pair .mk", { hasText: "args" }).waitFor();
});

test("ten thousand ways at one prompt and five thousand levels are shown without being drawn", async () => {
  const page = await ui.open({ path: "/c/wide/tree" });
  await page.getByText("9,999 other branches").click();
  await page.locator(".tree-row", { hasText: "Way 0" }).first().waitFor();
  await page.getByRole("tree").focus();
  await page.keyboard.press("End");
  await page.locator(".tree-row", { hasText: "Way 9999" }).waitFor();
  await expect.poll(() => page.getByRole("treeitem").count()).toBeLessThan(120);
  await page.goto(`${ui.url}/c/deep/tree`);
  await page.locator(".tree-row", { hasText: "Level 1" }).first().waitFor();
  await picture(page, "tree-deep");
  await expect.poll(() => page.getByRole("treeitem").count()).toBeLessThan(120);
});

const DIFF = "/diff?a=fix-the-test@b2&b=fix-the-test@x2";

test("two branches are compared from where they part, by tool call, in both themes and at a phone's width", async () => {
  for (const theme of ["light", "dark"] as const) {
    const page = await ui.open({ theme, path: DIFF });
    await page.getByTestId("parting").waitFor();
    await expect.poll(() => page.locator(".same-row").count()).toBe(2);
    await expect
      .poll(() => page.locator(".pair .mk").allTextContents())
      .toEqual(["~args", "−only A", "+only B", "=same"]);
    await expect.poll(() => page.locator(".words-b mark").first().textContent()).toBe("reader");
    // What an edit takes away and puts in, line by line, on each side.
    await page.locator(".call.in-b tr.a", { hasText: "this.emit(this.rest)" }).waitFor();
    await expect
      .poll(() => page.locator(".call.in-a tr.d .tx").first().textContent())
      .toBe("return lines.slice(0, -1);");
    await page.locator(".prose-fold").last().click();
    await page.locator(".said mark").first().waitFor();
    await picture(page, `diff-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, path: DIFF });
  await phone.locator(".call.in-b .letter").first().waitFor();
  await picture(phone, "diff-phone");
});

test("differences are gone through by keys, sides swap, and what is picked in a tree leads here", async () => {
  const page = await ui.open({ path: "/c/fix-the-test/tree?a=fix-the-test@b2" });
  await page.locator(".tree-row", { hasText: "(fork)" }).click();
  await page.getByRole("button", { name: "Select to compare" }).click();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL("**/diff?a=fix-the-test%40b2&b=second-try");
  await page.locator(".split-mark").waitFor();
  await page.keyboard.press("n");
  await page.locator(".compared-row.is-current .split-mark").waitFor();
  await page.keyboard.press("n");
  await page.keyboard.press("p");
  await page.locator(".compared-row.is-current .split-mark").waitFor();
  await page.getByRole("button", { name: "Swap sides" }).click();
  await page.waitForURL("**/diff?a=second-try&b=fix-the-test%40b2");
  await page.goto(`${ui.url}/diff?a=deep@d1&b=deep@d5000`);
  await page.getByText("4,999 only in B").waitFor();
  await expect.poll(() => page.locator(".compared-row").count()).toBeLessThan(80);
  await page.goto(`${ui.url}/diff`);
  await page.getByLabel("A: conversation id").fill("second-try");
  await page.getByLabel("B: conversation id").fill("second-try");
  await page.keyboard.press("Enter");
  await page.locator(".verdict.is-same").waitFor();
});
