/**
 * Makes the pictures of the docs (`npm run pictures`): the real UI in a real browser over a real server, with the sample that
 * whoever starts it can load. Clock, ids and fonts are fixed, so that what comes out changes only where the UI does.
 */
import type { Listening } from "#edges/http/node/listen";
import { mkdirSync, mkdtempDisposableSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { Memory } from "#agent/memory/memory";
import { openModel } from "#agent/models/open-model";
import type { ReplayAgent } from "#agent/replay/replay-options";
import { HttpHandler, knownNames, listen } from "#edges/http/index";
import { SIM_MODELS, simulatedEmail, simulatedSource } from "#edges/cli/serve/simulated-agent";
import { packageVersion } from "#edges/cli/command";
import { assistant, user } from "#log/message";
import { openHoldfast } from "#open";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { launchBrowser } from "../test/support/chromium.ts";
import { buildUi } from "./build-ui.ts";
import { readPng, writePng } from "./small-png.ts";

const ROOT = join(import.meta.dirname, "..");
const FOLDER = join(ROOT, "docs", "pictures");
const NOW = "2026-05-14T16:05:00.000Z";
const GRANT = { token: "pictures", space: "default", rights: "admin" } as const;
const WIDE = { width: 1440, height: 900 };
const PHONE = { width: 390, height: 844 };

interface Shot {
  readonly name: string;
  readonly path: string;
  /** What is there when the page is. */
  readonly shows: string;
  readonly act?: (page: Page) => Promise<void>;
}

const SHOTS: readonly Shot[] = [
  {
    name: "history",
    path: "/",
    shows: ".list-row.item",
    act: async (page) => {
      await page.locator(".list-row.item a", { hasText: "Plan the party" }).first().hover();
      await page.mouse.move(0, 0);
    },
  },
  { name: "conversation", path: "/c/sample", shows: ".ribbon.roll .up" },
  {
    name: "tree",
    path: "/c/sample-test/tree?a=sample-test@a7&b=sample-other-model&at=a7",
    shows: ".tree-row.pick-a",
  },
  {
    name: "compare",
    path: "/diff?a=sample-test@a7&b=sample-other-model",
    shows: ".split-mark",
  },
  { name: "context", path: "/c/sample/context", shows: ".fall .bar" },
  { name: "log", path: "/c/sample/log?seq=7", shows: ".rec.is-open" },
  { name: "chain", path: "/c/sample/chain", shows: ".chain-page, .block" },
  { name: "effects", path: "/c/sample/effects?call=3", shows: ".block" },
  { name: "issues", path: "/c/sample/issues", shows: ".block" },
  { name: "turns", path: "/c/sample-job/usage", shows: ".chart .step" },
  { name: "usage", path: "/usage", shows: ".chart" },
  {
    name: "replay",
    path: "/replay?conversation=sample-outbox&at=p1&models=sim%2Csim%2Fcautious",
    shows: ".btn.primary",
    act: async (page) => {
      await page.getByRole("button", { name: "Start the replay" }).click();
      await page.waitForURL("**/replay/replay-*");
      await page.getByTestId("replay-completed").first().waitFor();
    },
  },
  { name: "runs", path: "/c/sample-outbox/runs?run=run-2", shows: ".run-facts" },
  { name: "all-runs", path: "/runs", shows: ".all-runs-row" },
  {
    name: "import",
    path: "/import",
    shows: "main h1",
    act: async (page) => {
      await page.getByLabel("Files to import").setInputFiles({
        name: "garden.holdfast.jsonl",
        mimeType: "text/plain",
        buffer: await bundleOfGarden(),
      });
      await page.getByRole("button", { name: /^Import \d/ }).waitFor();
    },
  },
  { name: "export", path: "/export?conversation=sample", shows: "main h1" },
  { name: "memory", path: "/memory", shows: ".memory-line" },
  { name: "settings", path: "/settings", shows: ".store-facts" },
];

const REMEMBERED = [
  ["Words", "Answers are in British English, without exclamation marks."],
  ["The baker", "Orders are by email, three days before. He is closed on Mondays."],
  ["The gate", "Its code changes every month and is on the board in the shed."],
] as const;

/** A file from another machine. */
async function bundleOfGarden(): Promise<Buffer> {
  let made = 0;
  await using elsewhere = await openHoldfast({
    store: "memory:",
    idsAndTime: { now: () => NOW, newId: () => `g${++made}` },
  });
  const garden = await elsewhere.create({ id: "garden", title: "Plant the garden" });
  await garden.append([user("What grows in the shade?"), assistant("Ferns, hostas and hellebores.")]);
  const fork = await garden.fork({ id: "garden-sun" });
  await fork.append([{ type: "title", title: "What grows in the sun" }, user("And in the sun?")]);
  const options = { withForks: true, exportedAt: NOW };
  return Buffer.concat(await Array.fromAsync(exportBundle(elsewhere, [garden.id], options)));
}

const REPLAYING: ReplayAgent = {
  tools: [simulatedEmail],
  openModel: (given) => openModel(given),
  instructions: false,
};

/** Letters that come with the browser, whatever this machine has: they are as wide everywhere. */
function fontEnv(): NodeJS.ProcessEnv {
  const file = join(tmpdir(), "holdfast-pictures-fonts.conf");
  const prefer = (of: string, family: string): string =>
    `<alias binding="same"><family>${of}</family><prefer><family>${family}</family></prefer></alias>`;
  writeFileSync(
    file,
    `<?xml version="1.0"?><fontconfig><dir>${join(tmpdir(), "fonts")}</dir><dir>/usr/share/fonts</dir>${prefer("system-ui", "Open Sans")}${prefer("sans-serif", "Open Sans")}${prefer("monospace", "DejaVu Sans Mono")}</fontconfig>`,
  );
  return { ...process.env, FONTCONFIG_FILE: file };
}

interface Look {
  readonly theme: "light" | "dark";
  readonly size: { readonly width: number; readonly height: number };
}

async function enter(browser: Browser, { url, handler }: Listening, { theme, size }: Look): Promise<Page> {
  const context = await browser.newContext({
    viewport: size,
    colorScheme: theme,
    reducedMotion: "reduce",
    timezoneId: "UTC",
    locale: "en-GB",
  });
  const page = await context.newPage();
  await page.clock.setFixedTime(new Date(NOW));
  await page.goto(`${url}/launch?code=${handler.launchCode(GRANT)}`);
  return page;
}

/** Two pictures in a row that are the same: nothing is loaded or moved any more. */
async function settled(page: Page): Promise<Buffer> {
  let before = await page.screenshot();
  for (let tries = 0; tries < 20; tries++) {
    await page.waitForTimeout(200);
    const now = await page.screenshot();
    if (now.equals(before)) return now;
    before = now;
  }
  throw new Error(`${page.url()} does not come to rest`);
}

async function take(browser: Browser, listening: Listening, shot: Shot): Promise<void> {
  const looks: readonly (readonly [string, Look])[] = [
    ["light", { theme: "light", size: WIDE }],
    ["dark", { theme: "dark", size: WIDE }],
    ["phone", { theme: "dark", size: PHONE }],
  ];
  for (const [kind, look] of looks) {
    const page = await enter(browser, listening, look);
    await page.goto(`${listening.url}${shot.path}`);
    await page.locator(shot.shows).first().waitFor();
    await shot.act?.(page);
    const file = `${shot.name}-${kind}.png`;
    const small = writePng(readPng(await settled(page)));
    writeFileSync(join(FOLDER, file), small);
    process.stdout.write(`${file} ${Math.round(small.length / 1_000)} kB\n`);
    await page.context().close();
  }
}

const ui = join(ROOT, "dist", "ui");
await buildUi(ui);
let made = 0;
using folder = mkdtempDisposableSync(join(tmpdir(), "holdfast-pictures-"));
const database = join(folder.path, "party.db");
await using holdfast = await openHoldfast({
  store: `sqlite:${database}`,
  idsAndTime: { now: () => NOW, newId: () => `e${String(++made).padStart(5, "0")}` },
});
await using listening = await listen(
  (port) =>
    new HttpHandler({
      holdfast,
      ui,
      names: knownNames({ port }),
      cookie: { name: `holdfast_${port}`, secure: false },
      version: packageVersion(),
      agents: { simulated: simulatedSource(100) },
      replays: { models: SIM_MODELS, agent: () => REPLAYING },
      place: { address: "sqlite:party.db", bytes: async () => statSync(database).size },
    }),
);
const browser = await launchBrowser({ env: fontEnv() });
try {
  const first = await enter(browser, listening, { theme: "light", size: WIDE });
  await first.getByRole("button", { name: "Load sample data" }).click();
  await first.waitForURL("**/c/sample");
  await first.context().close();
  const memory = new Memory(holdfast);
  for (const [title, content] of REMEMBERED)
    await memory.save("user", { title, content, conversation: "sample" });
  const asked = process.argv.slice(2);
  mkdirSync(FOLDER, { recursive: true });
  if (asked.length === 0) for (const old of readdirSync(FOLDER)) rmSync(join(FOLDER, old));
  for (const shot of SHOTS)
    if (asked.length === 0 || asked.includes(shot.name)) await take(browser, listening, shot);
} finally {
  await browser.close();
}
const bytes = readdirSync(FOLDER).reduce((sum, name) => sum + statSync(join(FOLDER, name)).size, 0);
process.stdout.write(`${Math.round(bytes / 1_000)} kB in all\n`);
