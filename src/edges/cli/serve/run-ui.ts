import { newSecret } from "#edges/http/access/grant";
import { LogError } from "#log/errors";
import { findAddress } from "#edges/cli/address";
import { type Call, answer, remark } from "#edges/cli/command";
import { mayPrintSecrets } from "./server-run.ts";
import { supervise } from "./supervise.ts";
import { spawn } from "node:child_process";

const PASSED_TEXTS = ["host", "cwd", "speed", "base-url"];
const PASSED_LISTS = ["allow-host", "model", "agent", "account"];
const PASSED_FLAGS = ["no-memory", "read-only"];

/** Opens the web UI and keeps its server running until it is told to stop. */
export async function runUi(call: Call): Promise<number> {
  const { flags, io, store, space } = call;
  if (store === "memory:")
    throw new LogError(
      "invalid_request",
      "A store in memory would go with its server, which is started again when it dies: give the web UI one on disk",
    );
  const stop = io.catchInterrupt();
  const secret = newSecret("hf");
  return supervise({
    args: passedOn(call),
    // The address of a store may hold a password, which others would see in a command line.
    env: { ...io.env, HOLDFAST_STORE: store, HOLDFAST_SPACE: space },
    port: flags.count("port") ?? 0,
    secret,
    to: await pageOf(call),
    stop,
    onReady: async ({ url, launch }) => {
      const rights = flags.has("read-only") ? "read" : "admin";
      const isPrinted = mayPrintSecrets(call);
      const secrets = isPrinted ? { launch, token: secret } : {};
      await answer(call, { url, ...secrets, space, rights }, () => (isPrinted ? (launch ?? url) : url));
      const about = isPrinted
        ? "The link opens one browser, once, within five minutes."
        : "With --print-link this prints a link that opens a browser.";
      if (!call.json) await remark(call, `${about} Ctrl-C ends the server.`);
      if (io.out.isTerminal && !flags.has("no-open")) openBrowser(launch ?? url, io.env);
    },
    onEnd: async (how) => {
      if (!call.json) await remark(call, `The server ended (${how}); it is started again.`);
    },
  });
}

function passedOn({ flags }: Call): readonly string[] {
  return [
    ...PASSED_TEXTS.flatMap((name) => {
      const value = flags.text(name);
      return value === undefined ? [] : [`--${name}=${value}`];
    }),
    ...PASSED_LISTS.flatMap((name) => flags.list(name).map((value) => `--${name}=${value}`)),
    ...PASSED_FLAGS.flatMap((name) => (flags.has(name) ? [`--${name}`] : [])),
  ];
}

/** The page that the link opens: of the conversation that is named, at the entry that is. */
async function pageOf(call: Call): Promise<string> {
  const [id] = call.args;
  if (id === undefined) return "/";
  const { openHoldfast } = await import("#open");
  await using holdfast = await openHoldfast({ store: call.store, space: call.space, readOnly: true });
  const { conversation, entry } = await findAddress(holdfast, id);
  const page = `/c/${encodeURIComponent(conversation.id)}`;
  return entry === null ? page : `${page}?at=${encodeURIComponent(entry)}`;
}

type Env = Readonly<Record<string, string | undefined>>;

/** The command that opens an address where there is a display; null where there is none. */
export function browserCommand(
  url: string,
  { platform, env }: { readonly platform: NodeJS.Platform; readonly env: Env },
): readonly [string, ...string[]] | null {
  if (platform === "darwin") return ["open", url];
  if (platform === "win32") return ["cmd", "/c", "start", '""', url];
  const hasDisplay = Boolean(env["DISPLAY"]) || Boolean(env["WAYLAND_DISPLAY"]);
  return hasDisplay ? ["xdg-open", url] : null;
}

/** Tries to open a browser; the address was printed, so nothing depends on it. */
export function openBrowser(url: string, env: Env): void {
  const command = browserCommand(url, { platform: process.platform, env });
  if (command === null) return;
  const [program, ...args] = command;
  const child = spawn(program, args, { stdio: "ignore", detached: true, env });
  child.on("error", () => undefined);
  child.unref();
}
