/**
 * Goal: an answer that comes late, twice asked for, or not at all takes nothing from a person and shows nothing that is not so.
 * Method: a real browser; one request is held, cut off or refused at a time, and what belongs to it is done meanwhile.
 */
import type { Page, Request, Route } from "playwright-core";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openUi, type Ui } from "../support/browser.ts";
import { gate, releasedAgent, resetGates } from "./released-agent.ts";

let ui: Ui;
let page: Page;

beforeAll(async () => {
  resetGates();
  ui = await openUi({ agents: { loop: { open: releasedAgent } } });
  for (const id of ["one", "two"]) {
    const log = await ui.holdfast.create({ id, title: `Title of ${id}` });
    await log.append([
      { ...user(`Asked in ${id}`), id: `${id}-asked` },
      { ...assistant(`Told in ${id}`), id: `${id}-told` },
    ]);
  }
  page = await ui.open({ expected: /Failed to load resource/ });
});
afterAll(() => ui[Symbol.asyncDispose]());
beforeEach(() => page.unrouteAll({ behavior: "ignoreErrors" }));

const composer = () => page.getByLabel("Message to the agent");
const title = () => page.locator(".title-button");
const message = (words: string) => page.locator(".msg", { hasText: words });

/** As a link does, without loading the page anew. */
async function goTo(address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"))`,
  );
}

interface Held {
  readonly request: Request;
  /** Lets it go on, and waits until what came of it is drawn. */
  release(): Promise<void>;
  refuse(): Promise<void>;
}

/** The next request of this kind: its answer is there, and does not reach the page yet. */
async function nextHeld(
  isMeant: (url: URL, method: string) => boolean,
  at: "asked" | "answered" = "answered",
): Promise<{ readonly held: Promise<Held> }> {
  const found = Promise.withResolvers<Held>();
  let isFound = false;
  await page.route("**/api/**", async (route: Route) => {
    const request = route.request();
    if (isFound || !isMeant(new URL(request.url()), request.method())) return route.fallback();
    isFound = true;
    const response = at === "answered" ? await route.fetch() : null;
    const after = async (go: Promise<void>): Promise<void> => {
      await go.catch(() => undefined); // the page has given up on it, which is fine
      await page.evaluate(
        "new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))",
      );
    };
    found.resolve({
      request,
      release: () => after(response === null ? route.continue() : route.fulfill({ response })),
      refuse: () => after(route.fulfill({ status: 500, body: "{}" })),
    });
  });
  return { held: found.promise };
}

const isGet =
  (path: string) =>
  (url: URL, method: string): boolean =>
    method === "GET" && url.pathname === path;
const isPost =
  (path: string) =>
  (url: URL, method: string): boolean =>
    method === "POST" && url.pathname === path;

test("a title that was read before does not come back over a newer one", async () => {
  await goTo("/c/one/chain");
  await title().getByText("Title of one").waitFor();
  const log = await ui.holdfast.conversation("one");
  const { held } = await nextHeld(isGet("/api/conversations/one"));
  await log.title("An older title");
  const older = await held;
  await log.title("Title of one, newer");
  await title().getByText("Title of one, newer").waitFor();
  await older.release();
  expect(await title().textContent()).toBe("Title of one, newer");
});

test("a name that is being typed for one conversation is never given to another", async () => {
  await goTo("/c/one");
  await goTo("/c/two");
  await title().getByText("Title of two").waitFor();
  await title().click();
  await page.getByLabel("Title").fill("Only for two");
  await page.evaluate("history.back()");
  await message("Told in one").waitFor();
  await composer().focus();
  await title().getByText("Title of one, newer").waitFor();
  const listed = (await Array.fromAsync(ui.holdfast.list())).find((one) => one.conversation === "one");
  expect(listed?.title).toBe("Title of one, newer");
});

test("words that are not taken come back before those that were written meanwhile", async () => {
  await goTo("/c/one");
  const { held } = await nextHeld(isPost("/api/conversations/one/turns"), "asked");
  await composer().fill("First words");
  await composer().press("Enter");
  const sent = await held;
  await composer().fill("Second words");
  await sent.refuse();
  await expect.poll(() => composer().inputValue()).toBe("First words\nSecond words");
  await composer().fill("");
});

test("what is being edited stays while the header cannot be read, and is saved once however often it is pressed", async () => {
  const log = await ui.holdfast.conversation("one");
  await goTo("/c/one");
  await page.getByRole("button", { name: "Dismiss" }).click();
  await message("Asked in one").hover();
  await message("Asked in one").getByRole("button", { name: /^Edit/ }).click();
  const field = page.getByLabel("Edit message");
  await field.fill("Who are you?");
  const isHeader = isGet("/api/conversations/one/thread");
  const refused = page.waitForResponse((one) => one.status() === 503);
  await page.route("**/api/**", (route) =>
    isHeader(new URL(route.request().url()), route.request().method())
      ? route.fulfill({ status: 503, body: "{}" })
      : route.fallback(),
  );
  await log.title("Read later");
  await refused;
  expect(await field.inputValue()).toBe("Who are you?");
  await page.unrouteAll({ behavior: "ignoreErrors" });
  // By itself.
  await title().getByText("Read later").waitFor();

  const asked: string[] = [];
  page.on("request", (request) => void (request.url().endsWith("/edit") && asked.push(request.url())));
  const { held } = await nextHeld(isPost("/api/conversations/one/entries/one-asked/edit"), "asked");
  await page.getByRole("button", { name: "Save as new branch and run" }).dblclick();
  await (await held).release();
  await message("Answered").waitFor();
  expect(asked).toHaveLength(1);
  await field.waitFor({ state: "detached" });
});

test("a fork is made once, and leads nobody away who has gone elsewhere", async () => {
  await goTo("/c/two");
  await message("Told in two").hover();
  const { held } = await nextHeld(isPost("/api/conversations/two/forks"));
  await message("Told in two").getByRole("button", { name: "Fork" }).dblclick();
  const fork = await held;
  await goTo("/");
  await page.getByRole("heading", { name: "History" }).waitFor();
  await fork.release();
  await page.getByText("Forked as").waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  const forks = (await Array.fromAsync(ui.holdfast.list())).filter(({ origin }) => origin !== null);
  expect(forks).toHaveLength(1);
});

test("a thread that could not be read at first is told what happens all the same", async () => {
  let refusals = 0;
  const isThread = isGet("/api/conversations/two/thread");
  await page.route("**/api/**", (route) => {
    const { url, method } = { url: new URL(route.request().url()), method: route.request().method() };
    return isThread(url, method) && ++refusals <= 4 ? route.abort("connectionreset") : route.fallback();
  });
  await goTo("/c/two");
  await expect.poll(() => refusals).toBeGreaterThan(3);
  await message("Told in two").waitFor();
  await (await ui.holdfast.conversation("two")).append([assistant("Told later in two")]);
  await message("Told later in two").waitFor();
});

test("a page that was refused goes on by itself", async () => {
  const isChain = isGet("/api/conversations/two/chain");
  await page.route("**/api/**", (route) =>
    isChain(new URL(route.request().url()), route.request().method())
      ? route.fulfill({ status: 503, body: "{}" })
      : route.fallback(),
  );
  await goTo("/c/two/chain");
  await page.locator(".banner.bad").waitFor();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  await page.locator(".banner.bad").waitFor({ state: "detached" });
  await page.getByRole("region", { name: "Sessions" }).waitFor();
});

test("a list that was asked for by other filters is not shown, and what is looked at shows nothing of another", async () => {
  await page.mouse.move(0, 0); // a row that comes to lie under it would be looked at
  await goTo("/");
  await page.locator('[data-conversation="two"]').waitFor();
  const log = await ui.holdfast.conversation("two");
  const { held } = await nextHeld(isGet("/api/conversations"));
  await log.label("two-told", "so that the list is asked for again");
  const older = await held;
  const filtered = page.waitForResponse((one) => one.url().includes("status="));
  await goTo("/?status=unclean");
  await filtered;
  await older.release();
  expect(await page.locator("[data-conversation]").count()).toBe(0);

  await goTo("/");
  await page.locator('[data-conversation="two"]').focus();
  await page.locator(".preview .last", { hasText: "Told later in two" }).waitFor();
  const { held: words } = await nextHeld(isGet("/api/conversations/one/history"));
  await page.locator('[data-conversation="one"]').focus();
  const late = await words;
  expect(await page.locator(".preview .last").count()).toBe(0);
  await late.release();
  await page.locator(".preview .last", { hasText: "Answered" }).waitFor();
});

test("a tree that is read while something is written shows it in the end, and so does a log of one type", async () => {
  const log = await ui.holdfast.conversation("two");
  await goTo("/c/two");
  await message("Told later in two").waitFor();
  const { held } = await nextHeld(isGet("/api/conversations/two/tree"));
  await goTo("/c/two/tree");
  const tree = await held;
  await log.append([assistant("Grown meanwhile")]);
  await log.title("Title of two, newer");
  await title().getByText("Title of two, newer").waitFor();
  await tree.release();
  await page.getByRole("treeitem", { name: /Grown meanwhile/ }).waitFor();

  await goTo("/c/two/log?type=label");
  await page.locator(".rec-line").first().waitFor();
  const { held: records } = await nextHeld(isGet("/api/conversations/two/records"));
  await log.label("two-told", "Second label");
  const page2 = await records;
  await log.label("two-told", "Third label");
  const { toSeq } = await log.label("two-told", "Fourth label");
  await page.getByText(`of ${toSeq}`).waitFor();
  await page2.release();
  await expect.poll(() => page.locator(".rec-line").count()).toBe(4);
});

test("words for a turn that is over when they come are shown to be waiting", async () => {
  await goTo("/c/one");
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await composer().fill("Work");
  await composer().press("Enter");
  await page.getByRole("button", { name: "Send now", exact: true }).waitFor();
  const { held } = await nextHeld(isPost("/api/conversations/one/steers"), "asked");
  await composer().fill("Too late for it");
  await composer().press("Enter");
  const steer = await held;
  gate("work").resolve();
  await page.getByRole("button", { name: "Send", exact: true }).waitFor();
  await steer.release();
  await page.locator(".waiting", { hasText: "Too late for it" }).waitFor();
});

test("an entry of another branch is shown on that branch, and what is written goes on from there", async () => {
  // Edited before: its first wording is on no branch that the conversation goes on with.
  await goTo("/c/one?at=one-asked");
  await page.waitForURL("**/c/one?at=one-asked&leaf=one-told");
  await message("Told in one").waitFor();
  await page.getByPlaceholder("continue this branch").waitFor();
  // And back to what the conversation itself goes on with.
  await page.locator("main").focus();
  await page.keyboard.press("Escape");
  await page.waitForURL("**/c/one?leaf=one-told");
  await page.keyboard.press("Escape");
  await page.waitForURL("**/c/one");
  await message("Working, word by word").waitFor();
});
