/** Orders that ask something of the host, or tell it what no schema knows. */
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import type { Order } from "./orders.ts";
import type { Turn } from "./turn.ts";
import { fieldsOf, textOf, type Fields } from "./wire.ts";

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

export const hostOrders: { readonly [word: string]: Order } = {
  "read-file": readFile,
  terminal,
  unknown,
  flood,
};
