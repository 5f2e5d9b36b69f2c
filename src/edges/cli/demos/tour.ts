import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { type Call, type Command, jsonLine, type Sink } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";
import { Printer } from "#edges/cli/terminal/printer";
import { COMPACTION, FIRST_TURN, ONE_WAY, OTHER_WAY } from "./tour-bodies.ts";
import { readJson } from "#log/json/read-json";

const CHAT = "fix-the-test";
const CRASHED = "long-job";
const KILL_AFTER = 40;
const LINES = 5_000; // far more than are written before the end comes
const WIDTH_MAX = 100;
const MAIN = fileURLToPath(
  new URL(import.meta.url.endsWith(".ts") ? "../main.ts" : "../main.js", import.meta.url),
);

export const tour: Command = {
  name: "tour",
  summary: "Shows around in a few seconds, with a sample store",
  usage: [""],
  about: `Makes a store in a temporary folder and walks through it: a conversation with a tool call,
branches, compaction, a fork, a real crash, search. Your own stores are not touched.
Every command it shows is one it runs.`,
  examples: ["holdfast tour", "holdfast tour --json"],
  options: {},
  arity: [0, 0],
  async run(call) {
    const folder = await mkdtemp(join(tmpdir(), "holdfast-tour-"));
    const store = `sqlite:${join(folder, "tour.db")}`;
    const guide = new Guide(call, store);
    const { printer } = guide;
    printer.say(
      `Holdfast keeps an AI agent's conversations whole while sessions, processes and models come and go. This tour makes a sample store and shows what that means.`,
    );
    await conversationAndBranches(guide);
    await compactionAndForks(guide);
    const crash = await recovery(guide, store);
    await guide.chapter(
      "Find it again",
      "Search covers every conversation; each hit comes with its address, ready for show, goto, context or fork.",
    );
    await guide.run(["search", "parser", "last", "-n", "3"]);
    if (call.json) return call.io.out.write(jsonLine({ store, ...crash, conversation: CHAT }));
    await guide.chapter(
      "Your turn",
      "The sample store is yours to play with; remove its folder when you are done. From a checkout the command is ./holdfast.",
    );
    printer.rows([
      "",
      `export HOLDFAST_STORE=${safeLine(store)}`,
      `./holdfast show ${CHAT}@a3              the way that was left`,
      `./holdfast context ${CHAT} --json       what an agent would send`,
      `./holdfast export ${CHAT} -o chat.jsonl`,
      "./holdfast help",
    ]);
    await printer.flushed();
  },
};

/** Runs the commands it shows: what a reader sees is what they would get. */
class Guide {
  readonly printer: Printer;
  readonly #call: Call;
  readonly #store: string;

  constructor(call: Call, store: string) {
    const { out } = call.io;
    this.printer = new Printer(call.json ? { ...out, write: async () => undefined } : out);
    this.#call = call;
    this.#store = store;
  }

  async chapter(heading: string, text: string): Promise<void> {
    this.printer.heading(heading);
    this.printer.say(text);
    await this.printer.flushed();
  }

  /** Shows a command and what it prints; `shown` replaces what is piped in by something shorter. */
  async run(argv: readonly string[], input: readonly EntryBody[] = [], shown: string = ""): Promise<void> {
    const { style } = this.#call.io.out;
    const quoted = argv.map((word) => (/^[\w@:.,=/-]+$/.test(word) ? word : `"${word}"`));
    const line = `${shown === "" ? "" : `${shown} | `}holdfast ${quoted.join(" ")}`;
    this.printer.rows(["", `${style.dim("$")} ${style.cyan(line)}`]);
    this.printer.rows((await this.read(argv, input)).trimEnd().split("\n"));
  }

  /** Runs a command without showing it. */
  async read(argv: readonly string[], input: readonly EntryBody[] = []): Promise<string> {
    const { io } = this.#call;
    const columns = Math.min(io.out.columns, WIDTH_MAX) - 2;
    const sinkInto = (lines: string[]): Sink => ({
      style: io.out.style,
      isTerminal: false,
      columns,
      write: async (text) => void lines.push(text),
      writeBytes: async (bytes) => void lines.push(new TextDecoder().decode(bytes)),
    });
    const [printed, errors]: [string[], string[]] = [[], []];
    const status = await this.#call.run(["--store", this.#store, ...argv], {
      ...io,
      stdin: bytesOf(input),
      stdinIsTerminal: false,
      out: sinkInto(printed),
      err: sinkInto(errors),
    });
    if (status !== 0)
      throw new LogError(
        "store_failed",
        `The tour stopped at \`holdfast ${argv.join(" ")}\`: ${errors.join("")}`,
      );
    return printed.join("");
  }

  /** The lines of the log of a conversation. */
  async log(conversation: string): Promise<readonly { readonly id: string }[]> {
    const text = await this.read(["log", conversation, "--json"]);
    return text
      .trimEnd()
      .split("\n")
      .map((line) => readJson(line) as { id: string });
  }
}

async function* bytesOf(bodies: readonly EntryBody[]): AsyncGenerator<Uint8Array> {
  for (const body of bodies) yield new TextEncoder().encode(`${JSON.stringify(body)}\n`);
}

async function conversationAndBranches(guide: Guide): Promise<void> {
  await guide.chapter(
    "A conversation is one log that only grows",
    "An id is made once and outlives everything under it. Prompts, tool calls and answers are entries, on disk before the command answers.",
  );
  await guide.run(["new", "--id", CHAT, "--title", "A test fails"]);
  await guide.run(["append", CHAT, "--key", "turn-1"], FIRST_TURN, "cat turn-1.jsonl");
  guide.printer.say("\nThe key makes a retry harmless: the same batch again writes nothing.");
  await guide.run(["append", CHAT, "--key", "turn-1"], FIRST_TURN, "cat turn-1.jsonl");
  await guide.run(["show", CHAT]);
  await guide.chapter(
    "Go back, and go another way",
    "Every entry has a parent. Moving the leaf back and appending makes a branch; the way you left stays readable.",
  );
  await guide.run(["append", CHAT], ONE_WAY, "cat one-way.jsonl");
  await guide.run(["label", `${CHAT}@a2`, "decision"]);
  await guide.run(["goto", `${CHAT}@decision`]);
  await guide.run(["append", CHAT], OTHER_WAY, "cat other-way.jsonl");
  await guide.run(["tree", CHAT]);
}

async function compactionAndForks(guide: Guide): Promise<void> {
  await guide.chapter(
    "Compaction shrinks the context, never the log",
    "The context is what the model is sent: a projection of the log. A compaction entry puts a summary in place of what came before.",
  );
  const sizes = async (): Promise<readonly [number, number]> => {
    const context = await guide.read(["context", CHAT, "--json"]);
    const { messages } = readJson(context) as { messages: readonly unknown[] };
    return [messages.length, (await guide.log(CHAT)).length];
  };
  const before = await sizes();
  await guide.run(["append", CHAT], COMPACTION, "cat compaction.jsonl");
  await guide.run(["context", CHAT]);
  const after = await sizes();
  guide.printer.say(
    `\nThe context went from ${before[0]} messages to ${after[0]}; the log from ${before[1]} entries to ${after[1]}. The chosen model, example-2, shapes the next request and is no message.`,
  );
  await guide.chapter(
    "Fork from any point",
    "A fork is a conversation of its own that shares the past. It costs the same at any length, and never changes its source.",
  );
  await guide.run(["fork", `${CHAT}@decision`, "--id", "second-try"]);
  await guide.run(["ls"]);
}

async function recovery(
  guide: Guide,
  store: string,
): Promise<{ readonly acknowledged: number; readonly found: number }> {
  await guide.chapter(
    "A crash loses nothing that was acknowledged",
    "With --each every line is acknowledged by a line of output once it is on disk. Now a real process appends like that, and is killed with SIGKILL while it writes.",
  );
  await guide.run(["new", "--id", CRASHED, "--title", "A long job"]);
  guide.printer.say(
    `\n  $ agent | holdfast append ${CRASHED} --each\n  … killed right after acknowledgement ${KILL_AFTER}`,
  );
  const acknowledged = await crashWhileAppending(store);
  const found = new Set((await guide.log(CRASHED)).map(({ id }) => id));
  const lost = acknowledged.filter((id) => !found.has(id)).length;
  if (lost > 0) throw new LogError("damaged", `${lost} acknowledged entries are missing after the crash`);
  const messages = found.size - 2; // the conversation and its title came before
  const extra = messages - acknowledged.length;
  guide.printer.say(
    `  acknowledged before the kill: ${acknowledged.length}    found after it: ${messages}    lost: ${lost}`,
  );
  if (extra > 0)
    guide.printer.say(
      `  (${extra} more ${extra === 1 ? "was" : "were"} stored when the end came, before the answer got out.)`,
    );
  await guide.run(["doctor"]);
  return { acknowledged: acknowledged.length, found: messages };
}

/** Starts a real process that appends line by line, and kills it the hard way. Gives what it was told is stored. */
async function crashWhileAppending(store: string): Promise<readonly string[]> {
  const child = spawn(process.execPath, [MAIN, "--store", store, "append", CRASHED, "--each"], {
    stdio: ["pipe", "pipe", "ignore"],
  });
  const exited = once(child, "exit");
  // The pipe breaks when the reader dies; that is the point.
  child.stdin.on("error", () => undefined);
  for (let number = 1; number <= LINES; number++) {
    const content = [{ type: "text", text: `Step ${number}` }];
    child.stdin.write(`${JSON.stringify({ type: "message", message: { role: "user", content } })}\n`);
  }
  const acknowledged: string[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    acknowledged.push((readJson(line) as { id: string }).id);
    if (acknowledged.length === KILL_AFTER) child.kill("SIGKILL");
  }
  await exited;
  return acknowledged;
}
