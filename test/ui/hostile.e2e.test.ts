/** Transcripts are hostile input: what they hold is shown, and does nothing. Any request elsewhere or violation of the policy fails. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { assistant, toolResult, user } from "#log/say";
import { openUi, picture, type Ui } from "../support/browser.ts";

const SCRIPTS = [
  "<script>window.struck = 1</script>",
  '<img src="x" onerror="window.struck = 1"><svg onload="window.struck = 1"><animate onbegin="window.struck = 1"></svg>',
  '<iframe srcdoc="<script>parent.struck = 1</script>"></iframe><style>body { display: none }</style>',
  "[script](javascript:window.struck=1) [odd](JaVaScRiPt:window.struck=1) [data](data:text/html,<script>1</script>) [file](file:///etc/passwd)",
  '![beacon](http://evil.example/beacon.png) <img src="http://evil.example/raw.png"> ![inline](data:image/svg+xml,<svg onload="window.struck=1"/>)',
  "[a bank](https://evil.example/login) and https://plain.example/",
].join("\n\n");
const TERMINAL =
  "\u001B]0;owned\u0007\u001B]52;c;b3duZWQ=\u0007\u001B]8;;http://evil.example\u001B\\link\u001B]8;;\u001B\\ \u001BPdevice\u001B\\ \u001B[2J\u001B[31mred\u001B[0m\noverwritten\rvisible\n\u009B5mblink <b>bold</b>";
const UNSEEN = "safe\u202Etxt.exe\u202C zero\u200Bwidth \u2066isolate\u2069";

const deep = (mark: string, times: number): string => `${mark.repeat(times)} deep`;
const nestedList = Array.from({ length: 400 }, (_, at) => `${"  ".repeat(at)}- level ${at}`).join("\n");

const HOSTILE: readonly EntryBody[] = [
  { ...user(SCRIPTS), id: "scripts" },
  { ...assistant(UNSEEN), id: "unseen" },
  { ...user(deep("> ", 5_000)), id: "quotes" },
  { ...assistant(nestedList), id: "lists" },
  { ...user(deep("[", 20_000)), id: "brackets" },
  { ...assistant(deep("**_", 5_000)), id: "emphasis" },
  {
    type: "message",
    id: "call",
    message: {
      role: "assistant",
      model: "<b>model</b>",
      content: [{ type: "toolCall", id: "c1", name: "<i>bash</i>", input: { command: "echo '<u>x</u>'" } }],
    },
  },
  { ...toolResult("c1", TERMINAL), id: "terminal" },
  { type: "label", target: "scripts", label: "<s>label</s>\u202E" },
  { ...assistant("The end"), id: "end" },
];

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
  const hostile = await ui.holdfast.create({
    id: "hostile",
    title: "<img src=x onerror=window.struck=1>\u202Egpj",
  });
  await hostile.append(HOSTILE);
  const large = await ui.holdfast.create({ id: "large", title: "20 MB" });
  await large.append([
    { ...user("<b>x</b> ".repeat(2_330_000)), id: "huge" },
    { ...assistant("After it"), id: "after" },
  ]);
  const wide = await ui.holdfast.create({ id: "wide", title: "10,000 ways" });
  await wide.append([{ ...user("Which way?"), id: "root" }]);
  for (let batch = 0; batch < 10; batch++)
    await wide.append(
      Array.from({ length: 1_000 }, (_, at) => ({
        ...assistant(`Way ${batch * 1_000 + at + 1}`),
        id: `w${batch * 1_000 + at + 1}`,
        parentId: "root",
      })),
    );
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

const struck = (page: Page): Promise<unknown> => page.evaluate("window.struck");

test("scripts, handlers and links of a transcript are words", async () => {
  const page = await ui.open({ path: "/c/hostile?at=scripts" });
  await page.locator(".prose", { hasText: "<script>window.struck" }).waitFor();
  await page.locator(".prose a", { hasText: "a bank" }).waitFor();
  expect(await page.locator(".host", { hasText: "evil.example" }).count()).toBeGreaterThan(0);
  const links = await page
    .locator(".prose a")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  expect(links.filter((href) => !/^https?:\/\/(?:evil|plain)\.example\//.test(href))).toEqual([]);
  expect(await page.locator(".prose img, .prose iframe, .prose svg, .prose style, .prose b").count()).toBe(0);
  expect(await page.getByText("not loaded").count()).toBeGreaterThan(0);
  await page.locator(".tag", { hasText: "<s>label</s>‹U+202E›" }).waitFor();
  await picture(page, "hostile");
  expect(await struck(page)).toBeUndefined();
});

test("what turns or hides text is shown as a mark, and a terminal's orders are not obeyed", async () => {
  const page = await ui.open({ path: "/c/hostile?at=terminal" });
  await page.locator(".card", { hasText: "<i>bash</i>" }).locator("summary").click();
  const output = page.getByRole("region", { name: "Output" });
  await output.getByText("visible").waitFor();
  const shown = (await output.textContent()) ?? "";
  expect(shown).toContain("link ");
  expect(shown).toContain("visible");
  expect(shown).toContain("<b>bold</b>");
  for (const order of ["owned", "b3duZWQ", "evil.example", "device", "overwritten", "\u001B"])
    expect(shown).not.toContain(order);
  expect(await output.locator(".red").textContent()).toBe("red");
  await page.goto(`${ui.url}/c/hostile?at=unseen`);
  await page.getByText("safe‹U+202E›txt.exe").waitFor();
  expect(await struck(page)).toBeUndefined();
});

test("nesting without an end is shown to a depth, and the page goes on", async () => {
  for (const at of ["quotes", "lists", "brackets", "emphasis"]) {
    const page = await ui.open({ path: `/c/hostile?at=${at}` });
    await page.locator(`[data-entry="${at}"] .prose`).waitFor();
    const depth =
      await page.evaluate<number>(`Math.max(...[...document.querySelectorAll(".prose *")].map((one) => {
      let levels = 0;
      for (let up = one; up !== null; up = up.parentElement) levels++;
      return levels;
    }))`);
    expect(depth).toBeLessThan(90);
    await page.context().close();
  }
});

test("a message of 20 MB is cut until somebody asks for it, and then comes piece by piece", async () => {
  const page = await ui.open({ path: "/c/large" });
  await page.getByText("After it").waitFor();
  const all = page.getByRole("button", { name: /Show all \(2\d\.\d MB\)/ });
  await all.waitFor();
  expect(await page.evaluate<number>("document.body.textContent.length")).toBeLessThan(60_000);
  await all.click();
  await page.getByRole("button", { name: /Show more/ }).waitFor();
  expect(await page.evaluate<number>("document.body.textContent.length")).toBeLessThan(400_000);
});

test("ten thousand ways at one prompt are one switch", async () => {
  const page = await ui.open({ path: "/c/wide" });
  await page.locator(".sib .n", { hasText: "10000/10000" }).waitFor();
  await page.getByRole("button", { name: "Previous branch" }).click();
  await page.getByText("Way 9999").waitFor();
});
