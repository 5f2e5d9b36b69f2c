import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LogError } from "#log/errors";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal";
import { crashWhileAppending } from "#edges/cli/tour/crash";
import { Guide } from "#edges/cli/tour/guide";
import { COMPACTION, FIRST_TURN, ONE_WAY, OTHER_WAY } from "#edges/cli/tour/script";

const CHAT = "fix-the-test";
const CRASHED = "long-job";
const KILL_AFTER = 40;

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
    await guide.say(
      `Holdfast keeps an AI agent's conversations whole while sessions, processes and models come and go. This tour makes a sample store and shows what that means.`,
    );
    await firstConversation(guide);
    await branches(guide);
    await compaction(guide);
    await forks(guide);
    const crash = await recovery(guide, store);
    await finding(guide);
    await farewell(call, guide, { store, ...crash });
  },
};

async function firstConversation(guide: Guide): Promise<void> {
  await guide.chapter(
    "A conversation is one log that only grows",
    "An id is made once and outlives everything under it. Prompts, tool calls and answers are entries, on disk before the command answers.",
  );
  await guide.run(["new", "--id", CHAT, "--title", "A test fails"]);
  await guide.run(["append", CHAT, "--key", "turn-1"], FIRST_TURN, "cat turn-1.jsonl");
  await guide.say("\nThe key makes a retry harmless: the same batch again writes nothing.");
  await guide.run(["append", CHAT, "--key", "turn-1"], FIRST_TURN, "cat turn-1.jsonl");
  await guide.run(["show", CHAT]);
}

async function branches(guide: Guide): Promise<void> {
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

async function compaction(guide: Guide): Promise<void> {
  await guide.chapter(
    "Compaction shrinks the context, never the log",
    "The context is what the model is sent: a projection of the log. A compaction entry puts a summary in place of what came before.",
  );
  const before = await sizes(guide);
  await guide.run(["append", CHAT], COMPACTION, "cat compaction.jsonl");
  await guide.run(["context", CHAT]);
  const after = await sizes(guide);
  await guide.say(
    `\nThe context went from ${before.messages} messages to ${after.messages}; the log from ${before.entries} entries to ${after.entries}. The chosen model, example-2, shapes the next request and is no message.`,
  );
}

async function sizes(guide: Guide): Promise<{ readonly messages: number; readonly entries: number }> {
  const context = JSON.parse(await guide.read(["context", CHAT, "--json"])) as {
    messages: readonly unknown[];
  };
  const log = await guide.read(["log", CHAT, "--json"]);
  return { messages: context.messages.length, entries: log.trimEnd().split("\n").length };
}

async function forks(guide: Guide): Promise<void> {
  await guide.chapter(
    "Fork from any point",
    "A fork is a conversation of its own that shares the past. It costs the same at any length, and never changes its source.",
  );
  await guide.run(["fork", `${CHAT}@decision`, "--id", "second-try"]);
  await guide.run(["ls"]);
}

interface Crash {
  readonly acknowledged: number;
  readonly found: number;
}

async function recovery(guide: Guide, store: string): Promise<Crash> {
  await guide.chapter(
    "A crash loses nothing that was acknowledged",
    "With --each every line is acknowledged by a line of output once it is on disk. Now a real process appends like that, and is killed with SIGKILL while it writes.",
  );
  await guide.run(["new", "--id", CRASHED, "--title", "A long job"]);
  await guide.say(
    `\n  $ agent | holdfast append ${CRASHED} --each\n  … killed right after acknowledgement ${KILL_AFTER}`,
  );
  const acknowledged = await crashWhileAppending(store, CRASHED, KILL_AFTER);
  const log = await guide.read(["log", CRASHED, "--json"]);
  const found = new Set(
    log
      .trimEnd()
      .split("\n")
      .map((line) => (JSON.parse(line) as { id: string }).id),
  );
  const lost = acknowledged.filter((id) => !found.has(id));
  if (lost.length > 0)
    throw new LogError("damaged", `${lost.length} acknowledged entries are missing after the crash`);
  const messages = found.size - 2; // the conversation and its title came before
  const extra = messages - acknowledged.length;
  await guide.say(
    `  acknowledged before the kill: ${acknowledged.length}    found after it: ${messages}    lost: ${lost.length}`,
  );
  if (extra > 0)
    await guide.say(
      `  (${extra} more ${extra === 1 ? "was" : "were"} stored when the end came, before the answer got out.)`,
    );
  await guide.run(["doctor"]);
  return { acknowledged: acknowledged.length, found: messages };
}

async function finding(guide: Guide): Promise<void> {
  await guide.chapter(
    "Find it again",
    "Search covers every conversation; each hit comes with its address, ready for show, goto, context or fork.",
  );
  await guide.run(["search", "parser", "last", "-n", "3"]);
}

async function farewell(call: Call, guide: Guide, seen: Crash & { readonly store: string }): Promise<void> {
  if (call.json) return call.io.out.write(jsonLine({ ...seen, conversation: CHAT }));
  await guide.chapter(
    "Your turn",
    "The sample store is yours to play with; remove its folder when you are done. From a checkout the command is ./holdfast.",
  );
  const rows = [
    `export HOLDFAST_STORE=${safeLine(seen.store)}`,
    `./holdfast show ${CHAT}@a3              the way that was left`,
    `./holdfast context ${CHAT} --json       what an agent would send`,
    `./holdfast export ${CHAT} -o chat.jsonl`,
    "./holdfast help",
  ];
  await guide.say(`\n${rows.map((row) => `  ${row}`).join("\n")}`);
}
