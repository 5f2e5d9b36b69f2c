/** How messages are drawn: each fault that a first visitor reported, by its number, in a real browser. */
import { deflateSync, crc32 } from "node:zlib";
import type { Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { assistant, toolResult, user } from "#log/message";
import { openUi, picture, type Ui } from "../support/browser.ts";

/** A picture that is as large as a screenshot: noise cannot be compressed. */
function noisePng(width: number, height: number): string {
  const raw = Buffer.alloc((width * 3 + 1) * height);
  for (let at = 0, seed = 1; at < raw.length; at++) {
    seed ^= seed << 13;
    seed ^= seed >>> 17;
    seed ^= seed << 5;
    raw[at] = at % (width * 3 + 1) === 0 ? 0 : seed & 0xff;
  }
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const around = Buffer.alloc(8);
    around.writeUInt32BE(data.length);
    around.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([around.subarray(0, 4), body, around.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  [head[8], head[9]] = [8, 2];
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk("IHDR", head),
    chunk("IDAT", deflateSync(raw)),
    chunk("IEND", Buffer.alloc(0)),
  ]).toString("base64");
}

const IMAGE = noisePng(500, 320);
const LISTS = `# First
## Second
### Third

- [ ] a task
- [x] done
- plain

| left | middle | right |
| :--- | :----: | ----: |
| a    | b      | c     |
`;
const ARABIC = "مرحبا بالعالم:\n\n- أولا\n- ثانيا";
const JOINED = "می‌خواهم क्‍ष 🏳️‍🌈 👩‍💻";

let ui: Ui;
beforeAll(async () => {
  ui = await openUi();
  const log = await ui.holdfast.create({ id: "shown", title: "Shown" });
  const image = { type: "image", mediaType: "image/png", data: IMAGE } as const;
  const pdf = {
    type: "file",
    mediaType: "application/pdf",
    name: "invoice 2026.pdf",
    data: "JVBERi0xLjQK",
  } as const;
  await log.append([
    { ...user([{ type: "text", text: "Look at this" }, image]), id: "image" },
    { ...assistant(LISTS), id: "lists" },
    { ...assistant(ARABIC), id: "arabic" },
    { ...assistant(JOINED), id: "joined" },
    { ...user([{ type: "text", text: "The invoice" }, pdf]), id: "pdf" },
    {
      ...assistant([
        { type: "text", text: "" },
        { type: "toolCall", id: "lost", name: "send_email", input: { to: "ann" } },
      ]),
      id: "lost",
    },
    {
      ...assistant([{ type: "toolCall", id: "colors", name: "bash", input: { command: "npm test" } }]),
      id: "run",
    },
    toolResult(
      "colors",
      "\u001B[38;5;208morange\u001B[0m \u001B[48;2;0;0;120mon blue\u001B[0m \u001B[4munder\u001B[0m",
    ),
    { ...assistant("## Long\n\n" + "word ".repeat(30_000) + "THE-END"), id: "long" },
  ]);
  await log.append([{ type: "tool_intent", call: "lost", name: "send_email", input: { to: "ann" } }]);
});
afterEach(() => ui.closePages());
afterAll(() => ui[Symbol.asyncDispose]());

/** A style as the browser computed it. */
function style(one: Locator, name: string): Promise<string> {
  return one.evaluate((element, asked) => {
    const { getComputedStyle } = globalThis as unknown as {
      readonly getComputedStyle: (of: unknown) => { readonly [name: string]: string };
    };
    return getComputedStyle(element)[asked] ?? "";
  }, name);
}

const shown = (at: string): Promise<Page> => ui.open({ path: `/c/shown?at=${at}` });
const message = (page: Page, at: string) => page.locator(`[data-entry="${at}"]`);

test("B1: a large image in an entry is drawn whole", async () => {
  const page = await shown("image");
  const image = message(page, "image").locator("img");
  await image.waitFor();
  const length = async (): Promise<number> => (await image.getAttribute("src"))?.length ?? 0;
  await expect.poll(length).toBeGreaterThan(IMAGE.length);
  await picture(page, "reported-image");
});

test("B1: Show all of a long message shows its text", async () => {
  const page = await shown("long");
  const long = message(page, "long");
  const all = long.getByRole("button", { name: /Show all/ });
  await all.waitFor();
  // While images above it arrive the button moves, and a press that ends beside it is no click.
  const end = async (): Promise<number> => {
    if ((await all.count()) > 0) await all.click({ timeout: 5_000 }).catch(() => undefined);
    return long.getByText("THE-END").count();
  };
  await expect.poll(end).toBe(1);
  await expect.poll(() => message(page, "long").locator(".raw-json").count()).toBe(0);
});

test("B2: a task list has one box and one line for each task", async () => {
  const page = await shown("lists");
  const items = message(page, "lists").locator("li");
  await items.first().waitFor();
  expect((await items.allTextContents()).map((text) => text.trim())).toEqual(["a task", "done", "plain"]);
  const boxes = message(page, "lists").locator("li input[type=checkbox]");
  expect(
    await boxes.evaluateAll((all) => all.map((one) => (one as unknown as { checked: boolean }).checked)),
  ).toEqual([false, true]);
});

test("B7: text that is written from right to left is laid out so", async () => {
  const page = await shown("arabic");
  const first = message(page, "arabic").locator(".prose p").first();
  await first.waitFor();
  const list = message(page, "arabic").locator(".prose ul");
  expect([await style(first, "direction"), await style(list, "direction")]).toEqual(["rtl", "rtl"]);
  const typed = page.getByLabel("Message to the agent");
  expect(await typed.getAttribute("dir")).toBe("auto");
});

test("B8: joiners inside words and emoji stay as they are", async () => {
  const page = await shown("joined");
  await message(page, "joined").locator(".prose").waitFor();
  expect((await message(page, "joined").locator(".prose").textContent())?.trim()).toBe(JOINED);
});

test("B13: Focused shows calls of unknown outcome", async () => {
  const page = await ui.open({ path: "/c/shown?view=focused" });
  await message(page, "lost").locator(".effect-unknown").waitFor();
  await expect.poll(() => page.locator(".card", { hasText: "bash" }).count()).toBe(0);
});

test("B21: the actions of a short prompt do not cover its text", async () => {
  const page = await shown("pdf");
  await message(page, "pdf").hover();
  const text = await message(page, "pdf").locator(".prose").boundingBox();
  const acts = await message(page, "pdf").getByRole("toolbar").boundingBox();
  if (text === null || acts === null) return expect.unreachable();
  expect(acts.y + acts.height).toBeLessThanOrEqual(text.y + 1);
});

test("B22: no two actions of a message have the same icon", async () => {
  const page = await shown("lists");
  await message(page, "lists").hover();
  await message(page, "lists").getByRole("button", { name: /^More/ }).click();
  await page
    .getByRole("button", { name: "Copy link" })
    .or(page.getByRole("menuitem", { name: "Copy link" }))
    .waitFor();
  const icons = message(page, "lists").locator(".acts svg");
  const drawn = await icons.evaluateAll((all) =>
    all.map((one) => (one as unknown as { innerHTML: string }).innerHTML),
  );
  expect(new Set(drawn).size).toBe(drawn.length);
});

test("B26: headings are headings of several sizes, and columns are aligned as they say", async () => {
  const page = await shown("lists");
  const prose = message(page, "lists").locator(".prose");
  await prose.getByRole("heading", { name: "Third" }).waitFor();
  const size = async (name: string): Promise<number> =>
    Number.parseFloat(await style(prose.getByRole("heading", { name }), "fontSize"));
  expect(await size("First")).toBeGreaterThan(await size("Second"));
  expect(await size("Second")).toBeGreaterThan(await size("Third"));
  const cells = await prose.locator("td").all();
  const aligned = await Promise.all(cells.map((cell) => style(cell, "textAlign")));
  expect(aligned).toEqual(["left", "center", "right"]);
});

test("B27: a terminal's 256 colors, backgrounds and underlines are drawn", async () => {
  const page = await shown("run");
  await page.locator(".card", { hasText: "npm test" }).first().locator("summary").click();
  const output = page.getByRole("group", { name: "Output" });
  await output.getByText("orange").waitFor();
  expect(await style(output.getByText("orange"), "color")).toBe("rgb(255, 135, 0)");
  expect(await style(output.getByText("on blue"), "backgroundColor")).toBe("rgb(0, 0, 120)");
  expect(await style(output.getByText("under"), "textDecorationLine")).toBe("underline");
});

test("B29: a file that lies in the entry can be downloaded", async () => {
  const page = await shown("pdf");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    message(page, "pdf").getByRole("link", { name: "invoice 2026.pdf" }).click(),
  ]);
  expect(file.suggestedFilename()).toBe("invoice 2026.pdf");
});
