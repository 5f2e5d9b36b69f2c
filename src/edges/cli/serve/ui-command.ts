import { type Command, type Call, answer, remark } from "#edges/cli/command";
import { newSecret } from "#edges/http/access/grant";
import { LogError } from "#log/errors";
import { findAddress } from "#edges/cli/address";
import { mayPrintSecrets } from "./server-run.ts";
import { supervise } from "./supervise.ts";
import { spawn } from "node:child_process";

export const uiCommand: Command = {
  name: "ui",
  summary: "Opens the web UI: look at conversations, talk, fork, compare, replay",
  usage: [
    "[ID[@ENTRY]] [--port N] [--host ADDRESS] [--no-open] [--print-link] [--read-only] [--cwd DIR] [--model PROVIDER/NAME]... [--agent NAME=COMMAND|simulated]...",
  ],
  about: `Starts a server on this machine, prints a link that opens one browser, once and within five minutes,
and opens it where there is a display. With an id it opens that conversation. Prompts can be sent
where a model or an agent is named; --agent simulated needs no key and no network, and can be made
to run into any trouble. A server that dies is started again on the same port, and open pages go on. Ctrl-C, or
SIGTERM, ends it. With --json all that is printed is one object. What is printed to a file or a pipe may be
kept there: the link goes to a terminal alone, unless --print-link asks for it.

  --port N           the port; any free one unless given
  --host ADDRESS     the address to listen on, as for \`serve\`; any but this machine's own needs --allow-host
  --no-open          only prints the link
  --print-link       prints the link, and with --json a token, wherever the output goes
  --read-only        nothing is written
  --cwd, --model, --base-url, --no-memory, --agent, --account, --speed
                     who answers, and where: see \`holdfast help serve\``,
  examples: [
    "holdfast ui",
    "holdfast ui --agent simulated",
    "holdfast ui 7f3a@b2",
    "holdfast ui --port 8080 --no-open",
    "holdfast ui --read-only",
  ],
  options: {
    host: { type: "string" },
    port: { type: "string" },
    "allow-host": { type: "string", multiple: true },
    cwd: { type: "string" },
    model: { type: "string", multiple: true },
    agent: { type: "string", multiple: true },
    account: { type: "string", multiple: true },
    speed: { type: "string" },
    "base-url": { type: "string" },
    "no-memory": { type: "boolean" },
    "no-open": { type: "boolean" },
    "print-link": { type: "boolean" },
    "read-only": { type: "boolean" },
  },
  writes: true,
  arity: [0, 1],
  run: async (call) => (await import("./ui-command.ts")).runUi(call),
};

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
    onEnd: async (exit) => {
      if (!call.json) await remark(call, `The server ended (${exit}); it is started again.`);
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
