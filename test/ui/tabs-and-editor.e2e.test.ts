/** Two tabs of a browser and an editor on one conversation: each sees what the others do, as it happens. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { expect, test } from "vitest";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { openHoldfast } from "#open";
import { openBridge } from "../edges/acp/bridge.ts";
import { type Fields, fieldsOf, textOf } from "../support/scripted-agent/wire.ts";
import { openUi, picture } from "../support/browser.ts";

const says =
  (kind: string, text: string) =>
  (update: Fields): boolean =>
    update["sessionUpdate"] === kind && textOf(fieldsOf(update["content"])["text"]).includes(text);

const prompt = (page: Page, words: string) => page.locator(".msg.user", { hasText: words });
const reply = (page: Page, words: string) => page.locator(".msg:not(.user) .prose", { hasText: words });

test("a turn of the editor streams into both tabs, and one of a tab into the other tab and the editor", async () => {
  await using bridge = await openBridge({ like: "codex", killable: true });
  const { host, dir } = bridge;
  await using ui = await openUi({
    holdfast: await openHoldfast({ store: bridge.store }),
    agents: { simulated: simulatedSource(100) },
  });
  const id = await host.newSession();
  await host.prompt(id, "say first words");
  const tabs = [await ui.open({ path: `/c/${id}` }), await ui.open({ path: `/c/${id}` })] as const;
  for (const tab of tabs) await reply(tab, "first words").waitFor();

  // The editor's agent is in the middle of a tool: both tabs see prompt and call before there is an answer.
  const file = join(dir, "letter");
  const running = host.start(id, `tool-slow ${file} Dear Ada`);
  for (const tab of tabs) {
    await prompt(tab, "Dear Ada").waitFor();
    await tab.locator(".card", { hasText: "running" }).waitFor();
    await tab.getByRole("button", { name: "Stop this turn" }).waitFor();
  }
  await picture(tabs[0], "conversation-editor");
  writeFileSync(`${file}.go`, "");
  expect((await host.answerTo(running)).error).toBeNull();
  for (const tab of tabs) {
    await reply(tab, "Dear Ada").waitFor();
    await tab.locator(".card", { hasText: "done" }).waitFor();
    await tab.getByRole("button", { name: "Send", exact: true }).waitFor();
  }

  const from = host.messages.length;
  await tabs[0].getByLabel("Message to the agent").fill("remember guest=Ada");
  await tabs[0].keyboard.press("Enter");
  for (const tab of tabs) await reply(tab, "guest").waitFor();
  await prompt(tabs[1], "remember guest=Ada").waitFor();
  await host.update(says("user_message_chunk", "remember guest=Ada"), from);
  await host.update(says("agent_message_chunk", "guest"), from);
  const said = host.updates(id, from).filter(says("user_message_chunk", ""));
  expect(said).toHaveLength(1);

  // And back: the editor's agent is told of it, and goes on.
  const { error, text } = await host.prompt(id, "say last words");
  expect([error, text]).toEqual([null, "last words"]);
  for (const tab of tabs) await reply(tab, "last words").waitFor();
});
