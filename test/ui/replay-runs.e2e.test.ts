/** A replay is asked for, watched, stopped and compared; the runs of a conversation are looked into. */
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { openModel } from "#agent/models/open-model";
import type { ReplayAgent } from "#agent/replay/replay-options";
import type { Conversation } from "#conversation/conversation";
import { simulatedEmail } from "#edges/cli/serve/simulated-agent";
import { assistant, toolResult, user } from "#log/message";
import type { EntryBody } from "#log/entry";
import { hydrateRun } from "#conversation/hydrate";
import { hydratedText } from "#transfer/context-text";
import type { Tool } from "#turn/effects/tool";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { openUi, picture, type Ui } from "../support/browser.ts";
import { spaceOf } from "#conversation/on-space";

let ui: Ui;
const sent: string[] = [];
const email: Tool = {
  ...simulatedEmail,
  run: async (input) => {
    sent.push(JSON.stringify(input));
    return "Sent";
  },
};
/** Answers once, then says the beginning of something and no more. */
let stalled = new ScriptedModel([]);

async function modelOf(given: unknown): ReturnType<typeof openModel> {
  if (given !== "stalled") return openModel(String(given));
  const price = { input: 1, output: 1 };
  return openModel({ id: "stalled", model: stalled, window: null, maxOutput: null, price });
}

const agent: ReplayAgent = { tools: [email], openModel: modelOf, instructions: false };

const PARTY: readonly EntryBody[] = [
  { ...user("remember guest=Ada"), id: "p1" },
  { ...assistant("Noted guest=Ada"), id: "a1" },
  { ...user("email baker about <b>the cake</b> \u202Eekac"), id: "p2" },
  {
    type: "message",
    id: "a2",
    message: {
      role: "assistant",
      content: [
        {
          type: "toolCall",
          id: "c1",
          name: "send_email",
          input: { to: "baker", about: "<b>the cake</b> \u202Eekac" },
        },
      ],
    },
  },
  toolResult("c1", "Sent"),
  { ...assistant("Sent it."), id: "a3" },
  { ...user("recall guest"), id: "p3" },
  { ...assistant("Ada"), id: "a4" },
];

beforeAll(async () => {
  ui = await openUi({
    replays: { models: ["sim", "sim/cautious", "stalled"], agent: () => agent },
  });
  await ui.holdfast.create({ id: "party", title: "Plan the party", entries: PARTY });
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

const start = (page: Page) => page.getByRole("button", { name: "Start the replay" });

test("from a message on, two models are asked; where they part is told, and leads to the comparison", async () => {
  const page = await ui.open({ path: "/c/party?at=a3" });
  await page.locator(".msg", { hasText: "Sent it." }).hover();
  await page.locator(".msg", { hasText: "Sent it." }).getByRole("button", { name: "More actions" }).click();
  await page.getByRole("menuitem", { name: "Replay from here" }).click();
  await page.waitForURL("**/replay?conversation=party&at=a3");
  // The prompt that it came of is sent again, and what was said before is kept.
  const from = page.getByLabel("From prompt");
  await expect.poll(() => from.inputValue()).toBe("2");
  await expect.poll(() => page.getByTestId("replay-scope").textContent()).toMatch(/2 prompts.*1 turn/);
  await page.getByLabel("sim/cautious").check();
  await picture(page, "replay-form-light");
  await from.selectOption({ label: "1 of 3: remember guest=Ada" });
  await page.waitForURL("**&at=p1&models=sim%2Csim%2Fcautious");
  await expect.poll(() => page.getByTestId("replay-scope").textContent()).toMatch(/3 prompts/);
  await start(page).click();
  await page.waitForURL("**/replay/replay-*");
  await page.getByTestId("replay-completed").waitFor();
  const other = page.getByRole("article", { name: "Result of sim/cautious" });
  await other.getByText(/^Differs from turn 2: send_email baker → no call/).waitFor();
  await page
    .getByRole("article", { name: "Result of sim", exact: true })
    .getByText(/^Same calls/)
    .waitFor();
  await expect.poll(() => page.locator(".replay-turn").count()).toBe(6);
  await expect.poll(() => page.locator(".turn-bar .diverged").count()).toBe(1);
  // Each turn says which prompt it is, whatever that holds.
  const parted = page.locator(".replay-turn.is-diverged");
  await parted.getByRole("link", { name: "email baker about <b>the cake</b> ‹U+202E›ekac" }).waitFor();
  await picture(page, "replay-result-light");
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "replay-result-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
  await picture(page, "replay-result-phone");
  await page.setViewportSize({ width: 1440, height: 900 });
  expect(sent).toEqual([]);
  await other.getByRole("link", { name: "Compare with the original" }).click();
  await page.waitForURL("**/diff?a=party%40a4&b=*");
  await page.getByText("First divergence: turn 2").waitFor();
  await page.goBack();
  await other.getByRole("link", { name: "Open its fork" }).click();
  await page.getByRole("link", { name: "from a replay" }).click();
  await page.locator(".replay-row", { hasText: "5 same, 1 different" }).waitFor();
});

test("a replay is watched in two tabs, goes on being shown after a reload, and is stopped in its middle", async () => {
  stalled = new ScriptedModel([
    { text: "Noted" },
    { text: "Begun", until: Promise.withResolvers<void>().promise },
  ]);
  const page = await ui.open({ path: "/replay?conversation=party&models=stalled&cost=0.5" });
  await start(page).waitFor();
  await page.getByLabel("From prompt").focus();
  await page.keyboard.press("Control+Enter");
  await page.waitForURL("**/replay/replay-*");
  const underWay = (tab: Page) => tab.locator(".replay-turn.is-running", { hasText: "2 of 3" });
  await underWay(page).waitFor();
  await page.reload();
  await underWay(page).waitFor();
  const other = await ui.open({ path: new URL(page.url()).pathname, width: 390, height: 844 });
  await underWay(other).waitFor();
  await page.bringToFront();
  await picture(page, "replay-running-light");
  expect(await page.locator(".replay-cards").innerText()).toMatch(/of \$0\.50 for each model/);
  await picture(other, "replay-running-phone");
  await other.getByRole("button", { name: /^Stop/ }).click();
  for (const tab of [page, other]) await tab.locator(".head .tag", { hasText: "stopped" }).waitFor();
  await page
    .getByRole("article", { name: "Result of stalled" })
    .getByText(/up to turn 2 of 3/)
    .waitFor();
  await expect.poll(() => page.getByRole("button", { name: "Stop the replay" }).count()).toBe(0);
  await page.goto(`${ui.url}/replay?conversation=party`);
  await page.locator(".replay-row", { hasText: /stopped.*1 same, 0 different/ }).waitFor();
  await picture(page, "replay-list-light");
});

test("live tools are agreed to one by one, and every effect waits for a person", async () => {
  const page = await ui.open({ path: "/replay?conversation=party&at=p2&turns=1" });
  await page.getByLabel(/^Live/).check();
  await page.waitForURL("**&tools=live");
  expect(await start(page).isDisabled()).toBe(true);
  await page.getByTestId("replay-refusal").getByText("send_email").waitFor();
  await picture(page, "replay-live-light");
  await page.getByLabel(/send_email may run again/).check();
  await start(page).click();
  const waiting = page.getByRole("group", { name: "Waiting for you" });
  await waiting.getByRole("button", { name: "Allow" }).waitFor();
  expect(sent).toEqual([]);
  await picture(page, "replay-asks-light");
  await waiting.getByRole("button", { name: "Allow" }).click();
  await page.getByTestId("replay-completed").waitFor();
  expect(sent).toEqual([JSON.stringify({ to: "baker", about: "<b>the cake</b> \u202Eekac" })]);
});

test("what cannot be replayed is said in the page; without a conversation one is offered", async () => {
  const page = await ui.open({ path: "/replay?conversation=nothing", expected: /404/ });
  await page.getByRole("alert").filter({ hasText: "conversation_not_found" }).waitFor();
  await page.goto(`${ui.url}/replay`);
  await page
    .getByRole("link", { name: /Plan the party/ })
    .first()
    .click();
  await start(page).waitFor();
  await page.getByRole("textbox", { name: "turns" }).fill("x");
  await page.getByTestId("replay-refusal").getByText(/turns/).waitFor();
  expect(await start(page).isDisabled()).toBe(true);
});

/** Runs of our own loop: one of an email with seeds, one of a chat, and one that broke off in a call. */
async function writeRuns(): Promise<Conversation> {
  const inbox = await ui.holdfast.create({ id: "inbox", title: "Invoice 17" });
  const permission = (): "allow" => "allow";
  await using loop = new Agent(ui.holdfast, { ...agent, tools: [simulatedEmail], permission, model: "sim" });
  const seeds = [
    { role: "system", content: "You answer for billing@example.org." },
    { role: "user", content: "From: anna@example.org\n\nremember invoice=17 <script>", isNew: true },
  ] as const;
  const trigger = { type: "email", id: "<17@example.org>" };
  const { run } = await loop.startRun(inbox, trigger, { mailbox: "billing", seeds });
  await loop.carryRun(inbox, run);
  await loop.send(inbox, "email anna about invoice 17", { run: { trigger: { type: "chat", id: "1" } } });
  await inbox.append([
    { type: "state_change", state: { invoice: 17, exact: "é" } },
    { type: "run_start", run: "broken", trigger: "timer" },
    { type: "turn_start", turn: "t9", run: "broken" },
    { type: "tool_intent", call: "c9", name: "send_email", input: { to: "ben" }, turn: "t9" },
    { type: "turn_end", turn: "t9", outcome: "failed", class: "crashed" },
    { type: "run_end", run: "broken", status: "failed", error: { message: "It crashed", code: "crashed" } },
  ]);
  return inbox;
}

const EXACT_RUN = `fetch("/api/conversations/inbox/entries", {
  method: "POST",
  headers: { "content-type": "application/json", "holdfast-client": "1" },
  body: '{"entries":[{"type":"run_start","run":"exact","trigger":"exact"},{"type":"turn_start","turn":"t10","run":"exact"},' +
    '{"type":"state_change","state":{"sum":12345678901234567890}},{"type":"turn_end","turn":"t10","outcome":"completed"},' +
    '{"type":"run_end","run":"exact","status":"completed"}]}',
}).then((response) => { if (!response.ok) throw new Error(String(response.status)); })`;

test("runs are listed, opened by keys and told step by step; what would be restored is there to the letter", async () => {
  const inbox = await writeRuns();
  const page = await ui.open({ path: "/c/inbox/runs" });
  const rows = page.locator(".run-row");
  await rows.nth(2).waitFor();
  await expect
    .poll(() => rows.locator("b").allInnerTexts())
    .toEqual(["timer", "chat 1", "email <17@example.org>"]);
  await page.keyboard.press("j");
  await page.waitForURL("**/runs?run=broken");
  await page.locator(".run-step", { hasText: "ben" }).getByText("outcome unknown").waitFor();
  await page.keyboard.press("j");
  const details = page.getByRole("article", { name: "Run" });
  await details.locator(".run-step", { hasText: "send_email, recorded first" }).getByText("done").waitFor();
  await picture(page, "runs-light");
  // A number that no program holds: it is in the log, and so it is copied.
  await page.evaluate(EXACT_RUN);
  await page.locator(".run-row", { hasText: "exact" }).click();
  await page.getByRole("button", { name: /^JSON/ }).click();
  await page.waitForURL("**/runs?run=exact&show=json");
  await details.getByRole("button", { name: "Copy JSON" }).click();
  const copied = await page.evaluate<string>("navigator.clipboard.readText()");
  expect(copied).toContain("12345678901234567890");
  expect(copied).toBe(hydratedText(await hydrateRun(spaceOf(ui.holdfast), "exact", inbox.id)));
  await page.reload();
  await details.getByTestId("about-json").waitFor();
  await page.getByRole("button", { name: /^State/ }).click();
  await details.getByText("12345678901234567890").waitFor();
  await page.locator(".run-row", { hasText: "email" }).click();
  await page.getByRole("button", { name: /^Run inputs/ }).click();
  await details.getByText("remember invoice=17 <script>").waitFor();
  await page.emulateMedia({ colorScheme: "dark" });
  await picture(page, "runs-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await picture(page, "runs-phone");
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
});

test("a run that is begun elsewhere appears; one is gone on with in a fork from any message, replayed, and found among all", async () => {
  const page = await ui.open({ path: "/c/inbox/runs" });
  await page.locator(".run-row").nth(2).waitFor();
  const inbox = await ui.holdfast.conversation("inbox");
  await inbox.append([{ type: "run_start", run: "later", trigger: "timer", triggerId: "2" }]);
  await page.locator(".run-row", { hasText: "timer 2" }).getByText("running").waitFor();
  await page.locator(".run-row", { hasText: "chat 1" }).click();
  await page.getByRole("button", { name: /^Its messages/ }).click();
  await page.locator(".restored").first().getByRole("button", { name: "Fork here" }).click();
  await page.waitForURL(/\/c\/(?!inbox)[^/]+$/);
  const fork = new URL(page.url()).pathname.slice("/c/".length);
  await page.goto(`${ui.url}/c/${fork}/runs`);
  await page.locator(".run-row", { hasText: "fork" }).click();
  await page
    .getByRole("button", { name: /^[\w-]+$/ })
    .first()
    .waitFor();
  await page.goto(`${ui.url}/runs?trigger=chat`);
  await page.locator(".all-runs-row", { hasText: "Invoice 17" }).waitFor();
  await picture(page, "all-runs-light");
  await page.locator(".all-runs-row").click();
  await page.waitForURL("**/c/inbox/runs?run=*");
  await page.getByRole("link", { name: "Replay this run" }).click();
  await page.getByTestId("replay-scope").waitFor();
  await page.goto(`${ui.url}/c/party/runs`);
  await page.getByTestId("no-runs").waitFor();
});
