import type { AnswerParts, WireName } from "./scripted-answer.ts";

type Fields = { readonly [name: string]: unknown };

/** What a service has signed by now; it takes nothing else for its own. */
export class Signed {
  readonly #known = new Set<string>();

  add({ answer: { thinking, redacted } }: AnswerParts): void {
    if (thinking !== undefined) this.#known.add(thinking.signature);
    if (redacted !== undefined) this.#known.add(redacted);
  }

  has(signature: unknown): boolean {
    return typeof signature === "string" && this.#known.has(signature);
  }
}

/** Why the real service answers a request with 400 and its words for it; null where it takes it. */
export function refusalOf(wire: WireName, parsed: unknown, signed: Signed): string | null {
  const body = (parsed ?? {}) as Fields;
  switch (wire) {
    case "anthropic":
      return anthropic(fieldsIn(body["messages"]), signed);
    case "openai":
      return responses(fieldsIn(body["input"]), signed);
    case "openai-compatible":
      return chat(fieldsIn(body["messages"]));
    case "google":
      return google(fieldsIn(body["contents"]));
  }
}

function fieldsIn(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as readonly Fields[]) : [];
}

function blocksOf(message: Fields): readonly Fields[] {
  const { content } = message;
  return typeof content === "string" ? [{ type: "text", text: content }] : fieldsIn(content);
}

function isBlank(text: unknown): boolean {
  return typeof text === "string" && text.trim() === "";
}

function ids(blocks: readonly Fields[], type: string, name: string): readonly string[] {
  return blocks.flatMap((block) => (block["type"] === type ? [String(block[name])] : []));
}

/** Neighbours of one role are read as one message. */
function merged(
  messages: readonly Fields[],
): readonly { readonly role: unknown; readonly blocks: Fields[] }[] {
  const all: { role: unknown; blocks: Fields[] }[] = [];
  for (const message of messages) {
    const last = all.at(-1);
    if (last?.role === message["role"]) last?.blocks.push(...blocksOf(message));
    else all.push({ role: message["role"], blocks: [...blocksOf(message)] });
  }
  return all;
}

function anthropic(messages: readonly Fields[], signed: Signed): string | null {
  if (messages[0]?.["role"] !== "user") return 'messages: first message must use the "user" role';
  if (messages.some((message) => blocksOf(message).length === 0))
    return "messages: all messages must have non-empty content except for the optional final assistant message";
  let asked: readonly string[] = [];
  for (const { blocks } of merged(messages)) {
    if (blocks.some(({ type, text }) => type === "text" && isBlank(text)))
      return "messages: text content blocks must be non-empty";
    const thinking = blocks.filter(({ type }) => type === "thinking");
    if (thinking.some(({ signature }) => !signed.has(signature)))
      return "messages: Invalid `signature` in `thinking` block";
    const results = ids(blocks, "tool_result", "tool_use_id");
    if (blocks.slice(0, results.length).some(({ type }) => type !== "tool_result") || !same(asked, results))
      return `messages: tool_use ids ${asked.join()} need tool_result blocks immediately after, not ${results.join()}`;
    if (blocks.some(({ type, input }) => type === "tool_use" && !isObject(input)))
      return "messages: tool_use.input: Input should be a valid dictionary";
    asked = ids(blocks, "tool_use", "id");
    if (new Set(asked).size !== asked.length) return "messages: `tool_use` ids must be unique";
  }
  const last = messages.at(-1);
  const text = last === undefined ? "" : blocksOf(last).at(-1)?.["text"];
  if (last?.["role"] === "assistant" && typeof text === "string" && text.trimEnd() !== text)
    return "messages: final assistant content cannot end with trailing whitespace";
  return asked.length === 0 ? null : "messages: `tool_use` ids were found without `tool_result` blocks";
}

function isObject(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function responses(items: readonly Fields[], signed: Signed): string | null {
  const calls = ids(items, "function_call", "call_id");
  const outputs = ids(items, "function_call_output", "call_id");
  const unanswered = calls.find((id) => !outputs.includes(id));
  if (unanswered !== undefined) return `No tool output found for function call ${unanswered}.`;
  const stray = outputs.find((id) => !calls.includes(id));
  if (stray !== undefined) return `No tool call found for function call output with call_id ${stray}.`;
  for (const [at, item] of items.entries()) {
    if (item["type"] !== "reasoning") continue;
    const next = items[at + 1];
    if (next === undefined || next["role"] === "user" || next["type"] === "function_call_output")
      return `Item '${String(item["id"])}' of type 'reasoning' was provided without its required following item.`;
    if (!signed.has(item["encrypted_content"]))
      return "The encrypted content for item could not be verified.";
  }
  return null;
}

function chat(messages: readonly Fields[]): string | null {
  let open: readonly string[] = [];
  for (const message of messages) {
    const id = message["tool_call_id"];
    if (message["role"] === "tool") {
      if (!open.includes(String(id)))
        return "messages with role 'tool' must be a response to a preceding message with 'tool_calls'.";
      open = open.filter((call) => call !== id);
      continue;
    }
    const unanswered = "An assistant message with 'tool_calls' must be followed by tool messages";
    if (open.length > 0) return unanswered;
    open = fieldsIn(message["tool_calls"]).map((call) => String(call["id"]));
    const { content } = message;
    if (open.length === 0 && (content === null || content === undefined || content === ""))
      return "Invalid value for 'content': expected a string, got null.";
  }
  return open.length === 0
    ? null
    : "An assistant message with 'tool_calls' must be followed by tool messages";
}

function google(contents: readonly Fields[]): string | null {
  if (contents[0]?.["role"] !== "user")
    return "Please ensure that multiturn requests alternate between user and model";
  if (contents.some(({ parts }) => fieldsIn(parts).length === 0))
    return "GenerateContentRequest.contents: contents.parts must not be empty.";
  let calls = 0;
  for (const { role, parts } of contents) {
    const answers = fieldsIn(parts).filter((part) => "functionResponse" in part).length;
    if (answers !== calls)
      return "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.";
    calls = role === "model" ? fieldsIn(parts).filter((part) => "functionCall" in part).length : 0;
  }
  return calls === 0 ? null : "Please ensure that function call turns are followed by function responses.";
}

function same(some: readonly string[], others: readonly string[]): boolean {
  return some.toSorted().join("\n") === others.toSorted().join("\n");
}
