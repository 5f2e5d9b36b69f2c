import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { user } from "#log/message";
import { openUi, picture, type Ui } from "../support/browser.ts";

// Longer than any test: what is parked stays so.
const HOUR_MS = 3_600_000;

let ui: Ui;
beforeAll(async () => {
  ui = await openUi({ agents: { simulated: simulatedSource(100, HOUR_MS) } });
  const page = await ui.open();
  await page.getByRole("button", { name: "Load sample data" }).click();
  await page.waitForURL("**/c/sample");
  await ui.closePages();
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

test("a conversation shows its words, cards, ribbons and carriers, in both themes and at a phone's width", async () => {
  for (const theme of ["light", "dark"] as const) {
    const page = await ui.open({ theme, path: "/c/sample" });
    await page.getByText("Ada is the guest of honour. I cannot").first().waitFor();
    await page.locator(".ribbon.roll .up").first().waitFor();
    await page.locator(".tabs a", { hasText: /^Log51$/ }).waitFor();
    await page.locator(".tabs a", { hasText: /^Issues1$/ }).waitFor();
    await picture(page, `conversation-${theme}`);
    await page.mouse.wheel(0, -20_000);
    await page.getByText("The lemon cake is ordered. What").waitFor();
    await picture(page, `conversation-top-${theme}`);
  }
  const phone = await ui.open({ width: 390, height: 844, path: "/c/sample?at=u4" });
  await phone.locator(".entry.is-selected").waitFor();
  await picture(phone, "conversation-phone");
});

test("another way at the same prompt is one press away, and in the address", async () => {
  const page = await ui.open({ path: "/c/sample?at=u4" });
  await page.locator(".entry.is-selected .sib").waitFor();
  await expect.poll(() => page.locator(".entry.is-selected .sib .n").textContent()).toBe("2/2");
  await picture(page, "conversation-siblings");
  await page.keyboard.press("(");
  await page.getByText("I could, but which guests?").first().waitFor();
  expect(page.url()).toContain("at=u3");
  await expect.poll(() => page.locator(".entry.is-selected .sib .n").textContent()).toBe("1/2");
  // The conversation's own is not held at the end it has now.
  await page.keyboard.press(")");
  await page.waitForURL("**/c/sample?at=u4");
});

async function say(page: Page, words: string): Promise<void> {
  await page.getByLabel("Message to the agent").fill(words);
  await page.getByRole("button", { name: "Send", exact: true }).click();
}

const reply = (page: Page, words: string) =>
  page.locator(".msg:not(.user) .prose", { hasText: words }).last();

test("told a fact and struck by trouble, it still answers; two tabs see it as it happens", async () => {
  const page = await ui.open();
  await page.getByRole("button", { name: "New" }).click();
  await page.waitForURL("**/c/*");
  const other = await ui.open({ path: new URL(page.url()).pathname });
  await say(page, "remember guest=Ada");
  await reply(page, "guest").waitFor();
  await reply(other, "guest").waitFor();
  await page.getByLabel("Simulate failure", { exact: true }).click();
  await picture(page, "conversation-trouble");
  await page.getByRole("button", { name: "Empty answer" }).click();
  await page.locator(".armed").waitFor();
  await say(page, "recall guest");
  await reply(page, "Ada").waitFor();
  await page.locator(".ribbon[data-cause=empty]").waitFor();
  await other.locator(".ribbon[data-cause=empty]").waitFor();
  await reply(other, "Ada").waitFor();
  await picture(page, "conversation-survived");
});

test("what is written while its agent is parked is not sent, and waits where it was written", async () => {
  const page = await ui.open();
  await page.getByRole("button", { name: "New" }).click();
  await page.waitForURL("**/c/*");
  await page.getByLabel("Simulate failure", { exact: true }).click();
  await page.getByRole("button", { name: "Rate limit" }).click();
  await page.locator(".armed").waitFor();
  await say(page, "remember cake=lemon");
  await page.locator(".ribbon[data-cause=parked]").waitFor();
  await say(page, "recall cake");
  const conversation = await ui.holdfast.conversation(new URL(page.url()).pathname.slice("/c/".length));
  await expect.poll(() => conversation.facts(["turn_end"])).toHaveLength(2);
  await expect.poll(() => page.getByLabel("Message to the agent").inputValue()).toBe("recall cake");
  await expect.poll(() => page.locator(".msg.user").count()).toBe(1);
});

test("a prompt is edited on a branch of its own, and a fork goes its own way", async () => {
  const page = await ui.open();
  await page.getByRole("button", { name: "New" }).click();
  await page.waitForURL("**/c/*");
  await say(page, "remember venue=orchard");
  await reply(page, "venue").waitFor();
  await page.keyboard.press("Escape");
  await page.locator(".msg.user").hover();
  await page.getByRole("button", { name: /Edit/ }).first().click();
  await page.getByLabel("Edit message").fill("remember venue=garden");
  await page.keyboard.press("Control+Enter");
  await page.locator(".msg.user", { hasText: "garden" }).waitFor();
  await reply(page, "venue").waitFor();
  await page.locator(".sib .n", { hasText: "2/2" }).waitFor();
  await page.getByRole("button", { name: "Previous branch" }).first().click();
  await page.locator(".msg.user", { hasText: "orchard" }).waitFor();
  const before = page.url();
  await page.locator(".msg.user").first().hover();
  await page.getByRole("button", { name: "Fork" }).first().click();
  await page.waitForURL((url) => url.pathname !== new URL(before).pathname);
  await expect.poll(() => page.getByLabel("Message to the agent").inputValue()).toContain("remember venue=");
});

test("one that is erased elsewhere while it is open is no longer shown, and the page says so", async () => {
  const erased = await ui.holdfast.create({ id: "erased", title: "Soon gone" });
  await erased.append(user("A secret"));
  const page = await ui.open({ path: "/c/erased", expected: /status of 404|ERR_INCOMPLETE/ });
  await page.locator(".msg.user", { hasText: "A secret" }).waitFor();
  await erased.erase();
  const told = page.locator(".banner.bad", { hasText: "conversation_not_found" });
  await told.waitFor();
  await expect.poll(() => page.getByText("A secret").count()).toBe(0);
  await expect.poll(() => page.getByRole("link", { name: "Soon gone" }).count()).toBe(0);
  // It lies below the head, which has no tabs any more.
  const head = await page.locator(".head").boundingBox();
  expect((await told.boundingBox())?.y).toBeGreaterThanOrEqual((head?.y ?? 0) + (head?.height ?? 0));
  expect(await page.locator(".tabs a").count()).toBe(0);
  await picture(page, "conversation-erased");
});
