/** What a person does in a conversation, each thing once, in a real browser; an agent whose steps the test releases answers. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import type { EntryBody } from "#log/entry";
import { assistant, user } from "#log/message";
import { KEY_TABLE, keyWords } from "../../ui/src/frame/key-table.ts";
import { openUi, picture, setVisibility, type Ui } from "../support/browser.ts";
import { gate, MODELS, releasedAgent, resetGates } from "./released-agent.ts";

let ui: Ui;
let page: Page;
let log: Conversation;

beforeAll(async () => {
  resetGates();
  ui = await openUi({ agents: { loop: { open: releasedAgent, models: MODELS } } });
  await ui.holdfast.create({ id: "older", title: "Older" });
  log = await ui.holdfast.create({ id: "acts", title: "Acts" });
  page = await ui.open({
    path: "/c/acts",
    expected: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE|ERR_EMPTY|status of 401/,
  });
  await page.getByRole("button", { name: "Send" }).waitFor();
});
afterAll(() => ui[Symbol.asyncDispose]());

const composer = () => page.getByLabel("Message to the agent");
const prose = (words: string) => page.locator(".msg:not(.user) .prose", { hasText: words });

/** A prompt, or words for the turn that runs. */
async function say(words: string, as: "Send" | "Send now" = "Send"): Promise<void> {
  await page.getByRole("button", { name: as, exact: true }).waitFor();
  await composer().fill(words);
  await composer().press("Enter");
}

async function toEnd(): Promise<void> {
  await page.locator("main").focus();
  await page.keyboard.press("g");
  await page.keyboard.press("l");
}

async function ended(): Promise<string | null> {
  const last = (await log.facts(["turn_end"])).at(-1);
  return last?.type === "turn_end" ? last.outcome : null;
}

test("a call waits for a person, who allows or denies it; what was thought is folded", async () => {
  await say("Post it");
  const asked = page.getByRole("group", { name: "Waiting for you" });
  await asked.getByText("post", { exact: true }).waitFor();
  await page.locator(".card .res", { hasText: /waiting for you/i }).waitFor();
  await picture(page, "conversation-approval");
  await asked.getByRole("button", { name: "Allow" }).click();
  await prose("It is posted.").waitFor();
  await expect.poll(() => prose("It is posted.").locator("strong").textContent()).toBe("posted");
  await asked.waitFor({ state: "detached" });
  const thought = page.getByRole("button", { name: /^thought/ }).first();
  expect(await thought.getAttribute("aria-expanded")).toBe("false");
  await expect.poll(() => page.getByText("A letter is wanted.").count()).toBe(0);
  await thought.click();
  await page.getByText("A letter is wanted.").first().waitFor();
  await say("Post another");
  await asked.getByRole("button", { name: "Deny" }).click();
  await prose("Then not.").waitFor();
  await expect.poll(() => page.locator(".card .res", { hasText: "failed" }).count()).toBe(1);
  const answers = await log.facts(["permission_answer"]);
  expect(answers).toMatchObject([{ outcome: "allowed" }, { outcome: "denied" }]);
});

test("words come while they are said; a turn that runs is steered, and the steer is answered", async () => {
  await say("Work");
  const writing = page.getByRole("article", { name: "Being written" });
  await writing.getByText("Working, word by word").waitFor();
  await picture(page, "conversation-writing");
  await say("Faster", "Send now");
  await expect.poll(async () => (await log.facts(["steer"])).length).toBeGreaterThan(0);
  gate("work").resolve();
  await prose("As fast as I can").waitFor();
  await page.locator(".msg.user", { hasText: "Faster" }).waitFor();
  await expect.poll(() => prose("Working, word by word").count()).toBe(1);
  await expect.poll(ended).toBe("completed");
});

test("a turn is stopped, says so, and is gone on with; one that failed is sent again", async () => {
  await say("Run on");
  await prose("Running on").waitFor();
  await page.getByRole("button", { name: "Stop this turn" }).click();
  await page.locator(".ribbon[data-cause=interrupted]").waitFor();
  await expect.poll(ended).toBe("interrupted");
  await page.getByRole("button", { name: "Continue" }).click();
  await prose("Gone on with").waitFor();
  await expect.poll(ended).toBe("completed");
  await page.getByRole("button", { name: "Continue" }).waitFor({ state: "detached" });
  await say("Fail");
  await page.locator(".ribbon[data-cause=failed]").waitFor();
  await page.getByRole("button", { name: "Send the prompt again" }).click();
  await prose("Answered").waitFor();
  await expect.poll(ended).toBe("completed");
  await expect.poll(() => page.locator(".msg.user", { hasText: "Fail" }).count()).toBe(1);
});

test("another model is chosen for the next prompt", async () => {
  await page.getByLabel("Agent and model").selectOption({ label: "loop, scripted/two" });
  await say("Who are you?");
  await page.locator(".msg .who", { hasText: "two" }).first().waitFor();
});

test("a message is hidden, brought back and labelled, and a conversation renamed", async () => {
  const prompt = page.locator(".msg.user", { hasText: "Who are you?" });
  await prompt.hover();
  await prompt.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Hide from the model" }).click();
  await prompt.getByTestId("hidden").waitFor();
  await prompt.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Show to the model" }).click();
  await prompt.getByTestId("hidden").waitFor({ state: "detached" });
  await prompt.getByRole("button", { name: /^More/ }).click();
  await page.getByRole("menuitem", { name: "Label" }).click();
  await page.getByRole("textbox", { name: "Label" }).fill("a question");
  await page.keyboard.press("Enter");
  await prompt.locator(".tag", { hasText: "a question" }).waitFor();
  await page.getByRole("button", { name: "Acts", exact: true }).click();
  await page.getByLabel("Title").fill("Letters");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Letters" }).waitFor();
});

// One red pixel.
const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg==";

test("images are shown; the views leave out what they say, and keys go through them", async () => {
  const blob = await log.putBlob(Buffer.from(PNG, "base64"));
  const content = [{ type: "image", mediaType: "image/png", blob }] as const;
  await log.append({ type: "message", message: { role: "user", content } });
  const image = page.locator("img.shown-image");
  await image.waitFor();
  await expect
    .poll(() => page.evaluate<number>("document.querySelector('img.shown-image').naturalWidth"))
    .toBe(1);
  await page.locator("main").focus();
  await page.keyboard.press("v");
  await page.getByRole("button", { name: "Focused", pressed: true }).waitFor();
  await expect.poll(() => page.locator(".card", { hasText: /done/ }).count()).toBe(0);
  await page.keyboard.press("v");
  await page.getByText('"parentId":').first().waitFor();
  await page.keyboard.press("v");
  await page.locator(".card").first().waitFor();
  expect(page.url()).not.toContain("view=");
});

const isSelected = (words: string) => page.locator(".entry.is-selected", { hasText: words });

test("keys do what their help says, not where somebody types, and can be switched off", async () => {
  await log.append(user("The last of them"));
  await toEnd();
  await page.locator(".msg.user", { hasText: "The last of them" }).waitFor();
  await page.locator("main").focus();
  // Keys are bound to what is drawn once it is.
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))");
  await page.keyboard.press("K");
  await isSelected("The last of them").waitFor();
  await page.keyboard.press("y");
  const at = new URL(page.url()).searchParams.get("at") ?? "";
  expect(await page.evaluate<string>("navigator.clipboard.readText()")).toBe(`acts@${at}`);
  await page.keyboard.press("s");
  await page.getByRole("textbox", { name: "Label" }).press("Escape");
  await page.locator("main").focus();
  await page.keyboard.press("Escape");
  await expect.poll(() => page.url()).not.toContain("at=");

  await page.keyboard.press("/");
  await page.getByRole("combobox", { name: "Find in this conversation" }).fill("Running");
  await page.getByRole("option", { name: /Running on/ }).waitFor();
  await page.keyboard.press("Enter");
  await isSelected("Running on").waitFor();
  // It was cut off: nothing should go on behind it.
  await isSelected("Running on").getByRole("button", { name: /^Fork/ }).hover();
  await page.getByText("This answer was cut off.").first().waitFor();
  await picture(page, "conversation-no-fork");
  await page.locator("main").focus();
  await page.keyboard.press("f");
  await page.getByRole("status").filter({ hasText: "cut off" }).waitFor();
  expect(new URL(page.url()).pathname).toBe("/c/acts");
  await page.keyboard.press("h");
  await isSelected("Run on").waitFor();

  await page.keyboard.press("?");
  const help = page.getByRole("dialog", { name: "Keyboard shortcuts" });
  await help.locator("kbd").first().waitFor();
  const told = await help.locator("kbd").allTextContents();
  const wanted = Object.values(KEY_TABLE).filter(
    ({ where }) => where === "conversation" || where === "everywhere",
  );
  expect(new Set(told)).toEqual(new Set(wanted.map(({ keys }) => keyWords(keys))));
  await picture(page, "keys");
  await help.getByRole("checkbox").uncheck();
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await page.locator("main").focus();
  await page.keyboard.press("t");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or jump" }).fill("Keyboard");
  await page.keyboard.press("Enter");
  expect(new URL(page.url()).pathname).toBe("/c/acts");
  await help.getByRole("checkbox").check();
  await page.keyboard.press("Escape");
  await help.waitFor({ state: "detached" });
  await composer().pressSequentially("to v");
  await expect.poll(() => composer().inputValue()).toBe("to v");
  expect(new URL(page.url()).pathname + new URL(page.url()).searchParams.get("view")).toBe("/c/actsnull");
  await composer().fill("");
  await page.locator("main").focus();
  await page.keyboard.press("t");
  await page.waitForURL("**/c/acts/tree**");
  await page.getByRole("tree").waitFor();
  await page.keyboard.press("t");
  await page.waitForURL("**/c/acts");
  await prose("Answered").first().waitFor();
  await page.keyboard.press("]");
  await page.waitForURL("**/c/older");
  await page.getByTestId("note-conversation").waitFor();
  await page.keyboard.press("[");
  await page.waitForURL("**/c/acts");
  await prose("Gone on with").first().waitFor();
});

/** Many lines, so that there is somewhere to scroll. */
const tall = (words: string): EntryBody => assistant(`${words}\n\n${"- a line\n".repeat(30)}`);

test("the end is followed until somebody scrolls up; what comes is counted, and one press away", async () => {
  const atEnd = (): Promise<boolean> =>
    page.evaluate<boolean>(
      "window.scrollY + window.innerHeight >= document.documentElement.scrollHeight - 130",
    );
  await toEnd();
  await log.append([tall("One"), tall("Two"), tall("Three")]);
  await prose("Three").waitFor();
  await expect.poll(atEnd).toBe(true);
  await page.mouse.move(600, 400);
  await page.mouse.wheel(0, -600);
  const pill = page.locator(".new-pill");
  await pill.waitFor();
  await expect.poll(atEnd).toBe(false);
  const y = await page.evaluate<number>("window.scrollY");
  await log.append([user("Four"), tall("Five")]);
  await pill.getByText("2 new").waitFor();
  expect(Math.abs((await page.evaluate<number>("window.scrollY")) - y)).toBeLessThan(200);
  await pill.click();
  await prose("Five").waitFor();
  await expect.poll(atEnd).toBe(true);
  await pill.waitFor({ state: "detached" });
  await log.append(tall("Six"));
  await prose("Six").waitFor();
});

test("a server that goes away takes nothing from the page, and words that were not sent stay", async () => {
  const shown = await prose("Six").count();
  await ui.stop();
  await say("Unsent words");
  const banner = page.locator(".banner", { hasText: "not responding" });
  await banner.waitFor();
  await expect.poll(() => composer().inputValue()).toBe("Unsent words");
  await expect.poll(() => prose("Six").count()).toBe(shown);
  await log.append(tall("Meanwhile"));
  await ui.start();
  await prose("Meanwhile").waitFor();
  await banner.waitFor({ state: "detached" });
  await expect.poll(() => composer().inputValue()).toBe("Unsent words");
  await composer().press("Enter");
  await page.locator(".msg.user", { hasText: "Unsent words" }).waitFor();
  await expect.poll(ended).toBe("completed");
});

test("a tab that nobody looks at lets go of its stream, and catches up", async () => {
  const isStream = (request: { url(): string }): boolean => request.url().includes("/api/events");
  const over = page.waitForEvent("requestfailed", isStream);
  await setVisibility(page, "hidden");
  await over;
  await log.append(tall("While away"));
  const begun = page.waitForEvent("request", isStream);
  await setVisibility(page, "visible");
  await begun;
  await prose("While away").waitFor();
});

test("a browser that is not known any more is told what to do, and goes on when it is let in again", async () => {
  await page.context().clearCookies();
  await say("Kept words");
  const banner = page.locator(".banner", { hasText: "signed out" });
  await banner.getByText("holdfast ui").waitFor();
  await expect.poll(() => composer().inputValue()).toBe("Kept words");
  await log.append(tall("Unseen"));
  await ui.signIn(page.context());
  await prose("Unseen").waitFor();
  await banner.waitFor({ state: "detached" });
  await expect.poll(() => composer().inputValue()).toBe("Kept words");
});
