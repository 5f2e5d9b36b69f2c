/** Gemini's generateContent: spoken by gemini-cli. */
import { at, listAt, textAt } from "./json.ts";
import { type Counted, UNCACHED } from "./prompt-cache.ts";
import { piecesOf, type RefusalName, type Reply } from "./reply.ts";
import { frame, type RawRequest, type Reading, type Wire } from "./wire.ts";

export const gemini: Wire = { name: "gemini", read, frames, whole, refusal };

const streams = (raw: RawRequest): boolean => raw.path.includes(":streamGenerateContent");

function read(raw: RawRequest): Reading {
  const contents = listAt(raw.body, "contents");
  const said = [at(raw.body, "systemInstruction"), ...contents].flatMap(textsOf);
  const lastUser = contents.findLastIndex(
    (one) => textAt(one, "role") === "user" && ownTexts(one).length > 0,
  );
  const result = contents
    .slice(lastUser + 1)
    .flatMap(resultsOf)
    .at(-1);
  const common = { prompt: ownTexts(contents[lastUser]).at(-1) ?? "", said };
  if (raw.path.includes(":countTokens")) {
    return { ...common, kind: "other", aside: { status: 200, body: { totalTokens: 10 } } };
  }
  if (contents.length === 0) return { ...common, kind: "other", aside: { status: 200, body: {} } };
  // The router asks which model to use before each prompt; the rest of what is not streamed is upkeep as well.
  const choice = {
    reasoning: "simple",
    model_choice: "flash",
    complexity_reasoning: "simple",
    complexity_score: 1,
  };
  if (!streams(raw)) return { ...common, kind: "side", aside: { text: JSON.stringify(choice) } };
  if (listAt(raw.body, "tools").length === 0) return { ...common, kind: "side" };
  if (common.prompt.includes("[System: You previously returned an empty response")) {
    return { ...common, kind: "side", aside: {} };
  }
  return { ...common, kind: "turn", ...(result === undefined ? {} : { toolResult: result }) };
}

/** The person's words; gemini-cli's own context comes in a tag and is not a prompt. */
function ownTexts(content: unknown): readonly string[] {
  return listAt(content, "parts")
    .map((part) => textAt(part, "text"))
    .filter((text) => text !== "" && !text.trimStart().startsWith("<session_context>"));
}

function resultsOf(content: unknown): readonly string[] {
  return listAt(content, "parts").flatMap((part) => {
    const output = textAt(part, "functionResponse", "response", "output");
    return at(part, "functionResponse") === undefined ? [] : [output.replace(/^(<[^>]*>\s*)?Output: /, "")];
  });
}

function textsOf(content: unknown): readonly string[] {
  return listAt(content, "parts").map((part) => {
    const other = at(part, "functionCall", "args") ?? at(part, "functionResponse", "response");
    return other === undefined ? textAt(part, "text") : JSON.stringify(other);
  });
}

function chunk(counted: Counted, parts: readonly unknown[], finishReason?: string): unknown {
  const { fresh, read: cachedContentTokenCount, written } = counted;
  const promptTokenCount = fresh + cachedContentTokenCount + written;
  const totalTokenCount = promptTokenCount + 7;
  const usageMetadata = {
    promptTokenCount,
    cachedContentTokenCount,
    candidatesTokenCount: 7,
    totalTokenCount,
  };
  const done = finishReason === undefined ? {} : { finishReason };
  return { candidates: [{ content: { role: "model", parts }, index: 0, ...done }], usageMetadata };
}

function partsOf(reply: Reply): readonly unknown[] {
  const args = { command: reply.command, description: "What the test asked for" };
  return [
    ...(reply.thinking === undefined ? [] : [{ text: reply.thinking, thought: true }]),
    ...piecesOf(reply).map((text) => ({ text })),
    ...(reply.command === undefined ? [] : [{ functionCall: { name: "run_shell_command", args } }]),
  ];
}

const FINISH: Readonly<Record<string, string>> = { max_tokens: "MAX_TOKENS", refusal: "SAFETY" };

function frames(reply: Reply): readonly string[] {
  const { counted = UNCACHED } = reply;
  const out = partsOf(reply).map((part) => frame(chunk(counted, [part])));
  if (reply.end === "error") {
    return [
      ...out,
      frame({ error: { code: 503, status: "UNAVAILABLE", message: "The model is overloaded" } }),
    ];
  }
  if (reply.end === "cut" || reply.end === "hang") return out;
  return [...out, frame(chunk(counted, [{ text: "" }], FINISH[reply.end ?? ""] ?? "STOP"))];
}

function whole(reply: Reply, raw: RawRequest): unknown {
  return streams(raw) ? undefined : chunk(reply.counted ?? UNCACHED, [{ text: reply.text ?? "" }], "STOP");
}

function refusal(name: RefusalName): Reply {
  const no = (code: number, status: string, message: string): Reply => ({
    status: code,
    body: { error: { code, status, message } },
  });
  switch (name) {
    case "too_long":
      return no(
        400,
        "INVALID_ARGUMENT",
        "The input token count exceeds the maximum number of tokens allowed",
      );
    case "unauthorized":
      return no(401, "UNAUTHENTICATED", "API key not valid");
    case "forbidden":
      return no(403, "PERMISSION_DENIED", "The caller does not have permission");
    case "rate_limit":
    case "limit_with_reset":
    case "usage_limit_reached":
    case "credit":
      return no(429, "RESOURCE_EXHAUSTED", "You exceeded your current quota");
    case "server_error":
      return no(500, "INTERNAL", "An internal error has occurred");
    case "overloaded":
      return no(503, "UNAVAILABLE", "The model is overloaded");
  }
}
