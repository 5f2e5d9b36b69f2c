/** Transcripts are hostile input: what they hold is shown, and does nothing. Any request elsewhere or violation of the policy fails. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openUi, picture, type Ui } from "../support/browser.ts";
import { NESTED, writeHostileLogs } from "../support/hostile-log.ts";

let ui: Ui;
beforeAll(async () => {
  ui = await openUi({ replays: { models: ["sim"], agent: () => ({}) } });
  await writeHostileLogs(ui.holdfast);
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"));`,
  );
}

/** Where a text is shown, and what shows that it is there. */
const SHOWN: readonly (readonly [address: string, shown: string])[] = [
  ["/", '.list-row.item:has-text("title<img src=x")'],
  ["/?q=struck", ".hit-text >> text=onerror"],
  ["/c/hostile?at=scripts", ".prose >> text=<script>window.struck"],
  ["/c/hostile?at=called", ".card >> text=bash<img"],
  ["/c/hostile?at=again", ".ribbon.roll >> text=limit<img"],
  ["/c/hostile?at=folded", ".ribbon.fold"],
  ["/c/hostile?view=raw&at=called", "pre >> text=bash<img"],
  ["/c/hostile?view=focused", ".prose >> text=The end<img"],
  ["/c/hostile/tree?at=scripts", ".node-words >> text=<script>"],
  ["/c/hostile/tree?at=fork+hostile-fork", ".node-pane >> text=fork<img"],
  ["/c/hostile/context", ".ctx-row >> text=again<img"],
  ["/c/hostile/context?message=1", ".exact >> text=<img"],
  ["/c/hostile/log?at=called", ".rec-open pre >> text=bash<img"],
  ["/c/hostile/chain", ".link-row >> text=limit<img"],
  ["/c/hostile/effects", ".fx-line >> text=bash<img"],
  ["/c/hostile/issues", ".issue >> text=bash<img"],
  ["/c/hostile/usage", "main"],
  ["/c/hostile/runs?run=odd-run", ".run-details >> text=failed<img"],
  ["/c/hostile/runs?run=odd-run&show=state", ".run-details >> text=state<img"],
  ["/c/hostile/runs?run=odd-run&show=messages", ".run-details >> text=again<img"],
  ["/c/hostile/runs?run=odd-run&show=json", ".run-details >> text=<script>"],
  ["/runs", ".all-runs-row >> text=mail<img"],
  ["/replay", ".replay-sources >> text=title<img"],
  ["/replay?conversation=hostile", "main >> text=title<img"],
  ["/memory", ".memory-line >> text=memory<img"],
  ["/export", "main >> text=title<img"],
  ["/export?conversation=hostile", "main >> text=title<img"],
  ["/usage?by=conversation", "tbody >> text=title<img"],
  ["/diff?a=hostile%40end&b=hostile-fork", ".pair >> text=bash<img"],
  ["/settings", ".store-facts"],
];

// Elements and attributes that only a transcript could have made, and characters that turn, hide or order.
const OBEYED = `(() => {
  const found = [...document.querySelectorAll("img, iframe, object, embed, base, main style, main script, [onerror], [onload], [srcdoc]")].map((one) => one.outerHTML);
  for (const link of document.querySelectorAll("a[href]"))
    if (!/^(?:https?:|mailto:)$/.test(link.protocol)) found.push("link " + link.href);
  const odd = /[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u200B\\u200E\\u200F\\u202A-\\u202E\\u2066-\\u2069]/;
  const walk = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT);
  for (let node = walk.currentNode; node !== null; node = walk.nextNode()) {
    if (node.nodeType === 3 && odd.test(node.data)) found.push("text in " + node.parentElement.className + ": " + JSON.stringify(node.data).slice(0, 100));
    for (const { name, value } of node.attributes ?? []) if (odd.test(value)) found.push(node.tagName + " " + name + ": " + JSON.stringify(value).slice(0, 100));
  }
  if (odd.test(document.title)) found.push("title");
  if (window.struck !== undefined) found.push("struck");
  return [...new Set(found)].slice(0, 12);
})()`;

// What is folded is shown, too.
const OPEN_ALL = `new Promise((resolve) => {
  for (const one of document.querySelectorAll("details")) one.open = true;
  for (const one of document.querySelectorAll("main button[aria-expanded=false]")) one.click();
  requestAnimationFrame(() => requestAnimationFrame(resolve));
})`;

test("scripts, handlers, links, orders of terminals and what turns text are words on every page that shows them", async () => {
  const page = await ui.open();
  const found: string[] = [];
  for (const [address, shown] of SHOWN) {
    await goTo(page, address);
    await page.locator(shown).first().waitFor();
    await page.evaluate(OPEN_ALL);
    for (const one of await page.evaluate<string[]>(OBEYED)) found.push(`${address}: ${one}`);
    await picture(page, `hostile-${address.replaceAll(/[^\w?=-]+/g, "_")}`);
  }
  await goTo(page, "/memory");
  await page.locator(".memory-line").click();
  await page.getByText("remembered<img").first().waitFor();
  found.push(...(await page.evaluate<string[]>(OBEYED)));
  expect(found).toEqual([]);
  await goTo(page, "/c/hostile?at=scripts");
  await page.locator(".prose a", { hasText: "a bank" }).waitFor();
  await expect.poll(() => page.locator(".host", { hasText: "evil.example" }).count()).toBeGreaterThan(0);
  const links = await page
    .locator(".prose a")
    .evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
  expect(links.filter((href) => !/^https?:\/\/(?:evil|plain)\.example\//.test(href))).toEqual([]);
  await expect.poll(() => page.getByText("not loaded").count()).toBeGreaterThan(0);
});

test("a terminal's orders are not obeyed, its colours are; what turns or hides text is shown as a mark", async () => {
  const page = await ui.open({ path: "/c/hostile?at=terminal" });
  await page.locator(".card", { hasText: "<img" }).first().locator("summary").click();
  const output = page.getByRole("group", { name: "Output" });
  await output.getByText("visible").waitFor();
  const shown = (await output.textContent()) ?? "";
  for (const words of ["link ", "visible", "<b>bold</b>"]) expect(shown).toContain(words);
  for (const order of ["owned", "b3duZWQ", "evil.example", "device", "overwritten", "\u001B"])
    expect(shown).not.toContain(order);
  await expect.poll(() => output.locator(".red").textContent()).toBe("red");
  await goTo(page, "/c/hostile?at=unseen");
  await page.getByText("safe‹U+202E›txt.exe").first().waitFor();
});

const DEPTH = `Math.max(...[...document.querySelectorAll(".prose *")].map((one) => {
  let levels = 0;
  for (let up = one; up !== null; up = up.parentElement) levels++;
  return levels;
}))`;

test("nesting without an end is shown to a depth, and the page goes on", async () => {
  const page = await ui.open({ path: "/c/nested" });
  for (const at of Object.keys(NESTED)) {
    await goTo(page, `/c/nested?at=${at}`);
    await page.locator(`[data-entry="${at}"].is-selected .prose > *`).first().waitFor();
    expect(await page.evaluate<number>(DEPTH)).toBeLessThan(90);
  }
});

test("a message of 20 MB comes cut, also as it is written; whoever asks for it is shown it piece by piece", async () => {
  const large = await ui.holdfast.create({ id: "large", title: "20 MB" });
  await large.append([user("Before it")]);
  const page = await ui.open({ path: "/c/large" });
  await page.getByText("Before it").first().waitFor();
  let received = 0;
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  session.on("Network.dataReceived", ({ dataLength }) => (received += dataLength));
  await large.append([
    { ...user("<b>x</b> needle ".repeat(1_250_000)), id: "huge" },
    { ...assistant("After it"), id: "after" },
  ]);
  await page.getByText("After it").waitFor();
  const all = page.getByRole("button", { name: /Show all \(2\d\.\d MB\)/ });
  await all.waitFor();
  expect(received).toBeLessThan(1_000_000);
  const shown = (): Promise<number> => page.evaluate<number>("document.body.textContent.length");
  expect(await shown()).toBeLessThan(60_000);
  await all.click();
  await page.getByRole("button", { name: /Show more/ }).waitFor();
  expect(await shown()).toBeLessThan(400_000);
  const elsewhere = [
    ["/", ".preview .last"],
    ["/?q=needle", ".hit mark"],
    ["/c/large/tree?at=huge", ".node-words"],
    ["/c/large/context?message=1", ".exact"],
    ["/c/large/log?at=huge", ".rec-open"],
    ["/diff?a=large%40huge&b=large%40after", ".compare, .pair, .turn-line"],
  ] as const;
  for (const [address, ready] of elsewhere) {
    await goTo(page, address);
    await page.locator(ready).first().waitFor();
    expect(await shown(), address).toBeLessThan(400_000);
  }
});

test("ten thousand ways at one prompt are one switch", async () => {
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
  const page = await ui.open({ path: "/c/wide" });
  await page.locator(".sib .n", { hasText: "10000/10000" }).waitFor();
  await page.getByRole("button", { name: "Previous branch" }).click();
  await page.getByText("Way 9999").waitFor();
});
