/** The browser from npm, as a browser is, with its guards: what the package adds for functions in a cloud takes them away. */
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright } from "playwright-core";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--enable-precise-memory-info",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];
// Only a hang meets it: a busy machine takes its time.
export const HANG_MS = 150_000;

export async function launchBrowser(env: NodeJS.ProcessEnv = process.env): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  return playwright.launch({ executablePath, args: ARGS, timeout: HANG_MS, env });
}
