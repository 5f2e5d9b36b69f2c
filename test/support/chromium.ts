/** The browser from npm, as a browser is, with its guards: what the package adds for functions in a cloud takes them away. */
import chromium from "@sparticuz/chromium";
import { type Browser, chromium as playwright, type LaunchOptions } from "playwright-core";
import { HANG_MS } from "./hang.ts";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--enable-precise-memory-info",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export async function launchBrowser(more: LaunchOptions = {}): Promise<Browser> {
  const executablePath = await chromium.executablePath();
  return playwright.launch({ executablePath, args: ARGS, timeout: HANG_MS, ...more });
}

let running: Promise<Browser> | null = null;

/** That of all files that run in this process. */
export function sharedBrowser(): Promise<Browser> {
  return (running ??= launchShared());
}

async function launchShared(): Promise<Browser> {
  const browser = await launchBrowser({ handleSIGTERM: false });
  // So a process ends that has no more files to run; nobody else says so.
  process.once("SIGTERM", () => void browser.close().finally(() => process.exit()));
  return browser;
}
