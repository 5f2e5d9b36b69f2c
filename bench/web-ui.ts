import { join } from "node:path";
import chromium from "@sparticuz/chromium";
import { type Page, chromium as playwright } from "playwright-core";
import { build } from "vite";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { HttpHandler, knownNames, listen } from "../src/edges/http/index.ts";
import { assistant, user } from "../src/log/message.ts";
import { type FirstLoad, firstLoad } from "../scripts/first-load.ts";
import { openHoldfast } from "../src/open.ts";
import type { Row } from "./report.ts";
import type { Timing } from "./sample.ts";
import type { Stage } from "./stage.ts";

const MESSAGES = 50_000;
const AT_ONCE = 1_000;
const OPENED = 15;
const FRAMES = 300;
const FRAME_PX = 160;
const WHOLE_STEP_PX = 20_000;
const HEAP_MB_MAX = 80;
const GRANT = { token: "bench", space: "default", rights: "admin" } as const;

async function fill(holdfast: Holdfast): Promise<void> {
  const long = await holdfast.create({ id: "long", title: "Fifty thousand" });
  for (let first = 0; first < MESSAGES; first += AT_ONCE)
    await long.append(
      Array.from({ length: AT_ONCE }, (_, at) =>
        at % 2 === 0
          ? user(`Prompt ${first + at}`)
          : assistant(`Answer ${first + at}: **done**, in \`src/file-${at}.ts\``),
      ),
    );
}

// From the press on its row until its last message is drawn.
const OPEN = `new Promise((resolve) => {
  const row = document.querySelector('[data-conversation="long"]');
  const since = performance.now();
  row.click();
  const look = () => {
    const last = [...document.querySelectorAll(".msg .prose")].some((one) => one.textContent.startsWith("Answer ${MESSAGES - 1}"));
    if (last) requestAnimationFrame(() => resolve(performance.now() - since));
    else requestAnimationFrame(look);
  };
  look();
})`;

// Scrolls up, so much for each frame.
const SCROLL = `new Promise((resolve) => {
  let frames = 0;
  const step = () => {
    window.scrollBy(0, -${FRAME_PX});
    if (++frames === ${FRAMES}) resolve();
    else requestAnimationFrame(step);
  };
  step();
})`;

// Scrolls from one end to the other, and waits at each place until what is there is drawn.
const SCROLL_WHOLE = `new Promise((resolve) => {
  let [at, frames] = [document.documentElement.scrollHeight, 0];
  window.scrollTo(0, at);
  const step = () => {
    const isThere = document.querySelectorAll(".thread .msg").length > 3;
    if (!isThere && ++frames < 120) return requestAnimationFrame(step);
    frames = 0;
    if (window.scrollY === 0) return resolve();
    at = Math.max(0, Math.min(at, window.scrollY) - ${WHOLE_STEP_PX});
    window.scrollTo(0, at);
    requestAnimationFrame(step);
  };
  step();
})`;

function timing(taken: readonly number[]): Timing {
  const sorted = taken.toSorted((a, b) => a - b);
  const at = (share: number): number =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { medianMs: at(0.5), p99Ms: at(0.99), samples: sorted.length };
}

/** How long scripts ran while something is done. */
async function scriptMs(page: Page, act: () => Promise<unknown>): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const seconds = async (): Promise<number> => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find(({ name }) => name === "ScriptDuration")?.value ?? Number.NaN;
  };
  const before = await seconds();
  await act();
  return ((await seconds()) - before) * 1_000;
}

/** What the page holds once what nobody needs is gone, in MB. */
async function heapMb(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.collectGarbage");
  return (await page.evaluate<number>("performance.memory.usedJSHeapSize")) / 1_000_000;
}

interface Measured {
  readonly opened: Timing;
  readonly frameMs: number;
  readonly heapBeforeMb: number;
  readonly heapAfterMb: number;
}

async function measure(page: Page): Promise<Measured> {
  const opened: number[] = [];
  for (let round = 0; round <= OPENED; round++) {
    await page.locator('[data-conversation="long"]').waitFor();
    const ms = await page.evaluate<number>(OPEN);
    if (round > 0) opened.push(ms); // the first also loads the page's own parts
    if (round < OPENED) await page.goBack();
  }
  const heapBeforeMb = await heapMb(page);
  await page.mouse.wheel(0, -1);
  const frameMs = (await scriptMs(page, () => page.evaluate(SCROLL))) / FRAMES;
  await page.evaluate(SCROLL_WHOLE);
  return { opened: timing(opened), frameMs, heapBeforeMb, heapAfterMb: await heapMb(page) };
}

function rowsOf({ opened, frameMs, heapBeforeMb, heapAfterMb }: Measured, loaded: FirstLoad): readonly Row[] {
  const what = `${MESSAGES / 1_000}k messages in a browser`;
  const plain = { against: "budget", ours: null, theirs: null } as const;
  return [
    {
      ...plain,
      work: `${what}, opened`,
      value: opened.medianMs,
      unit: "ms",
      budget: { atMost: 300 },
      ours: opened,
    },
    {
      ...plain,
      work: `${what}, script for a scrolled frame`,
      value: frameMs,
      unit: "ms",
      budget: { atMost: 8 },
      note: `${FRAMES} frames of ${FRAME_PX} px`,
    },
    {
      ...plain,
      work: `${what}, heap once scrolled from end to end`,
      value: heapAfterMb,
      unit: "MB",
      budget: { atMost: HEAP_MB_MAX },
      note: `${heapBeforeMb.toFixed(0)} MB before it, each after a collection of garbage`,
    },
    {
      ...plain,
      work: "the first load of the web UI, gzip",
      value: loaded.gzipBytes / 1_000,
      unit: "kB",
      budget: { atMost: 100 },
      note: `${loaded.files.length} files, until the history is shown`,
    },
  ];
}

/** How a person meets a conversation of 50,000 messages in a browser: opened, and scrolled through. */
export async function measureWebUi(stage: Stage): Promise<readonly Row[]> {
  const root = join(import.meta.dirname, "..");
  const ui = stage.path("web-ui");
  await build({ configFile: join(root, "ui", "vite.config.ts"), logLevel: "error", build: { outDir: ui } });
  await using holdfast = await openHoldfast({ store: "memory:" });
  stage.say(`building a conversation of ${MESSAGES} messages`);
  await fill(holdfast);
  await using listening = await listen(
    (port) =>
      new HttpHandler({
        holdfast,
        names: knownNames({ port }),
        ui,
        cookie: { name: `b${port}`, secure: false },
      }),
  );
  const browser = await playwright.launch({
    executablePath: await chromium.executablePath(),
    args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--enable-precise-memory-info"],
  });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.goto(`${listening.url}/launch?code=${listening.handler.launchCode(GRANT)}`);
    return rowsOf(await measure(page), firstLoad(ui));
  } finally {
    await browser.close();
  }
}
