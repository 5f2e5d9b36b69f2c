/** What a prompt can order. The order is the last line of the last text block; what stands before is only remembered. */
import { writeFileSync } from "node:fs";
import { failLike } from "./failures.ts";
import { dieInTool, tool, toolChild, toolRefused, toolSlow, toolUntold } from "./tools.ts";
import { type Answer, die, fileThere, forever, type Turn, untilCancelled } from "./turn.ts";
import { hostOrders } from "./host-orders.ts";

export type Order = (turn: Turn, rest: string) => Answer | Promise<Answer>;

function saying(text: (turn: Turn, rest: string) => string): Order {
  return (turn, rest) => {
    turn.say(text(turn, rest));
    return turn.end();
  };
}

/** A file and the words that follow it. */
function fileAndText(rest: string): readonly [string, string] {
  const [file = "", ...words] = rest.split(" ");
  return [file, words.join(" ")];
}

/** Some chunks and the answer in one write, as a busy pipe delivers them. */
function chunks(turn: Turn, rest: string): Answer {
  const texts = Array.from({ length: Number(rest) }, (_, index) => `c${index + 1} `);
  for (const text of texts) turn.took(text);
  const answer = turn.end();
  const { wire } = turn.session.inputs;
  const lines = texts.map((text) => {
    const params = { sessionId: turn.session.id, update: turn.chunkUpdate(text) };
    return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params });
  });
  wire.write(...lines, JSON.stringify({ jsonrpc: "2.0", id: turn.requestId, result: answer }));
  turn.answered = true;
  return answer;
}

async function silent(turn: Turn): Promise<Answer> {
  await untilCancelled(turn);
  return turn.end("cancelled");
}

/** Words that come after the answer; with a file, only once that is there, and `<file>.said` tells that they went out. */
function late(turn: Turn, text: string, file: string | null): Answer {
  const { session } = turn;
  const speak = async (): Promise<void> => {
    if (file !== null) await fileThere(file);
    session.update(turn.chunkUpdate(text));
    if (file !== null) writeFileSync(`${file}.said`, "");
  };
  setImmediate(() => void speak());
  turn.say(`Before ${text.length} late letters.`);
  return turn.end();
}

async function retryInside(turn: Turn): Promise<Answer> {
  turn.say("The first ha");
  turn.startAgain();
  turn.say("The first half and the second.");
  return turn.end();
}

const STALE_USAGE = {
  totalTokens: 12,
  inputTokens: 3,
  outputTokens: 9,
  cachedReadTokens: 0,
  cachedWriteTokens: 0,
};

/** The previous answer again, at once, as from a session that never read the prompt. */
function stale(turn: Turn): Answer {
  if (turn.session.prompted < 2) {
    turn.say("A fresh answer.");
    return turn.end();
  }
  turn.say(turn.session.lastAnswer());
  return turn.end("end_turn", { usage: STALE_USAGE });
}

function recall(turn: Turn, key: string): string {
  const found = [...turn.session.told().matchAll(/([\w-]+)=([^\s.,>]+)/g)].findLast((one) => one[1] === key);
  return found === undefined ? `I do not know ${key}.` : `${key} is ${found[2]}`;
}

function settings(turn: Turn): string {
  const { session } = turn;
  const { model, effort, mcpServers, cwd } = session;
  return JSON.stringify({ mode: session.mode, model, effort, mcpServers, cwd });
}

function compact(turn: Turn): Answer {
  turn.update({ sessionUpdate: "compaction_update", compactionId: "c1", status: "in_progress" });
  const call = {
    toolCallId: "compact-1",
    title: "Compact conversation",
    kind: "think",
    status: "in_progress",
  };
  const meta = { _meta: { claudeCode: { toolName: "compact" } } };
  turn.update({ sessionUpdate: "tool_call", ...call, ...meta });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "compact-1", status: "completed" });
  turn.update({ sessionUpdate: "compaction_update", compactionId: "c1", status: "completed", summary: "s" });
  turn.say("Compacted.");
  return turn.end();
}

/** Lines as they are, but for the token that stands for the session. */
function raw(turn: Turn, rest: string): Answer {
  const lines = Buffer.from(rest, "base64").toString("utf8").replaceAll("@SESSION@", turn.session.id);
  process.stdout.write(lines.endsWith("\n") ? lines : `${lines}\n`);
  // Never the same twice: an answer that comes again is taken for an old one.
  turn.say(`Raw ${turn.session.prompted}.`);
  return turn.end();
}

function telling(update: (rest: string) => { readonly [name: string]: unknown }, text: string): Order {
  return (turn, rest) => {
    turn.update(update(rest));
    turn.say(`${text} ${rest}`.trim());
    return turn.end();
  };
}

function title(turn: Turn, rest: string): Answer {
  turn.session.file = { ...turn.session.file, title: rest };
  turn.update({ sessionUpdate: "session_info_update", title: rest });
  turn.say(`Titled ${rest}.`);
  return turn.end();
}

/** A cent more. Claude's program names the model; its option may only say "default". */
function usage(turn: Turn): Answer {
  const { session } = turn;
  const text = "Used some";
  turn.say(text);
  session.spentCents += 1;
  const cost = { amount: session.spentCents / 100, currency: "USD" };
  turn.update({ sessionUpdate: "usage_update", used: 1_234, size: 200_000, cost });
  if (session.inputs.flavour.like === "claude") turn.tellProgram(text);
  return turn.end();
}

function mode(turn: Turn, rest: string): Answer {
  turn.session.set("mode", rest);
  turn.update({ sessionUpdate: "current_mode_update", currentModeId: rest });
  turn.say(`Mode ${rest}.`);
  return turn.end();
}

const PLAN = [
  { content: "look", priority: "high", status: "completed" },
  { content: "leap", priority: "low", status: "pending" },
];

export const ORDERS: { readonly [word: string]: Order } = {
  ...hostOrders,
  say: saying((_turn, rest) => rest),
  remember: saying((_turn, rest) => `Noted ${rest}.`),
  "what is": saying((turn, rest) => recall(turn, rest.replace(/\?$/, ""))),
  config: saying(settings),
  think: (turn, rest) => {
    turn.update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: rest } });
    turn.say(`Thought about it: ${rest.length}.`);
    return turn.end();
  },
  chunks,
  tool: (turn, rest) => tool(turn, ...fileAndText(rest)),
  "tool-slow": (turn, rest) => toolSlow(turn, ...fileAndText(rest)),
  "tool-untold": (turn, rest) => toolUntold(turn, ...fileAndText(rest), false),
  "tool-unwritten": (turn, rest) => toolUntold(turn, ...fileAndText(rest), true),
  "tool-refused": (turn, rest) => toolRefused(turn, ...fileAndText(rest)),
  "tool-child": (turn, rest) => {
    const [file, text] = fileAndText(rest);
    return toolChild(turn, { file, text, apart: false });
  },
  "tool-daemon": (turn, rest) => {
    const [file, text] = fileAndText(rest);
    return toolChild(turn, { file, text, apart: true });
  },
  fail: failLike,
  empty: (turn) => turn.end(),
  silent,
  "silent-deaf": () => forever(),
  partial: async (turn, rest) => {
    turn.say(rest);
    return silent(turn);
  },
  die: (turn) => {
    turn.say("I was about to ");
    return die();
  },
  "die-in-tool": dieInTool,
  "retry-inside": retryInside,
  plan: telling(() => ({ sessionUpdate: "plan", entries: PLAN }), "Planned"),
  mode,
  title,
  usage,
  late: (turn, rest) => late(turn, rest, null),
  "late-on": (turn, rest) => {
    const [file, text] = fileAndText(rest);
    return late(turn, text, file);
  },
  stale,
  compact,
  raw,
};
