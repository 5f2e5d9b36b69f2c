/** OpenAI responses: spoken by Codex. */
import { at, listAt, textAt } from "./json.ts";
import { UNCACHED } from "./prompt-cache.ts";
import { commandsOf, piecesOf, type RefusalName, type Reply } from "./reply.ts";
import { frame, freshId, type RawRequest, type Reading, type Wire } from "./wire.ts";

const RESET_S = 3600;

export const responses: Wire = {
  name: "responses",
  read,
  frames,
  whole: (_reply, raw) => (at(raw.body, "input") === undefined ? { data: [], models: [] } : undefined),
  refusal,
};

function read(raw: RawRequest): Reading {
  const input = listAt(raw.body, "input");
  const session = textAt(raw.body, "prompt_cache_key");
  const said = [textAt(raw.body, "instructions"), ...input.flatMap(textsOf)];
  const lastUser = input.findLastIndex(isSpoken);
  const result = input.slice(lastUser + 1).findLast((item) => textAt(item, "type").endsWith("_output"));
  const prompt = ownTexts(input[lastUser]).at(-1) ?? "";
  const common = { prompt, said, ...(session === "" ? {} : { session }) };
  if (raw.method !== "POST" || input.length === 0) return { ...common, kind: "other" };
  if (listAt(raw.body, "tools").length === 0) {
    return { ...common, kind: "side", aside: { text: JSON.stringify({ title: "A fake title" }) } };
  }
  if (session.startsWith("guardian:")) {
    return {
      ...common,
      kind: "side",
      aside: { text: JSON.stringify({ outcome: "allow", risk_level: "low" }) },
    };
  }
  return { ...common, kind: "turn", ...(result === undefined ? {} : { toolResult: outputOf(result) }) };
}

/** Codex puts its environment and instructions in messages of the user's role, each in a tag. */
function isSpoken(item: unknown): boolean {
  return textAt(item, "role") === "user" && ownTexts(item).some((text) => !/^\s*(<|# AGENTS\.md)/.test(text));
}

function ownTexts(item: unknown): readonly string[] {
  return listAt(item, "content").map((part) => textAt(part, "text"));
}

function textsOf(item: unknown): readonly string[] {
  const call = textAt(item, "arguments");
  return [
    ...ownTexts(item),
    ...(call === "" ? [] : [call]),
    ...(at(item, "output") === undefined ? [] : [outputOf(item)]),
  ];
}

/** Codex heads an output with facts of its own; the tool's words follow this line. */
function outputOf(item: unknown): string {
  const output = at(item, "output");
  const text =
    typeof output === "string"
      ? output
      : listAt(output)
          .map((part) => textAt(part, "text"))
          .join("\n");
  return text.split(/^Output:\n/m).at(-1) ?? text;
}

function callOf(command: string, { asking }: Reply, raw: RawRequest): Readonly<Record<string, unknown>> {
  const names = new Set(listAt(raw.body, "tools").map((tool) => textAt(tool, "name")));
  const base = { type: "function_call", id: freshId("fc"), call_id: freshId("call"), status: "completed" };
  const out =
    asking === true
      ? { sandbox_permissions: "require_escalated", justification: "The test asked for it" }
      : {};
  if (names.has("exec_command")) {
    return { ...base, name: "exec_command", arguments: JSON.stringify({ cmd: command, ...out }) };
  }
  if (names.has("shell_command")) {
    return { ...base, name: "shell_command", arguments: JSON.stringify({ command, ...out }) };
  }
  const shell = { command: ["bash", "-lc", command], ...out };
  return { ...base, name: "shell", arguments: JSON.stringify(shell) };
}

function frames(reply: Reply, raw: RawRequest): readonly string[] {
  const id = freshId("resp");
  const out: string[] = [];
  const put = (type: string, rest: object): number => out.push(frame({ type, ...rest }, type));
  put("response.created", { response: { id, status: "in_progress" } });
  if (reply.thinking !== undefined) {
    const item = {
      type: "reasoning",
      id: freshId("rs"),
      summary: [{ type: "summary_text", text: reply.thinking }],
    };
    put("response.output_item.added", { output_index: 0, item: { ...item, summary: [] } });
    put("response.reasoning_summary_part.added", { item_id: item.id, output_index: 0, summary_index: 0 });
    put("response.reasoning_summary_text.delta", {
      item_id: item.id,
      summary_index: 0,
      delta: reply.thinking,
    });
    put("response.output_item.done", { output_index: 0, item });
  }
  if (reply.text !== undefined && reply.text !== "") {
    const item = { type: "message", id: freshId("msg"), role: "assistant" };
    put("response.output_item.added", { output_index: 0, item: { ...item, content: [] } });
    for (const delta of piecesOf(reply)) {
      put("response.output_text.delta", { item_id: item.id, output_index: 0, content_index: 0, delta });
    }
    if (reply.end === "cut" || reply.end === "hang") return out;
    if (reply.end === "error") {
      const error = { code: "server_error", message: "The model gave up" };
      put("response.failed", { response: { id, status: "failed", error } });
      return out;
    }
    const content = [{ type: "output_text", text: reply.text }];
    put("response.output_item.done", { output_index: 0, item: { ...item, content } });
  }
  commandsOf(reply).forEach((command, index) => {
    put("response.output_item.done", { output_index: index + 1, item: callOf(command, reply, raw) });
  });
  finish(put, id, reply);
  return out;
}

function finish(put: (type: string, rest: object) => void, id: string, reply: Reply): void {
  if (reply.end === "max_tokens" || reply.end === "refusal") {
    const reason = reply.end === "refusal" ? "content_filter" : "max_output_tokens";
    put("response.incomplete", { response: { id, status: "incomplete", incomplete_details: { reason } } });
    return;
  }
  const { fresh, read: readTokens, written } = reply.counted ?? UNCACHED;
  const inputTokens = fresh + readTokens + written;
  const usage = {
    input_tokens: inputTokens,
    input_tokens_details: { cached_tokens: readTokens },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: inputTokens + 7,
  };
  put("response.completed", { response: { id, status: "completed", output: [], usage } });
}

function refusal(name: RefusalName): Reply {
  const no = (status: number, type: string, message: string): Reply => ({
    status,
    body: { error: { type, message, code: type, param: null } },
  });
  switch (name) {
    case "too_long":
      return no(400, "context_length_exceeded", "Your input exceeds the context window of this model");
    case "unauthorized":
      return no(401, "invalid_api_key", "Incorrect API key provided");
    case "forbidden":
      return no(403, "permission_denied", "You do not have access to this model");
    case "rate_limit":
      return no(429, "rate_limit_exceeded", "Rate limit reached");
    case "limit_with_reset":
    case "usage_limit_reached": {
      const resets_at = Math.floor(Date.now() / 1000) + RESET_S;
      const error = {
        type: "usage_limit_reached",
        message: "The usage limit has been reached",
        plan_type: "plus",
        resets_at,
      };
      return { status: 429, body: { error } };
    }
    case "server_error":
      return no(500, "server_error", "The server had an error");
    case "overloaded":
      return no(503, "overloaded", "The server is overloaded");
    case "credit":
      return no(429, "insufficient_quota", "You exceeded your current quota");
  }
}
