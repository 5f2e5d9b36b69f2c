/** Anthropic messages: spoken by Claude, and by opencode through its provider package. */
import { at, listAt, textAt } from "./json.ts";
import { UNCACHED } from "./prompt-cache.ts";
import { commandsOf, piecesOf, type RefusalName, type Reply } from "./reply.ts";
import { frame, freshId, type RawRequest, type Reading, type Wire } from "./wire.ts";

const RESET_S = 3600;

/** Requests an agent makes to help itself along: each has its answer, and none is part of the conversation. */
const NUDGES: readonly (readonly [RegExp, Reply])[] = [
  [/^\[SUGGESTION MODE:/, { text: "" }],
  [/^\[Your previous response had no visible output/, {}],
  [/^Output token limit hit/, { text: "and the rest of it." }],
  [/^Your response above was cut off mid-stream/, { text: "and the rest of it." }],
  [/^Your response above was stopped by a safety classifier/, { text: "Something else, then." }],
];

export const anthropic: Wire = {
  name: "anthropic",
  read,
  frames,
  whole: (reply, raw) =>
    at(raw.body, "stream") === true
      ? undefined
      : at(raw.body, "messages") === undefined
        ? {}
        : whole(reply, raw),
  refusal,
};

function read(raw: RawRequest): Reading {
  const messages = listAt(raw.body, "messages");
  const said = [
    ...textsOf(at(raw.body, "system")),
    ...messages.flatMap((one) => textsOf(at(one, "content"))),
  ];
  const session = raw.headers["x-claude-code-session-id"];
  const last = lastSpoken(messages);
  const prompt = last.texts.findLast((text) => !text.trimStart().startsWith("<system-reminder>")) ?? "";
  const common = { prompt, said, ...(typeof session === "string" ? { session } : {}) };
  if (raw.path.includes("count_tokens")) {
    return { ...common, kind: "other", aside: { status: 200, body: { input_tokens: 10 } } };
  }
  if (raw.method !== "POST" || messages.length === 0) {
    return { ...common, kind: "other", aside: { status: 200, body: { data: [] } } };
  }
  if (listAt(raw.body, "tools").length === 0) {
    return { ...common, kind: "side", aside: { text: JSON.stringify({ title: "A fake title" }) } };
  }
  const nudge = NUDGES.find(([pattern]) => pattern.test(prompt.trimStart()));
  if (nudge !== undefined) return { ...common, kind: "side", aside: nudge[1] };
  return { ...common, kind: "turn", ...(last.result === undefined ? {} : { toolResult: last.result }) };
}

/** The person's last words; after a tool these are some messages back, and the result is the last message. */
function lastSpoken(messages: readonly unknown[]): { texts: readonly string[]; result?: string } {
  let result: string | undefined;
  for (const message of messages.toReversed()) {
    if (textAt(message, "role") !== "user") continue;
    const content = at(message, "content");
    const found = listAt(content).find((block) => textAt(block, "type") === "tool_result");
    if (found === undefined) {
      return { texts: ownTexts(content), ...(result === undefined ? {} : { result }) };
    }
    // A prompt that was merged into the message of a tool's result is a new prompt, not the end of that tool.
    const spoken = ownTexts(content).filter((text) => !text.trimStart().startsWith("<"));
    if (spoken.length > 0 && result === undefined) return { texts: spoken };
    result ??= textsOf(at(found, "content")).join("\n");
  }
  return { texts: [] };
}

function ownTexts(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return listAt(content).flatMap((block) =>
    textAt(block, "type") === "text" ? [textAt(block, "text")] : [],
  );
}

function textsOf(content: unknown): readonly string[] {
  if (typeof content === "string") return [content];
  return listAt(content).flatMap((block) => {
    if (textAt(block, "type") === "tool_use") return [JSON.stringify(at(block, "input"))];
    if (textAt(block, "type") === "tool_result") return textsOf(at(block, "content"));
    return ownTexts([block]);
  });
}

function blocksOf(reply: Reply, raw: RawRequest): readonly Readonly<Record<string, unknown>>[] {
  const shell = listAt(raw.body, "tools").find((tool) => /^(?:bash|shell)$/i.test(textAt(tool, "name")));
  const isDescribed = at(shell, "input_schema", "properties", "description") !== undefined;
  const described = isDescribed ? { description: "What the test asked for" } : {};
  return [
    ...(reply.thinking === undefined
      ? []
      : [{ type: "thinking", thinking: reply.thinking, signature: "ZmFrZQ==" }]),
    ...(reply.text === undefined || reply.text === "" ? [] : [{ type: "text", text: reply.text }]),
    ...commandsOf(reply).map((command) => ({
      type: "tool_use",
      id: freshId("toolu"),
      name: textAt(shell, "name") || "Bash",
      input: { command, ...described },
    })),
  ];
}

function stopReason(reply: Reply): string {
  if (reply.end === "max_tokens" || reply.end === "refusal") return reply.end;
  return reply.command === undefined ? "end_turn" : "tool_use";
}

function empty(reply: Reply, raw: RawRequest): Readonly<Record<string, unknown>> {
  const model = textAt(raw.body, "model");
  const { fresh, read: readTokens, written } = reply.counted ?? UNCACHED;
  const usage = {
    input_tokens: fresh,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: readTokens,
    output_tokens: 1,
  };
  return {
    id: freshId("msg"),
    type: "message",
    role: "assistant",
    model,
    content: [],
    stop_reason: null,
    usage,
  };
}

function whole(reply: Reply, raw: RawRequest): unknown {
  return {
    ...empty(reply, raw),
    content: blocksOf(reply, raw),
    stop_reason: stopReason(reply),
    stop_sequence: null,
  };
}

function frames(reply: Reply, raw: RawRequest): readonly string[] {
  const broken = reply.end === "cut" || reply.end === "error" || reply.end === "hang";
  const out = [frame({ type: "message_start", message: empty(reply, raw) }, "message_start")];
  const blocks = blocksOf(reply, raw);
  blocks.forEach((block, index) => {
    const last = index === blocks.length - 1;
    out.push(...blockFrames(block, index, reply));
    if (broken && last) return;
    out.push(frame({ type: "content_block_stop", index }, "content_block_stop"));
  });
  if (reply.end === "error") {
    const error = { type: "overloaded_error", message: "Overloaded" };
    return [...out, frame({ type: "error", error }, "error")];
  }
  if (broken) return out;
  const delta = { stop_reason: stopReason(reply), stop_sequence: null };
  out.push(
    frame({ type: "message_delta", delta, usage: { output_tokens: blocks.length * 7 } }, "message_delta"),
  );
  return [...out, frame({ type: "message_stop" }, "message_stop")];
}

function blockFrames(
  block: Readonly<Record<string, unknown>>,
  index: number,
  reply: Reply,
): readonly string[] {
  const start = (content_block: unknown): string =>
    frame({ type: "content_block_start", index, content_block }, "content_block_start");
  const delta = (part: unknown): string =>
    frame({ type: "content_block_delta", index, delta: part }, "content_block_delta");
  if (block["type"] === "text") {
    const pieces = piecesOf(reply).map((text) => delta({ type: "text_delta", text }));
    return [start({ type: "text", text: "" }), ...pieces];
  }
  if (block["type"] === "thinking") {
    return [
      start({ type: "thinking", thinking: "", signature: "" }),
      delta({ type: "thinking_delta", thinking: block["thinking"] }),
      delta({ type: "signature_delta", signature: block["signature"] }),
    ];
  }
  const input = delta({ type: "input_json_delta", partial_json: JSON.stringify(block["input"]) });
  return [start({ ...block, input: {} }), input];
}

function refusal(name: RefusalName): Reply {
  const no = (status: number, type: string, message: string): Reply => ({
    status,
    body: { type: "error", error: { type, message } },
  });
  switch (name) {
    case "too_long":
      return no(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    case "unauthorized":
      return no(401, "authentication_error", "invalid x-api-key");
    case "forbidden":
      return no(403, "permission_error", "Your API key does not have permission to use this resource");
    case "rate_limit":
      return no(429, "rate_limit_error", "This request would exceed your rate limit");
    case "limit_with_reset":
    case "usage_limit_reached":
      return {
        ...no(429, "rate_limit_error", "This request would exceed your limit"),
        headers: resetHeaders(),
      };
    case "server_error":
      return no(500, "api_error", "Internal server error");
    case "overloaded":
      return no(529, "overloaded_error", "Overloaded");
    case "credit":
      return no(400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API");
  }
}

/** What a subscription answers when its five hours are used up. */
function resetHeaders(): Readonly<Record<string, string>> {
  return {
    "retry-after": String(RESET_S),
    "x-should-retry": "false",
    "anthropic-ratelimit-unified-status": "rejected",
    "anthropic-ratelimit-unified-reset": String(Math.floor(Date.now() / 1000) + RESET_S),
    "anthropic-ratelimit-unified-representative-claim": "five_hour",
  };
}
