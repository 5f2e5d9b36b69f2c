/**
 * An ACP agent that only streams, for the benchmark of the bridge: a prompt says how many updates and how fast, and each
 * carries the moment it was written. The clock is the machine's, so another process can compare.
 */
import { createInterface } from "node:readline";
import type { Stream } from "./acp-stream.ts";

const WORDS =
  "the quick brown fox jumps over the lazy dog and goes on to see what else there is to jump over ";

/** Text and tools as agents mix them: 150 to 400 bytes a line. */
function update(index: number): object {
  if (index % 10 < 7)
    return {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text: WORDS.slice(0, 12 + ((index * 7) % 80)) },
      messageId: "msg_01",
    };
  const toolCallId = `call_${Math.trunc(index / 10)}`;
  const rawInput = { command: `grep -rn ${WORDS.slice(0, 40)} src | head` };
  if (index % 10 === 7)
    return {
      sessionUpdate: "tool_call",
      toolCallId,
      title: "Search",
      kind: "search",
      status: "pending",
      rawInput,
    };
  const content = [{ type: "content", content: { type: "text", text: WORDS } }];
  if (index % 10 === 8)
    return { sessionUpdate: "tool_call_update", toolCallId, status: "in_progress", content };
  return {
    sessionUpdate: "tool_call_update",
    toolCallId,
    status: "completed",
    content,
    rawOutput: { matches: 3 },
  };
}

function write(message: object): boolean {
  return process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

function stamped(sessionId: string, index: number): boolean {
  const params = { sessionId, update: update(index) };
  const _meta = { sent: String(process.hrtime.bigint()) };
  return write({ method: "session/update", params: { ...params, _meta } });
}

/** `burst` updates every so often until all are written; a burst of 0 writes as fast as it is read. */
async function stream(sessionId: string, { updates, burst, everyMs }: Stream): Promise<void> {
  for (let index = 0; index < updates; index++) {
    const free = stamped(sessionId, index);
    const wait = Promise.withResolvers<void>();
    if (burst > 0 && (index + 1) % burst === 0) setTimeout(wait.resolve, everyMs);
    else if (!free) process.stdout.once("drain", wait.resolve);
    else continue;
    await wait.promise;
  }
}

let sessions = 0;

async function answer(method: string, params: { readonly [name: string]: unknown }): Promise<object> {
  if (method === "initialize") return { protocolVersion: 1, agentCapabilities: {} };
  if (method === "session/new") return { sessionId: `bench-${process.pid}-${++sessions}` };
  const [block] = params["prompt"] as readonly { readonly text: string }[];
  await stream(String(params["sessionId"]), JSON.parse(block?.text ?? "{}") as Stream);
  return { stopReason: "end_turn" };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as {
    readonly id?: number;
    readonly method?: string;
    readonly params?: { readonly [name: string]: unknown };
  };
  if (id === undefined || method === undefined) continue;
  void answer(method, params ?? {}).then((result) => write({ id, result }));
}
process.exit(0);
