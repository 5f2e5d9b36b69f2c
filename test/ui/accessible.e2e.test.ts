/** Every page of the table, in both themes and both widths: nothing that axe finds, and nothing that sticks out at the side. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { awkwardServer, fillAwkward } from "../support/awkward-store.ts";
import { accessibilityFindings, openUi, picture, type Ui } from "../support/browser.ts";

interface Row {
  readonly path: string;
  readonly title: string;
}

type Addresses = readonly (readonly [address: string, ready: string])[];

/** What names in a path stand for. A page with another name in its path has to say here how it is opened. */
const params: { [name: string]: string } = { conversation: "sample" };

/** Where there is more to see than a page shows by itself; and what is there once it is all there. */
const LOOKS: { readonly [path: string]: readonly (readonly [query: string, ready: string])[] } = {
  "/": [
    ["", ".list-row.item"],
    ["?q=party", ".hit mark"],
    ["?q=nowhere-to-be-found", ".hits"],
  ],
  "/usage": [
    ["", ".chart .tone-0"],
    ["?by=conversation", "tbody tr"],
  ],
  "/settings": [["", ".store-facts"]],
  "/c/:conversation": [
    ["", ".ribbon.roll .up"],
    ["?at=u4", ".entry.is-selected .sib"],
    ["?view=raw", "pre.code"],
  ],
  "/c/:conversation/tree": [["?a=sample%40u3&b=sample%40a8&at=u4", ".tree-row.pick-b"]],
  "/c/:conversation/context": [
    ["?at=a8", ".ctx-row.folded"],
    ["?message=1", ".exact"],
  ],
  "/c/:conversation/log": [["?seq=7", ".rec-open pre"]],
  "/c/:conversation/chain": [["", ".link-row"]],
  "/c/:conversation/effects": [["?call=3", ".fx-open"]],
  "/c/:conversation/issues": [["", "a.issue"]],
  "/c/:conversation/usage": [["", ".chart .peak"]],
  "/export": [
    ["", ".pick-row"],
    ["?conversation=sample", ".transfer .check"],
  ],
  "/diff": [
    ["", "form"],
    ["?a=fix-the-test%40b2&b=fix-the-test%40x2", ".pair"],
  ],
};

/** Pages of other conversations that look otherwise. */
const ODD: Addresses = [
  ["/c/wordy", ".prose table"],
  ["/c/wordy/tree", ".tree-row"],
  ["/c/empty", "#prompt"],
  ["/c/empty/usage", "main h2, .state-title"],
  ["/c/fix-the-test", ".ribbon.roll"],
  ["/c/fix-the-test/tree?at=a2", ".tree-row.is-at"],
  ["/c/letters/tree", ".tree-row"],
  ["/nowhere", "main"],
];

const EMPTY: Addresses = [
  ["/", ".state-title"],
  ["/?days=7", ".state-title"],
  ["/usage", "main h1"],
];

let ui: Ui;
let page: Page;
let pages: readonly Row[] = [];
const loading = new Set<unknown>();

beforeAll(async () => {
  // Not by a literal: the pages that it loads are for a browser, and are checked with its types.
  const table = new URL("../../ui/src/pages/pages.ts", import.meta.url).pathname;
  ({ PAGES: pages } = (await import(table)) as { readonly PAGES: readonly Row[] });
  ui = await openUi(awkwardServer());
  page = await ui.open();
  page.on("request", (request) => void (/\/events(?:\?|$)/.test(request.url()) || loading.add(request)));
  page.on("requestfinished", (request) => void loading.delete(request));
  page.on("requestfailed", (request) => void loading.delete(request));
});
afterAll(() => ui[Symbol.asyncDispose]());

/** Goes there as a link does. */
async function goTo(address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"));`,
  );
}

const IS_LOADING = `new Promise((resolve) => requestAnimationFrame(() => resolve(document.querySelector(".ghosts") !== null)))`;

/** Waits until what is to be seen is there, and nothing more is asked for. */
async function settled(ready: string): Promise<void> {
  await page.locator(ready).filter({ visible: true }).first().waitFor();
  await expect.poll(async () => (await page.evaluate(IS_LOADING)) === true || loading.size > 0).toBe(false);
}

// What scrolls by itself may be wider than the screen.
const WIDER = `[...document.querySelectorAll("body *")]
  .filter((one) => one.closest(".scroll-x, .code, .tabs, .filters, svg, pre, .sr, .skip") === null && one.checkVisibility() && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => "sticks out: " + one.tagName + "." + one.className + " to " + Math.round(one.getBoundingClientRect().right))`;

type AxeAsked = Parameters<typeof accessibilityFindings>[1];

async function widerThanScreen(): Promise<readonly string[]> {
  const isWide = await page.evaluate<boolean>("document.documentElement.scrollWidth > innerWidth");
  return [...(isWide ? ["scrolls sideways"] : []), ...(await page.evaluate<string[]>(WIDER)).slice(0, 5)];
}

/** The largest text of the settings. */
async function lookLarge(name: string): Promise<readonly string[]> {
  await page.evaluate('document.documentElement.dataset["text"] = "130"');
  const found = (await widerThanScreen()).map((one) => `${name}, large: ${one}`);
  await picture(page, `${name}-large`);
  await page.evaluate('document.documentElement.dataset["text"] = "100"');
  return found;
}

async function findings(asked: AxeAsked): Promise<readonly string[]> {
  return [
    ...(await widerThanScreen()),
    ...(await page.locator(".banner.bad").allTextContents()),
    ...(await accessibilityFindings(page, asked)),
  ];
}

/** What is wrong with what is open: in the light theme and wide, and in the dark one and narrow; all rules count in both. */
async function look(name: string, ready: string, within: AxeAsked = {}): Promise<readonly string[]> {
  const found: string[] = [];
  const note = async (how: string): Promise<void> => {
    await settled(ready);
    found.push(...(await findings(within)).map((one) => `${name}, ${how}: ${one}`));
    await picture(page, `${name}-${how}`);
  };
  await note("light");
  await page.emulateMedia({ colorScheme: "dark" });
  await page.setViewportSize({ width: 390, height: 844 });
  await note("dark-narrow");
  found.push(...(await lookLarge(`${name}, narrow`)));
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
  found.push(...(await lookLarge(name)));
  return found;
}

/** The colours of what only a wide screen shows, in the dark. */
async function lookDark(name: string, ready: string): Promise<readonly string[]> {
  await page.emulateMedia({ colorScheme: "dark" });
  await settled(ready);
  const found = await accessibilityFindings(page, { only: "colours" });
  await picture(page, `${name}-dark`);
  await page.emulateMedia({ colorScheme: "light" });
  return found.map((one) => `${name}, dark: ${one}`);
}

function addressOf({ path }: Row): string {
  return path.replaceAll(/:(\w+)/g, (_, name: string) => {
    const value = params[name];
    if (value === undefined) throw new Error(`How is ${path} opened? Say what :${name} is`);
    return encodeURIComponent(value);
  });
}

async function lookAll(addresses: Addresses, isWhole: boolean): Promise<void> {
  const found: string[] = [];
  for (const [address, ready] of addresses) {
    await goTo(address);
    const name = address.replaceAll(/[^\w?=-]+/g, "_");
    found.push(...(await look(name, ready)), ...(isWhole ? await lookDark(name, ready) : []));
  }
  expect(found).toEqual([]);
}

test("an empty store, and what leads out of it, is accessible in both themes, wide and narrow", async () => {
  await lookAll(EMPTY, false);
  params["replay"] = await fillAwkward(ui);
});

test("so is every page of the table", async () => {
  expect(Object.keys(LOOKS).filter((path) => !pages.some((row) => row.path === path))).toEqual([]);
  const addresses = pages.flatMap((row) =>
    (LOOKS[row.path] ?? [["", "main > *"] as const]).map(
      ([query, ready]) => [`${addressOf(row)}${query}`, ready] as const,
    ),
  );
  await lookAll(addresses, true);
});

test("so are conversations that are empty, wordy, forked or gone", () => lookAll(ODD, false));

test("so is what lies over a page, and what opens on it", async () => {
  const found: string[] = [];
  const over = async (name: string, within: string): Promise<void> => {
    found.push(...(await look(name, within, { within })));
    await page.keyboard.press("Escape");
  };
  await goTo("/c/sample?at=u4");
  await settled(".entry.is-selected");
  await page.keyboard.press("Control+k");
  await page.getByLabel("Search or jump", { exact: true }).last().fill("p");
  await over("palette", "dialog.over");
  await page.keyboard.press("?");
  await over("keys", "dialog.over");
  await page.keyboard.press("e");
  await over("edit", ".edit-form");
  await page.keyboard.press("s");
  await over("label", ".entry.is-selected");
  await page.getByLabel("Simulate failure", { exact: true }).click();
  await over("trouble", ".composer");
  await page.locator("button.title-button").click();
  await over("rename", ".head-row");
  for (const card of await page.locator(".card summary").all()) await card.click();
  await over("cards", ".thread");
  expect(found).toEqual([]);
});
