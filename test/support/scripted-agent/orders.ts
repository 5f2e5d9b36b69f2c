/** What a prompt can order. The order is the last line of the last text block; what stands before is only remembered. */
import { writeFileSync } from "node:fs";
import { failLike } from "./failures.ts";
import { dieInTool, tool, toolChild, toolRefused, toolSlow, toolUntold } from "./tools.ts";
import { type Answer, die, fileThere, forever, type Turn, untilCancelled } from "./turn.ts";
import { once } from "node:events";
import { fieldsOf, textOf, type Fields } from "./wire.ts";

/** Orders that ask something of the host, or tell it what no schema knows. */
async function ask(turn: Turn, method: string, params: Fields): Promise<Fields> {
  const sessionId = turn.session.id;
  return turn.session.inputs.wire.request(method, { sessionId, ...params });
}

const readFile: Order = async (turn, path) => {
  const answer = await ask(turn, "fs/read_text_file", { path });
  turn.say(`The file says: ${textOf(fieldsOf(answer["result"])["content"])}`);
  return turn.end();
};

const terminal: Order = async (turn, command) => {
  const created = fieldsOf((await ask(turn, "terminal/create", { command, args: [] }))["result"]);
  const { terminalId } = created;
  turn.update({
    sessionUpdate: "tool_call",
    toolCallId: "term-1",
    title: command,
    status: "in_progress",
    content: [{ type: "terminal", terminalId }],
  });
  await ask(turn, "terminal/wait_for_exit", { terminalId });
  const output = fieldsOf((await ask(turn, "terminal/output", { terminalId }))["result"]);
  await ask(turn, "terminal/release", { terminalId });
  turn.update({ sessionUpdate: "tool_call_update", toolCallId: "term-1", status: "completed" });
  turn.say(`The terminal says: ${textOf(output["output"])}`);
  return turn.end();
};

/** Kinds, members, numbers and white space that no parser keeps, then a question only this vendor would ask. */
const unknown: Order = async (turn) => {
  const { wire } = turn.session.inputs;
  const id = JSON.stringify(turn.session.id);
  wire.write(
    `{"jsonrpc":"2.0", "method":"session/update","params":{"sessionId":${id},"update":{"sessionUpdate":"x_future","big":12345678901234567890,"twice":1,"twice":2},"beside":true}}`,
    ` {"params" : {"update":{"sessionUpdate":"agent_thought_chunk","content":{"type":"x_scent","smell":1e400,"_meta":null}},\t"sessionId":${id}} ,"method":"session/update","jsonrpc":"2.0","odd":{}}`,
    `{"jsonrpc":"2.0","method":"_vendor/notify","params":{"sessionId":${id},"n":0.10,"u":"\\u0041\\ud800"}}`,
  );
  const answer = await ask(turn, "_vendor/ask", { question: "why" });
  turn.say(`The vendor heard ${JSON.stringify(answer["result"] ?? answer["error"])}.`);
  return turn.end();
};

const FLOOD_CHARS = 8_000;

/** As many numbered lines as are asked for, as fast as they are read; the file says how many went out. */
const flood: Order = async (turn, rest) => {
  const [lines, file = ""] = rest.split(" ");
  for (let line = 0; line < Number(lines); line++) {
    const update = turn.chunkUpdate(`${line} `.padEnd(FLOOD_CHARS, "."));
    turn.update(update);
    if (process.stdout.writableNeedDrain) {
      writeFileSync(file, String(line));
      await once(process.stdout, "drain");
    }
  }
  writeFileSync(file, String(lines));
  return turn.end();
};

const hostOrders: { readonly [word: string]: Order } = {
  "read-file": readFile,
  terminal,
  unknown,
  flood,
};

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
