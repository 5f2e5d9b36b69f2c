import { type Command, type Call, answer, remark } from "#edges/cli/command";
import { newSecret } from "#edges/http/access/grant";
import { LogError } from "#log/errors";
import { findAddress } from "#edges/cli/address";
import { mayPrintSecrets } from "./server-run.ts";
import { supervise } from "./supervise.ts";
import { spawn } from "node:child_process";
import { optionsIn } from "#edges/cli/options";
import { LISTEN_OPTIONS, TURN_OPTIONS } from "./serve-command.ts";

export const uiCommand: Command = {
  name: "ui",
  summary: "Open the web UI",
  forms: ["[ID[@ENTRY]]"],
  about: `Starts a server on this machine and opens a browser; with ID it opens that conversation. The printed
link opens one browser, once, within five minutes. To send prompts, name a model or an agent:
--agent simulated needs no key and no network. If the server crashes, it restarts on the same
port and open pages continue. Ctrl-C or SIGTERM stops it.`,
  examples: [
    "holdfast ui",
    "holdfast ui --agent simulated",
    "holdfast ui 7f3a@b2",
    "holdfast ui --port 8080 --no-open",
    "holdfast ui --read-only",
  ],
  options: {
    "--no-open": "print the link only",
    "Run turns": "",
    ...TURN_OPTIONS,
    Listen: "",
    ...LISTEN_OPTIONS,
  },
  writes: true,
  run: runUi,
};

/** Opens the web UI and keeps its server running until it is told to stop. */
async function runUi(call: Call): Promise<number> {
  const { flags, io, store, space } = call;
  if (store === "memory:")
    throw new LogError(
      "invalid_request",
      "`ui` needs a store on disk: a store in memory ends when the server restarts. Use --store",
    );
  const stop = io.catchInterrupt();
  const secret = newSecret("hf");
  return supervise({
    args: serverOptions(call),
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
        : "Add --print-link to print a link that opens a browser.";
      if (!call.json) await remark(call, `${about} Ctrl-C stops the server.`);
      if (io.out.isTerminal && !flags.has("no-open")) openBrowser(launch ?? url, io.env);
    },
    onEnd: async (exit) => {
      if (!call.json) await remark(call, `The server exited (${exit}). Restarting it.`);
    },
  });
}

/** The options of the server; supervise.ts names the port, and prints the link. */
function serverOptions({ flags }: Call): readonly string[] {
  return optionsIn({ ...TURN_OPTIONS, ...LISTEN_OPTIONS }).flatMap(({ name, value, isRepeatable }) => {
    if (name === "port" || name === "print-link") return [];
    if (value === null) return flags.has(name) ? [`--${name}`] : [];
    const text = flags.text(name);
    const values = isRepeatable ? flags.list(name) : text === undefined ? [] : [text];
    return values.map((one) => `--${name}=${one}`);
  });
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
