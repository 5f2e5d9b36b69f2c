/** A real browser in front of a real server on loopback; what a page must never do fails the test. */
import type { Listening } from "#edges/http/node/listen";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { AxeBuilder } from "@axe-core/playwright";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { expect } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { HttpHandler, type HttpOptions, knownNames, listen } from "#edges/http/index";
import { openHoldfast } from "#open";
import { UI_FOLDER } from "./build-ui.ts";
import { sharedBrowser } from "./chromium.ts";
import { HANG_MS } from "./hang.ts";

interface PageOptions {
  readonly theme?: "light" | "dark";
  readonly width?: number;
  readonly height?: number;
  readonly path?: string;
  /** What it may do; all unless told. */
  readonly rights?: "read" | "write" | "admin";
  /** Console errors that are meant to happen, such as a request that is refused. */
  readonly expected?: RegExp;
}

export interface Ui extends AsyncDisposable {
  readonly holdfast: Holdfast;
  readonly url: string;
  /** A page that came in by a launch code of its own; with a path it goes there afterwards. */
  open(options?: PageOptions): Promise<Page>;
  /** Each open page holds a connection, and a browser gives a server six: for what comes after a test. */
  closePages(): Promise<void>;
  /** The server goes away, and comes back at the same place: it knows the browsers that it knew. */
  stop(): Promise<void>;
  start(): Promise<void>;
  /** Lets a browser in that is not known any more, as another tab of it would. */
  signIn(context: BrowserContext): Promise<void>;
}

const TELL_VIOLATIONS = `document.addEventListener("securitypolicyviolation", (event) =>
  console.error("CSP: " + event.violatedDirective + " " + event.blockedURI));`;
const GRANT = { token: "browser", space: "default" } as const;

/** A server with the built UI over a store in memory, and a browser, which is that of all files that run in this process. */
export async function openUi(options: Partial<HttpOptions> = {}): Promise<Ui> {
  const holdfast = options.holdfast ?? (await openHoldfast({ store: "memory:" }));
  const problems: string[] = [];
  let known: KeptAccess | null = null;
  const keep = (access: KeptAccess): void => void (known = structuredClone(access));
  const begin = (at?: number): Promise<Listening> =>
    listen(
      (port) =>
        new HttpHandler({
          holdfast,
          names: knownNames({ port }),
          cookie: { name: `holdfast_${port}`, secure: false },
          keptAccess: { known, keep },
          ui: UI_FOLDER,
          log: (_level, message, fields) => {
            if (message === "Unexpected error") problems.push(`server: ${JSON.stringify(fields)}`);
          },
          ...options,
        }),
      at === undefined ? {} : { port: at },
    );
  let listening = await begin();
  const stop = async (): Promise<void> => {
    await listening.handler.drain();
    await listening.close();
  };
  const browser = await sharedBrowser();
  const pages: Page[] = [];
  const closePages = async (): Promise<void> => {
    for (const page of pages.splice(0)) await page.context().close();
  };
  return {
    holdfast,
    url: listening.url,
    open: (asked = {}) => openPage({ browser, listening, problems, pages }, asked),
    closePages,
    stop,
    start: async () => void (listening = await begin(listening.port)),
    signIn: async (context) => {
      const grant = { ...GRANT, rights: "admin" } as const;
      const page = await context.newPage();
      await page.goto(`${listening.url}/launch?code=${listening.handler.launchCode(grant)}`);
      await page.close();
    },
    [Symbol.asyncDispose]: async () => {
      await closePages();
      await stop();
      await holdfast.close();
      expect(problems).toEqual([]);
    },
  };
}

interface Opened {
  readonly browser: Browser;
  readonly listening: Listening;
  readonly problems: string[];
  readonly pages: Page[];
}

/** A page that opens the link of a server in another process. */
export async function visit(
  link: string,
  options: PageOptions = {},
): Promise<AsyncDisposable & { readonly page: Page }> {
  const problems: string[] = [];
  const page = await newPage(await sharedBrowser(), new URL(link).origin, options, problems);
  await page.goto(link);
  return {
    page,
    [Symbol.asyncDispose]: async () => {
      await page.context().close();
      expect(problems).toEqual([]);
    },
  };
}

async function openPage(
  { browser, listening, problems, pages }: Opened,
  options: PageOptions,
): Promise<Page> {
  const { url, handler } = listening;
  const { path, rights = "admin" } = options;
  const page = await newPage(browser, url, options, problems);
  pages.push(page);
  await page.goto(`${url}/launch?code=${handler.launchCode({ ...GRANT, rights })}`);
  if (path !== undefined) await page.goto(`${url}${path}`);
  return page;
}

async function newPage(
  browser: Browser,
  url: string,
  options: PageOptions,
  problems: string[],
): Promise<Page> {
  const { theme = "light", width = 1440, height = 900, expected } = options;
  const context = await browser.newContext({
    viewport: { width, height },
    colorScheme: theme,
    reducedMotion: "reduce",
  });
  await context.grantPermissions(["clipboard-read", "clipboard-write"], { origin: url });
  context.setDefaultTimeout(HANG_MS);
  const page = await context.newPage();
  const note = (text: string): void => {
    if (expected?.test(text) !== true) problems.push(text);
  };
  page.on("pageerror", (error) => note(`page: ${error.stack ?? error.message}`));
  page.on("console", (message) => message.type() === "error" && note(`console: ${message.text()}`));
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !/^(?:data|blob):/.test(request.url()))
      note(`asked ${request.url()}`);
  });
  await page.addInitScript({ content: TELL_VIOLATIONS });
  return page;
}

interface AxeAsked {
  /** Of a page that was looked at in the other theme, only colours are other. */
  readonly only?: "colours";
  /** Not the whole page. */
  readonly within?: string;
}

/** What axe finds, by all of its rules unless told. */
export async function accessibilityFindings(page: Page, asked: AxeAsked = {}): Promise<readonly string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode(true);
  if (asked.within !== undefined) axe.include(asked.within);
  const options = { resultTypes: ["violations" as const] };
  const { violations } = await axe
    .options(asked.only === undefined ? options : { ...options, runOnly: ["color-contrast"] })
    .analyze();
  return violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 160)).join(" | ")}`,
  );
}

/** Nothing that axe finds; for what the table of `accessible.e2e.test.ts` cannot reach. */
export async function expectAccessible(page: Page): Promise<void> {
  expect(await accessibilityFindings(page)).toEqual([]);
}

/** A picture for whoever looks; only where a folder for them is named. */
export async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env["HOLDFAST_PICTURES"];
  if (folder === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: join(folder, `${name}.png`) });
}

/** As a browser does with a tab that nobody looks at, or looks at again. */
export async function setVisibility(page: Page, visibility: "hidden" | "visible"): Promise<void> {
  await page.evaluate(
    `Object.defineProperty(document, "visibilityState", { value: "${visibility}", configurable: true });
     document.dispatchEvent(new Event("visibilitychange"));`,
  );
}
