/**
 * Goal: a conversation opens with few requests, and none of them is made twice.
 * Method: a real browser; every request to the API is counted until the page shows all that it shows.
 */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { assistant, toolResult, user } from "#log/message";
import { openUi, type Ui } from "../support/browser.ts";

const REQUESTS_MAX = 4;

let ui: Ui;
beforeAll(async () => {
  ui = await openUi({ agents: { simulated: simulatedSource(100) } });
  const log = await ui.holdfast.create({ id: "rolled", title: "Rolled over" });
  for (const [turn, upstream] of [
    ["t1", "s1"],
    ["t2", "s2"],
  ] as const)
    await log.append([
      { ...user(`Asked in ${turn}`), id: `u-${turn}` },
      { type: "turn_start", turn, prompt: `u-${turn}` },
      { type: "upstream_link", upstream, agent: "simulated", reason: turn === "t1" ? "first" : "expired" },
      { type: "attempt", turn, upstream },
      { type: "tool_intent", call: turn, name: "email", input: {}, turn },
      assistant([{ type: "toolCall", id: turn, name: "email", input: {} }]),
      toolResult(turn, "sent"),
      { ...assistant(`Answered in ${turn}`), id: `a-${turn}` },
      { type: "turn_end", turn, outcome: "completed" },
      { type: "label", target: `u-${turn}`, label: `label ${turn}` },
    ]);
  await log.append({ ...user("Asked otherwise"), id: "other", parentId: "a-t1" });
  await log.append({ type: "turn_start", turn: "t3", prompt: "other" });
  await log.goTo("a-t2");
  await log.fork({ id: "fork", at: "a-t1" });
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

/** The paths of what a page asks the server for, until it has asked for nothing for a while. */
async function requestsOf(
  page: Page,
  path: string,
  isShown: () => Promise<unknown>,
): Promise<readonly string[]> {
  await page.goto("about:blank"); // what the page before asks for late is not counted
  const asked: string[] = [];
  page.on("request", (request) => {
    const { pathname } = new URL(request.url());
    if (pathname.startsWith("/api/")) asked.push(`${request.method()} ${pathname}`);
  });
  await page.goto(`${ui.url}${path}`);
  await isShown();
  await expect.poll(() => asked.some((one) => one.endsWith("/api/events"))).toBe(true);
  await page.waitForLoadState("load");
  // What is asked for late counts, too: badges are gathered, and streams are opened anew.
  await page.evaluate("new Promise((over) => setTimeout(over, 1000))");
  return asked.toSorted();
}

test("a conversation with sessions, branches, labels and tools opens with four requests at most", async () => {
  const page = await ui.open();
  const asked = await requestsOf(page, "/c/rolled", async () => {
    await page.getByText("Answered in t2").first().waitFor();
    await page.locator(".ribbon.roll").waitFor();
    await page.locator(".sib .n", { hasText: "/2" }).first().waitFor();
    await page.locator(".tag", { hasText: "label t2" }).waitFor();
  });
  expect([...new Set(asked)]).toEqual(asked);
  expect(asked.length).toBeLessThanOrEqual(REQUESTS_MAX);
});

test("so do a fork, an entry of another branch, and one that is opened from the history", async () => {
  const page = await ui.open();
  for (const [path, text] of [
    ["/c/fork", "Answered in t1"],
    ["/c/rolled?at=other", "Asked otherwise"],
    ["/c/rolled?at=u-t1", "Asked in t1"],
  ] as const) {
    const asked = await requestsOf(page, path, () => page.getByText(text).first().waitFor());
    page.removeAllListeners("request");
    expect([...new Set(asked)]).toEqual(asked);
    expect(asked.length).toBeLessThanOrEqual(REQUESTS_MAX);
  }
  await page.goto(ui.url);
  await page.locator('[data-conversation="rolled"]').waitFor();
  const asked: string[] = []; // but for the preview in the history
  page.on(
    "request",
    (request) =>
      void (/\/rolled\/(?!history|chain|effects)/.test(request.url()) && asked.push(request.url())),
  );
  await page.evaluate(
    'history.pushState(null, "", "/c/rolled"); dispatchEvent(new PopStateEvent("popstate"))',
  );
  await page.getByText("Answered in t2").first().waitFor();
  expect(asked).toHaveLength(1);
});
