import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { openUi, picture, type Ui } from "../support/browser.ts";

const DAY_MS = 86_400_000;
const MODELS = ["example/large", "example/small", "example/tiny", "モデル/四", "no-price/at-all"];
const LONG = "A title that goes on and on, past what any column has room for, مرحبا بالعالم, and further";

/** Turns on several days: contexts that grow, a rollover, a compaction, another model, one without a price. */
function turns(count: number, nowMs: number): readonly EntryBody[] {
  return Array.from({ length: count }, (_, at): readonly EntryBody[] => {
    const time = new Date(nowMs - (count - at) * (DAY_MS / 4)).toISOString();
    const model = MODELS[at % 9 === 8 ? 4 : at % 4] ?? "";
    const context = 4_000 + (at % 12) * 3_000;
    const usage = { inputTokens: 900, cacheReadTokens: context, outputTokens: 70 + at };
    const cost = at % 9 === 8 ? {} : { costMicros: 9_000 + context };
    const upstream = `session-${Math.floor(at / 7)}`;
    return [
      {
        type: "message",
        id: `u${at}`,
        time,
        message: { role: "user", content: [{ type: "text", text: "Go on" }] },
      },
      { type: "turn_start", turn: `t${at}`, prompt: `u${at}`, time },
      ...(at % 7 === 0
        ? [
            {
              type: "upstream_link",
              upstream,
              agent: "sim",
              reason: at === 0 ? "new" : "rate_limit",
              time,
            } as const,
          ]
        : []),
      { type: "attempt", turn: `t${at}`, upstream, time },
      {
        type: "message",
        time,
        message: {
          role: "assistant",
          model,
          content: [{ type: "text", text: "Yes" }],
          usage: { ...usage, ...cost },
        },
      },
      { type: "turn_end", turn: `t${at}`, outcome: "completed", upstream, time },
      ...(at % 12 === 11
        ? [{ type: "compaction", summary: "So far", tokensBefore: context, time } as const]
        : []),
    ];
  }).flat();
}

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
  const nowMs = Date.now();
  const long = await ui.holdfast.create({ id: "long", title: LONG });
  await long.append(turns(24, nowMs));
  const other = await ui.holdfast.create({ id: "other", title: "<b>Not bold</b>" });
  await other.append(turns(3, nowMs));
  const fork = await long.fork({ id: "fork" });
  await fork.append([
    { type: "run_start", run: "r", trigger: "replay" },
    { type: "turn_start", turn: "t", run: "r" },
    {
      type: "message",
      message: {
        role: "assistant",
        model: MODELS[0] ?? "",
        content: [],
        usage: { inputTokens: 5_000, costMicros: 77_000 },
      },
    },
    { type: "turn_end", turn: "t", outcome: "completed" },
  ]);
  await ui.holdfast.create({ id: "empty" });
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

const WIDER = `[...document.querySelectorAll("main *")]
  .filter((one) => !one.closest(".scroll-x, .tabs, svg") && one.getBoundingClientRect().right > innerWidth + 1)
  .map((one) => one.className)`;

/** Goes there as a link does. */
async function goTo(page: Page, address: string): Promise<void> {
  await page.evaluate(
    `history.pushState(null, "", ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent("popstate"));`,
  );
}

/** Nothing sticks out at the side. */
async function expectNarrow(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate(WIDER)).toEqual([]);
  expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(390);
}

test("usage over time is a chart and the same numbers, with replays apart and what is shared counted once", async () => {
  const page = await ui.open({ path: "/usage" });
  await page.locator(".chart .tone-0").first().waitFor();
  await picture(page, "usage-light");
  await page.getByRole("button", { name: "Per conversation" }).press("Enter");
  const all = (await ui.holdfast.conversation("long").then((one) => one.usage())).costMicros ?? 0;
  const other = (await ui.holdfast.conversation("other").then((one) => one.usage())).costMicros ?? 0;
  const card = (name: string) => page.locator(".cards > div", { hasText: name }).locator("dd");
  await page
    .getByRole("link", { name: LONG.slice(0, 20) })
    .first()
    .waitFor();
  await expect
    .poll(() => card("Cost").first().textContent())
    .toContain(`$${((all + other) / 1_000_000).toFixed(2)}`);
  await expect.poll(() => card("Replays").textContent()).toContain("$0.08");
  await expect
    .poll(() => page.locator("tbody tr", { hasText: "replay" }).locator("td").last().textContent())
    .toBe("$0.08");
  await page.getByText("<b>Not bold</b>").waitFor();
  await picture(page, "usage-conversations");
  await page.getByRole("button", { name: "Per model" }).press("Enter");
  await page.waitForURL("**/usage?by=model");
  await page.locator("tbody tr .faint", { hasText: "unknown" }).first().waitFor();
  const saved = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).press("Enter");
  const lines = readFileSync(await (await saved).path(), "utf8").split("\r\n");
  expect([lines.length - 2, lines[0]]).toEqual([
    await page.locator("tbody tr").count(),
    "Model,Kind,input_tokens,cache_read_tokens,cache_write_tokens,output_tokens,cost_micros",
  ]);
  await page.getByRole("button", { name: "7 days" }).click();
  await page.waitForURL("**range=7");
  await picture(page, "usage-models");
  await goTo(page, "/usage?until=2001-01-01");
  await page.getByTestId("no-usage").waitFor();
});

test("turns of a conversation show their context, carriers, rollovers and compactions", async () => {
  const page = await ui.open({ path: "/c/long/usage" });
  await page.locator(".chart .peak").waitFor();
  await picture(page, "usage-turns-light");
  await expect.poll(() => page.locator(".chart .roll").count()).toBe(3);
  await expect.poll(() => page.locator(".chart .comp").count()).toBe(2);
  await expect.poll(() => page.locator("tbody tr").count()).toBe(24);
  const card = (name: string) => page.locator(".cards > div", { hasText: name }).locator("dd");
  await expect.poll(() => card("Cost of this").textContent()).toContain("no inherited cost");
  await expect.poll(() => card("Replays").textContent()).toBe("$0.08 1 replay");
  await expect.poll(() => page.locator("tbody tr", { hasText: "peak" }).count()).toBe(1);
  await goTo(page, "/c/fork/usage");
  await page.getByTestId("is-replay").waitFor();
  await expect
    .poll(() => card("Cost of this").textContent())
    .toMatch(/^\$0\.08 new; at least \$0\.\d\d inherited/);
  await picture(page, "usage-fork");
  await goTo(page, "/c/long/usage");
  await page.locator(".chart .peak").waitFor();
  const phone = page;
  await phone.setViewportSize({ width: 390, height: 844 });
  await expectNarrow(phone);
  await picture(phone, "usage-turns-phone");
  await goTo(phone, "/usage?show=tokens&range=all");
  await phone.locator(".chart .tone-0").first().waitFor();
  await expectNarrow(phone);
  await expect
    .poll(() => phone.locator(".chart text").allTextContents())
    .not.toContainEqual(expect.stringContaining(".0"));
  await picture(phone, "usage-phone");
  await phone.mouse.wheel(0, 2_000);
  await expect.poll(async () => (await phone.locator(".head").boundingBox())?.y ?? 0).toBeLessThan(-40);
  await goTo(phone, "/c/empty/usage");
  await phone.getByTestId("no-usage").waitFor();
});

test("settings tell what is served and how it is; diagnostics hold nothing of anybody's", async () => {
  const page = await ui.open({ path: "/settings" });
  await page.getByTestId("no-damage").waitFor();
  await page.getByRole("button", { name: "Check every log" }).press("Enter");
  await page.getByTestId("all-intact").waitFor();
  await picture(page, "settings-light");
  await page.getByRole("button", { name: "Copy diagnostics" }).click();
  const copied = String(await page.evaluate("navigator.clipboard.readText()"));
  expect(copied).toContain("conversations: 4\n");
  expect(copied).toContain("check: 0 damage, 0 torn, 0 notes\n");
  expect(copied).not.toMatch(/long|other|fork|memory:|title/);
  await page.getByRole("button", { name: "Dark", exact: true }).press("Enter");
  await page.getByRole("button", { name: "Off" }).press("Enter");
  await picture(page, "settings-dark");
  await page.setViewportSize({ width: 390, height: 844 });
  await expectNarrow(page);
  await picture(page, "settings-phone");
  await page.reload();
  await page.getByTestId("no-damage").waitFor();
  await page.keyboard.press("?");
  await expect.poll(() => page.locator("dialog[open]").count()).toBe(0);
  expect(await page.evaluate("document.documentElement.dataset.theme")).toBe("dark");
});
