import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import { Skills } from "#agent/skills/skills";
import { expectAccessible, openUi, picture, type Ui } from "../support/browser.ts";
import { tempDir } from "../support/temp-dir.ts";

const HOSTILE = '<img src=x onerror="alert(1)"> [a](javascript:alert(1)) \u202Eevil\u001B[31mred';
const PROJECT = 'git:example.org/<b>app</b>"?scope=user&q=1#';
const SKILL = `---
name: changelog
description: Writes lines of a changelog. ${"Use when a change is done. ".repeat(6)}
---
# How

One line per change, **in the present tense**. <script>alert(1)</script> ![p](https://example.org/p.png)

- [here](javascript:alert(1)) and [there](https://example.org/)
`;

const folder = tempDir();
let ui: Ui;
let memory: Memory;

beforeAll(async () => {
  for (const [name, text] of [
    ["changelog", SKILL],
    ["broken", "no fields"],
  ] as const) {
    mkdirSync(join(folder.path, name), { recursive: true });
    writeFileSync(join(folder.path, name, "SKILL.md"), text);
  }
  writeFileSync(join(folder.path, "changelog", "words.txt"), "");
  ui = await openUi({ skills: new Skills({ places: [{ name: "here", folder: folder.path }] }) });
  memory = new Memory(ui.holdfast);
});
afterEach(() => ui.closePages());
afterAll(async () => {
  await ui[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const row = (page: Page, title: string) => page.locator(".memory-line", { hasText: title });

test("what is remembered is added, found, edited against others' words, removed and restored by keys, and says how it came to be", async () => {
  const page = await ui.open({ path: "/memory", expected: /status of (?:409|500)/ });
  await page.getByTestId("no-memory").waitFor();
  await page.getByText("holdfast memory add").waitFor();
  await picture(page, "memory-empty");
  await page.keyboard.press("n");
  await page.locator("textarea:focus").waitFor();
  await page.keyboard.type("Answers are in German");
  await page.getByRole("button", { name: "Save" }).press("Enter");
  await row(page, "Answers are in German").waitFor();
  // Saved by others while this page is looked at.
  await ui.holdfast.create({ id: "chat", title: "Where it was said" });
  await memory.save("user", {
    title: "测试",
    content: HOSTILE,
    by: "model",
    conversation: "chat",
    tags: ["t"],
  });
  await row(page, "测试").click();
  await page.waitForURL("**key=%E6%B5%8B%E8%AF%95");
  const words = await page.locator(".memory-words").textContent();
  expect(words).toContain('<img src=x onerror="alert(1)"> [a](javascript:alert(1))');
  expect(words).not.toContain("\u202E");
  expect(await page.getByRole("link", { name: "chat", exact: true }).getAttribute("href")).toBe("/c/chat");

  await page.getByRole("button", { name: "Edit" }).press("Enter");
  const form = page.getByRole("form", { name: "Edit it" });
  await form.getByLabel("Memory text").fill("My words\nof two lines");
  await memory.save("user", { key: "测试", title: "测试", content: "Their words\nof two lines" });
  // What stands there cannot be read at first: it is said, and saving is tried again.
  await page.route("**/api/memory?*", (route) => route.fulfill({ status: 500, body: "{}" }));
  await form.getByRole("button", { name: "Save" }).press("Enter");
  await form.locator(".banner.bad").waitFor();
  await page.unrouteAll();
  await form.getByRole("button", { name: "Save" }).press("Enter");
  await form.getByTestId("memory-conflict").waitFor();
  await form.locator(".diff tr.a").waitFor();
  await expect.poll(() => form.locator(".diff tr.d .tx").allTextContents()).toEqual(["Their words"]);
  await expect.poll(() => form.locator(".diff tr.a .tx").allTextContents()).toEqual(["My words"]);
  expect((await memory.list("user"))[0]?.content).toBe("Their words\nof two lines");
  await expectAccessible(page);
  await picture(page, "memory-conflict");
  await form.getByRole("button", { name: "Replace with mine" }).press("Enter");
  await page.locator(".memory-words", { hasText: "My words" }).waitFor();
  const changes = page.locator(".memory-changes li");
  await expect.poll(() => changes.count()).toBe(3);
  await changes.nth(0).locator("mark").nth(1).waitFor();
  await expect.poll(() => changes.nth(0).locator("mark").allTextContents()).toEqual(["Their", "My"]);
  await expectAccessible(page);
  await picture(page, "memory-open");

  await page.getByRole("button", { name: "Remove", exact: true }).press("Enter");
  await expect.poll(() => row(page, "测试").count()).toBe(0);
  await page.getByRole("button", { name: "Removed" }).press("Enter");
  await row(page, "测试").click();
  await page.getByRole("button", { name: "Restore" }).press("Enter");
  await page.getByTestId("nothing-removed").waitFor();
  expect((await memory.list("user")).map(({ content }) => content)).toContain("My words\nof two lines");

  await page.getByRole("button", { name: "Removed" }).press("Enter");
  await page.getByRole("searchbox").waitFor();
  await page.keyboard.press("/");
  await page.locator("input:focus").waitFor();
  await page.keyboard.type("german");
  await page.waitForURL("**q=german");
  await expect.poll(() => page.locator(".memory-line").count()).toBe(1);
  await page.locator(".memory-line").click();
  await page.getByRole("link", { name: "record in the log" }).first().click();
  await page.waitForURL("**/c/memory.user/log?seq=*");
});

test("each project has its own; a secret is refused with words; a key that is taken is not written over; on a phone all of it fits", async () => {
  await memory.save({ project: PROJECT }, { title: "Runner", content: "npm test runs everything" });
  await memory.save("user", { title: "Tone", content: "Be brief" });
  const page = await ui.open({
    path: "/memory?edit=new",
    width: 390,
    height: 844,
    theme: "dark",
    expected: /status of 4(?:00|09)/,
  });
  await page.getByLabel("Memory text").fill("password is sk-proj-abcdefghijklmnopqrstuvwx");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("This looks like a secret").waitFor();
  await page.getByLabel("Memory text").fill("Be thorough");
  await page.getByLabel("Title").fill("Tone");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByTestId("memory-conflict").waitFor();
  await picture(page, "memory-phone-form");
  await page.getByRole("button", { name: "Keep theirs" }).click();
  expect((await memory.list("user")).find(({ key }) => key === "tone")?.content).toBe("Be brief");
  await page.locator(".memory-scope").selectOption({ label: PROJECT });
  await row(page, "Runner").click();
  await page.locator(".memory-words", { hasText: "npm test" }).waitFor();
  await expect.poll(() => page.locator(".memory-line").count()).toBe(1);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(page, "memory-phone");
});

test("whoever may only read is shown what is remembered and nothing that would be refused", async () => {
  await memory.save("user", { title: "Read", content: "Only" });
  const page = await ui.open({ path: "/memory?key=read&edit=read", rights: "read" });
  await page.locator(".memory-words").waitFor();
  for (const name of [/Remember/, "Edit", "Remove", "Save"])
    await expect
      .poll(() => page.getByRole("button", { name, exact: typeof name === "string" }).count())
      .toBe(0);
  await page.keyboard.press("n");
  await expect.poll(() => page.getByRole("form").count()).toBe(0);
});

test("skills show their text harmlessly, where they come from and which conversations used them", async () => {
  const used = await ui.holdfast.create({ id: "used", title: HOSTILE });
  await used.append({
    type: "skill_change",
    skills: [{ name: "changelog", source: "here/changelog", digest: "0" }, { name: "gone" }],
  });
  const page = await ui.open({ path: "/memory?view=skills" });
  await page.getByText("1 folder cannot be taken (invalid)").waitFor();
  await page.locator(".skill-line", { hasText: "changelog" }).press("Enter");
  await page.waitForURL("**skill=changelog");
  const text = page.getByRole("region", { name: "Instructions of changelog" });
  await text.locator("strong", { hasText: "in the present tense" }).waitFor();
  await expect.poll(() => text.textContent()).toContain("<script>alert(1)</script>");
  await expect.poll(() => text.locator("img, script").count()).toBe(0);
  expect(await text.locator("a").evaluateAll((all) => all.map((one) => one.getAttribute("href")))).toEqual([
    "https://example.org/p.png",
    "https://example.org/",
  ]);
  await page.getByText("words.txt").waitFor();
  const uses = page.getByRole("region", { name: "Conversations that used it" });
  expect(await uses.locator("a").getAttribute("href")).toMatch(/^\/c\/used\?at=/);
  await uses.getByText("active now").waitFor();
  await uses.getByText("SKILL.md has changed").waitFor();
  await expectAccessible(page);
  await picture(page, "skills");
  await page.locator(".skill-line", { hasText: "gone" }).click();
  await page.getByTestId("skill-missing").waitFor();
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator(".skill-line", { hasText: "changelog" }).click();
  await text.waitFor();
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(page, "skills-phone");
});
