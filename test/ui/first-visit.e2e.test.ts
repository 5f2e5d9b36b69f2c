/** What a newcomer does with `npm start`: all of it by the page alone, in front of the real process. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Locator, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { MAIN } from "../edges/cli/cli-run.ts";
import { expectAccessible, openUi, picture, visit } from "../support/browser.ts";
import { tempDir } from "../support/temp-dir.ts";

// What a browser says of requests to a server that is dead for a moment.
const GONE = /net::ERR_(?:CONNECTION_REFUSED|CONNECTION_RESET|INCOMPLETE_CHUNKED_ENCODING|EMPTY_RESPONSE)/;
const QUESTION = "What is my name?";

/** As `npm start` does it: an empty store, no flags of agents; only quicker. */
async function startUi(): Promise<AsyncDisposable & { readonly link: string }> {
  const folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const ui = spawn(
    process.execPath,
    [MAIN, "ui", "--agent", "simulated", "--speed", "10", "--print-link", "--store", store],
    {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, DISPLAY: "" },
    },
  );
  const ended = once(ui, "exit");
  const [link] = (await once(createInterface({ input: ui.stdout }), "line")) as [string];
  return {
    link,
    [Symbol.asyncDispose]: async () => {
      ui.kill("SIGTERM");
      await ended;
      folder[Symbol.dispose]();
    },
  };
}

let ui: Awaited<ReturnType<typeof startUi>>;
let browser: Awaited<ReturnType<typeof visit>>;
let page: Page;
beforeAll(async () => {
  ui = await startUi();
  // Tall enough for all of it: what is far from the screen is not in the page.
  browser = await visit(ui.link, { height: 2_400, expected: GONE });
  page = browser.page;
});
afterAll(async () => {
  await browser[Symbol.asyncDispose]();
  await ui[Symbol.asyncDispose]();
});

const button = (name: string | RegExp): Locator => page.getByRole("button", { name });
const send = (): Promise<void> => page.getByRole("button", { name: "Send", exact: true }).click();
const answers = (words: RegExp): Locator => page.locator(".msg:not(.user) .prose", { hasText: words });

async function ask(): Promise<void> {
  await page.getByLabel("Message to the agent").fill(QUESTION);
  await send();
}

async function strike(failure: string): Promise<void> {
  await page.getByLabel("Simulate failure", { exact: true }).click();
  await page.getByTestId(`failure-${failure}`).click();
}

/** Whether the tour's frame lies around a prompt with these words. */
async function isFramed(words: string): Promise<boolean> {
  const frame = await page.locator(".tour-frame").boundingBox();
  const prompt = await page.locator(".msg.user", { hasText: words }).first().boundingBox();
  if (frame === null || prompt === null) return false;
  return frame.y <= prompt.y && frame.y + frame.height >= prompt.y + prompt.height && frame.height < 200;
}

/** Whether where it begins is beside the tour's card, and on the screen. */
async function isFrameFree(): Promise<boolean> {
  const frame = await page.locator(".tour-frame").boundingBox();
  const card = await page.locator(".tour-card").boundingBox();
  if (frame === null || card === null) return false;
  const height = page.viewportSize()?.height ?? 0;
  return frame.y >= 0 && frame.y < height && (frame.y < card.y || frame.y >= card.y + card.height);
}

/** It says the name once more than before. */
async function stillKnows(times: number): Promise<void> {
  await expect.poll(() => answers(/^Ada$/).count()).toBe(times);
}

test("told a fact, it still answers after a limit, a crash and a kill of the server, and is forked, edited, compared and replayed", async () => {
  await page.getByTestId("no-conversations").waitFor();
  await button("New").click();
  await button("My name is Ada").click();
  await expect.poll(() => page.getByLabel("Message to the agent").inputValue()).toBe("My name is Ada");
  await picture(page, "first-visit-new");
  await send();
  await answers(/your name is Ada/).waitFor();

  await strike("limit");
  await page.locator(".armed", { hasText: "Rate limit" }).waitFor();
  await ask();
  await page.locator(".ribbon[data-cause=parked]").waitFor();
  await page.locator(".go-on button").click();
  await stillKnows(1);
  await page.locator(".trouble-note.over", { hasText: "Rate limit" }).waitFor();

  await strike("empty");
  await button("Cancel").click();
  await expect.poll(() => page.locator(".armed").count()).toBe(0);
  await strike("crash");
  await page.locator(".armed", { hasText: "Crash" }).waitFor();
  await ask();
  await stillKnows(2);
  await page.locator(".ribbon[data-cause=again]").waitFor();
  await expect.poll(() => page.locator(".ribbon.roll").count()).toBe(0);

  await strike("kill_server");
  await page.locator(".trouble-note.over", { hasText: "came back" }).waitFor();
  await ask();
  await stillKnows(3);
  await page.locator(".ribbon[data-cause=lost]").waitFor();
  await picture(page, "first-visit-survived");

  const [address, first] = [page.url(), page.locator(".msg.user").first()];
  await first.hover();
  await button("Fork").first().click();
  await page.waitForURL((url) => url.href !== address);
  await expect.poll(() => page.getByLabel("Message to the agent").inputValue()).toBe("My name is Ada");
  await page.getByLabel("Message to the agent").fill("My name is Bea");
  await send();
  await answers(/your name is Bea/).waitFor();

  await page.goBack();
  await stillKnows(3);
  await first.hover();
  await button(/Edit/).first().click();
  await page.getByLabel("Edit message").fill("My name is Cleo");
  await button("Save as new branch and run").click();
  await answers(/your name is Cleo/).waitFor();
  await expect.poll(() => page.locator(".sib .n").first().textContent()).toBe("2/2");

  await page.getByRole("link", { name: "Tree", exact: true }).click();
  for (const words of ["My name is Cleo", "My name is Ada"]) {
    await page.locator(".tree-row", { hasText: words }).first().click();
    await button("Select to compare").click();
  }
  await page.getByRole("link", { name: "Compare" }).click();
  await page.waitForURL("**/diff?**");
  await page.getByTestId("parting").waitFor();

  await page.goBack();
  await page.getByRole("link", { name: "Conversation", exact: true }).click();
  await first.hover();
  await button("More actions").first().click();
  await page.getByRole("menuitem", { name: "Replay from here" }).click();
  await button("Start the replay").click();
  await page.waitForURL("**/replay/replay-*");
  await page.getByTestId("replay-completed").waitFor();
  await page.getByText(/^Same calls/).waitFor();
  await picture(page, "first-visit-replayed");
});

test("a link that was used leads on in a browser that is known, and says what to do in any other", async () => {
  await page.goto(ui.link);
  await page.locator(".list-row.item").first().waitFor();
  expect(new URL(page.url()).pathname).toBe("/");
  await using stranger = await visit(ui.link, { expected: /401/ });
  await stranger.page.getByRole("status").getByText("npm start").waitFor();
  await stranger.page.locator(".banner.bad").waitFor();
  expect(await stranger.page.locator("body").innerText()).not.toMatch(/Bearer|schemaVersion/);
  await expect.poll(() => stranger.page.getByRole("button", { name: "Take the tour" }).count()).toBe(0);
  await picture(stranger.page, "not-signed-in");
});

test("a server that is killed in the middle of an answer leaves what it said, and the rest comes after it", async () => {
  await page.getByRole("link", { name: "History" }).first().click();
  await button("New").click();
  const write = page.getByLabel("Message to the agent");
  await write.fill("My name is Ada; work 20000");
  await send();
  await page.locator(".msg", { hasText: "Step 3 of 20000" }).waitFor();
  await strike("kill_server");
  await page.locator(".msg", { has: page.getByTestId("interrupted") }).waitFor();
  await button("Continue").click();
  await page.locator(".msg[aria-busy=true]", { hasText: "of 20000" }).waitFor();
  await button("Stop this turn").click();
  await page.locator(".ribbon[data-cause=interrupted]").waitFor();
  await ask();
  await stillKnows(1);
});

test("the tour is taken by keys, shows a session that is survived, and is offered once", async () => {
  await page.goto(new URL("/", ui.link).href);
  await button("Take the tour").focus();
  await page.keyboard.press("Enter");
  const card = page.getByRole("complementary", { name: "Tour" });
  const titles: string[] = [];
  for (let step = 1; step <= 7; step++) {
    const heading = card.getByRole("heading", { name: `Step ${step} of 7` });
    await heading.waitFor();
    await expect.poll(() => heading.evaluate((one) => one.matches(":focus"))).toBe(true);
    titles.push((await heading.textContent()) ?? "");
    await page.locator(".tour-frame:visible").waitFor();
    if (step === 4) {
      await page.locator(".ribbon[data-cause=expired]").waitFor();
      await answers(/^Ada$/).waitFor();
      await expectAccessible(page);
      await picture(page, "tour-survived");
    }
    // The prompt that is edited, not the last one.
    if (step === 5) await expect.poll(() => isFramed("My name is Ada")).toBe(true);
    // From the heading: to end it, back, on.
    for (const _ of step === 1 ? [1, 2] : [1, 2, 3]) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
  }
  expect(titles.join()).toMatch(/History.*Conversation.*Simulate failure.*Survived.*Fork.*Tree.*Palette/);
  await card.waitFor({ state: "detached" });
  await expect.poll(() => page.locator(".tree-row", { hasText: "My name is Bea" }).count()).toBe(1);
  await page.goto(new URL("/", ui.link).href);
  await page.getByRole("link", { name: "A tour" }).first().waitFor();
  await expect.poll(() => button("Take the tour").count()).toBe(0);
  // Again by the palette; Escape ends it.
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).waitFor();
  await page.keyboard.type("minute tour");
  await page.getByRole("option", { name: /tour/, selected: true }).waitFor();
  await page.keyboard.press("Enter");
  await card.getByRole("heading").and(page.locator(":focus")).waitFor();
  await page.keyboard.press("Escape");
  await card.waitFor({ state: "detached" });
});

test("on a phone the tour is found behind More, and its card leaves free what it speaks of", async () => {
  await page.setViewportSize({ width: 390, height: 844 });
  await page.goto(new URL("/", ui.link).href);
  await button("More").click();
  await button(/2-minute tour/).click();
  const card = page.getByRole("complementary", { name: "Tour" });
  for (let step = 1; step <= 7; step++) {
    await card.getByRole("heading", { name: `Step ${step} of 7` }).waitFor();
    await page.locator(".tour-frame:visible").waitFor();
    await expect.poll(isFrameFree).toBe(true);
    await picture(page, `tour-phone-${step}`);
    await card.getByRole("button").last().click();
  }
  await card.waitFor({ state: "detached" });
  await page.setViewportSize({ width: 1440, height: 2_400 });
});

test("without an agent nothing can be sent, and the page says so; of two, the one that carried it goes on", async () => {
  await using none = await openUi();
  const alone = await none.open();
  await alone.getByText("This server has no agent").waitFor();
  await alone.getByRole("button", { name: "New" }).click();
  await alone.locator(".barred").waitFor();
  expect(await alone.getByRole("button", { name: "Send", exact: true }).isDisabled()).toBe(true);

  const simulated = simulatedSource(100);
  await using two = await openUi({
    agents: { other: { open: (space) => simulated.open(space) }, simulated },
  });
  const both = await two.open();
  await both.getByRole("button", { name: "New" }).click();
  const choice = both.getByLabel("Agent and model");
  await choice.waitFor();
  await expect.poll(() => both.getByLabel("Simulate failure", { exact: true }).count()).toBe(0);
  await choice.selectOption("simulated");
  await both.getByLabel("Simulate failure", { exact: true }).waitFor();
  await both.getByRole("button", { name: "My name is Ada" }).click();
  await both.getByRole("button", { name: "Send", exact: true }).click();
  await both.getByText("Noted: your name is Ada").waitFor();
  await both.reload();
  await both.getByLabel("Simulate failure", { exact: true }).waitFor();
});
