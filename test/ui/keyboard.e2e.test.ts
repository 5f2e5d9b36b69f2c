/** All of it without a mouse: from the address that was printed to a comparison, with the focus always somewhere, and always seen. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { user } from "#log/message";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { awkwardServer } from "../support/awkward-store.ts";
import { openUi, type Ui } from "../support/browser.ts";

const MODEL = new ScriptedModel([
  { text: "The guest is Ada." },
  { calls: [{ id: "c1", name: "post", input: { letter: "an invitation" } }] },
  { text: "On its way." },
]);

let ui: Ui;
beforeAll(async () => {
  const post = { name: "post", description: "Posts a letter.", run: async () => "posted" };
  const open = (holdfast: Ui["holdfast"]): Agent =>
    new Agent(holdfast, { model: MODEL, tools: [post], instructions: false, permission: () => "ask" });
  ui = await openUi({ ...awkwardServer(), agents: { loop: { open } } });
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

// Where the focus is, and whether one sees it: by its ring, or by the row that it stands for. The page itself has none.
const FOCUS = `(() => {
  const one = document.activeElement;
  if (one === null || one === document.body) return "lost";
  if (one.id === "main") return "main";
  // What it stands in may be framed in its place.
  const isFramed = (element) => {
    const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(element);
    return (outlineStyle !== "none" && parseFloat(outlineWidth) > 0) || boxShadow !== "none";
  };
  const isSeen = isFramed(one) || isFramed(one.closest(".composer, .list-row") ?? one);
  const row = document.getElementById(one.getAttribute("aria-activedescendant") ?? "");
  const name = (one.getAttribute("aria-label") ?? one.labels?.[0]?.textContent ?? one.textContent).trim().slice(0, 60);
  return isSeen || row?.matches(".is-current, [aria-selected=true]") ? name || one.tagName : "unseen " + one.outerHTML.slice(0, 120);
})()`;

/** Whoever pressed something is still somewhere, and sees where. */
async function expectFocus(page: Page): Promise<string> {
  const now = (): Promise<string> => page.evaluate<string>(FOCUS);
  await expect.poll(now).not.toMatch(/^(?:lost|unseen)/);
  return now();
}

async function press(page: Page, ...keys: readonly string[]): Promise<void> {
  for (const key of keys) {
    await page.keyboard.press(key);
    await expectFocus(page);
  }
}

const STEPS_MAX = 120;

/** Goes on by Tab until the focus is on what is called so. */
async function tabTo(page: Page, name: RegExp, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let steps = 0; steps < STEPS_MAX; steps++) {
    await page.keyboard.press(key);
    const found = await page.evaluate<string>(FOCUS);
    expect(found).not.toMatch(/^unseen/);
    if (name.test(found)) return;
  }
  throw new Error(`Tab does not lead to ${name}`);
}

const said = (page: Page, words: string) => page.locator(".msg .prose", { hasText: words }).last();

test("a conversation is begun, asked, approved, edited, forked, compared, found again, replayed and exported by keys alone", async () => {
  const page = await ui.open();
  await page.getByTestId("no-conversations").waitFor();
  await press(page, "Tab");
  expect(await page.evaluate<string>(FOCUS)).toBe("Skip to content");
  await press(page, "Enter");
  expect(await page.evaluate<string>(FOCUS)).toBe("main");
  await press(page, "n");
  await page.waitForURL("**/c/*");
  const first = new URL(page.url()).pathname;
  // A prompt, and its answer.
  await page.locator("#prompt").waitFor();
  await press(page, "c");
  await page.keyboard.type("Who is the guest?");
  await press(page, "Enter");
  await said(page, "The guest is Ada.").waitFor();
  // A call that waits for a person.
  await page.keyboard.type("Invite her");
  await press(page, "Enter");
  await page.getByRole("button", { name: "Allow" }).waitFor();
  await tabTo(page, /^Allow$/, "Shift+Tab");
  await press(page, "Enter");
  await said(page, "On its way.").waitFor();
  await expectFocus(page);
  // Out of the field, to the first prompt, and other words in its place.
  await press(page, "Escape");
  await press(page, "K", "K");
  await page.locator(".entry.is-selected", { hasText: "Who is the guest?" }).waitFor();
  expect(await expectFocus(page)).toMatch(/^Entry \d+$/);
  await page.keyboard.press("e");
  await page.locator(".edit-form textarea:focus").waitFor();
  await press(page, "Escape");
  await page.locator(".edit-form").waitFor({ state: "detached" });
  expect(await expectFocus(page)).not.toBe("main");
  await page.keyboard.press("e");
  await page.locator(".edit-form textarea:focus").waitFor();
  await press(page, "Control+a");
  await page.keyboard.type("Who else comes?");
  await press(page, "Control+Enter");
  await said(page, "done").waitFor();
  await page.locator(".sib .n", { hasText: "2/2" }).waitFor();
  await expectFocus(page);
  // A fork of its own.
  await press(page, "Escape", "K");
  await page.locator(".entry.is-selected").waitFor();
  await page.keyboard.press("f");
  await page.waitForURL((url) => url.pathname !== first);
  await expectFocus(page);
  await page.goBack();
  await page.waitForURL(`**${first}*`);
  // The tree: two of its branches are picked, and compared.
  await page.locator(".msg").first().waitFor();
  await tabTo(page, /^Tree$/);
  await press(page, "Enter");
  await page.waitForURL("**/tree");
  await page.getByRole("treeitem").first().waitFor();
  await tabTo(page, /^Branches of/);
  await press(page, "Home", "W");
  await press(page, " ", "End", " ");
  await page.waitForURL(/a=.*&b=/);
  await page.locator(".tree-card", { hasText: "since the" }).waitFor();
  await page.keyboard.press("d");
  await page.waitForURL("**/diff?*");
  await page.locator(".compared-row").first().waitFor();
  await press(page, "n", "p");
  // Out of everything, and found by its words.
  await press(page, "Escape");
  await page.waitForURL(`${ui.url}/`);
  await page.locator(".list-row.item").first().waitFor();
  await press(page, "/");
  await page.keyboard.type("else");
  await page.locator(".hit").first().waitFor();
  await press(page, "Escape");
  await tabTo(page, /Who else comes/);
  await press(page, "Enter");
  await page.waitForURL("**/c/*?at=*");
  await page.locator(".entry.is-selected").waitFor();
  await expect.poll(() => expectFocus(page)).toMatch(/^Entry \d+$/);
  // Sent once more from there.
  await tabTo(page, /^More actions$/);
  await press(page, "Enter");
  await page.getByRole("menuitem", { name: "Replay from here" }).and(page.locator(":focus")).waitFor();
  await press(page, "Enter");
  await page.waitForURL("**/replay?*");
  await page.getByRole("button", { name: "Start the replay" }).waitFor();
  await tabTo(page, /^Start the replay/);
  await press(page, "Enter");
  await page.waitForURL("**/replay/*");
  await page.getByRole("link", { name: "Compare with the original" }).waitFor();
  await expectFocus(page);
  // And taken away as a file.
  await page.goBack();
  await page.goBack();
  await page.waitForURL("**/c/*?at=*");
  await page.locator(".entry.is-selected").waitFor();
  await press(page, "x");
  await page.waitForURL("**/export?*");
  await page.getByRole("button", { name: "Download" }).waitFor();
  await tabTo(page, /^Download/);
  const [file] = await Promise.all([page.waitForEvent("download"), press(page, "Enter")]);
  expect(file.suggestedFilename()).toMatch(/\.html$/);
  await expectFocus(page);
});

test("theme, text, contrast, motion and single keys are set by keys; what is over a page gives the focus back", async () => {
  const page = await ui.open({ path: "/settings" });
  await page.locator(".store-facts").waitFor();
  await press(page, "Tab", "Tab");
  await press(page, "Control+k");
  await page.locator(".palette-input:focus").waitFor();
  await page.keyboard.type("theme");
  await page.getByRole("option", { name: "Switch theme", selected: true }).waitFor();
  await press(page, "Enter");
  await page.locator("html[data-theme=light]").waitFor();
  await press(page, "?");
  await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  await press(page, "Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
  await expectFocus(page);
  const looks = (): Promise<unknown> =>
    page.evaluate(`(() => {
      const root = getComputedStyle(document.documentElement);
      return [root.fontSize, root.getPropertyValue("--text-3") === root.getPropertyValue("--text"), root.getPropertyValue("--t-move")];
    })()`);
  for (const name of [/^130 %$/, /^More$/, /^None$/, /^Off$/]) {
    await tabTo(page, name);
    await press(page, "Enter");
  }
  await page.emulateMedia({ reducedMotion: "no-preference" });
  expect(await looks()).toEqual(["20.8px", true, "0s"]);
  expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).toBe(true);
  await press(page, "?");
  await expect.poll(() => page.locator("dialog").count()).toBe(0);
  await page.reload();
  await page.locator(".store-facts").waitFor();
  expect(await looks()).toEqual(["20.8px", true, "0s"]);
  for (const name of [/^90 %$/, /^On$/]) {
    await tabTo(page, name);
    await press(page, "Enter");
  }
  expect(await looks()).toEqual(["14.4px", true, "0s"]);
  await page.emulateMedia({ reducedMotion: "reduce" });
});

test("a row that has the focus stays while the list is scrolled far away, and rows say where they stand", async () => {
  const long = await ui.holdfast.create({ id: "long", title: "Long" });
  await long.append(Array.from({ length: 1_000 }, (_, at) => ({ ...user(`Prompt ${at}`), id: `p${at}` })));
  const page = await ui.open({ path: "/c/long?at=p500" });
  await page.locator(".entry.is-selected").waitFor();
  await expect.poll(() => page.evaluate<string>(FOCUS)).toMatch(/^Entry \d+$/);
  const before = await page.evaluate<string>(FOCUS);
  const row = page.locator(".virtual-row", { has: page.locator(".is-selected") });
  expect(await row.getAttribute("aria-setsize")).toBe("1002");
  expect(await row.getAttribute("aria-posinset")).toBe("502");
  await page.mouse.wheel(0, -1);
  for (const share of [0.3, 0.1, 0]) {
    await page.evaluate(`window.scrollTo(0, document.documentElement.scrollHeight * ${share})`);
    await page.locator(".thread .msg").nth(3).waitFor();
  }
  await page.getByText("Prompt 0", { exact: true }).waitFor();
  expect(await page.evaluate<string>(FOCUS)).toBe(before);
  await expect.poll(() => page.locator(".virtual-row").count()).toBeLessThan(60);
});
