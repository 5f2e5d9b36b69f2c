import type { AnswerParts, WireName } from "./scripted-answer.ts";

type Event = { readonly [name: string]: unknown };

/** The frames of a streamed answer, by the wire. */
export const FRAMES: { readonly [W in WireName]: (parts: AnswerParts, model: string) => readonly string[] } =
  {
    anthropic: (parts, model) => anthropic(parts, model).map((event) => named(event)),
    openai: (parts, model) => openai(parts, model).map((event) => named(event)),
    "openai-compatible": (parts, model) => [
      ...chat(parts, model).map((event) => frame(event)),
      "data: [DONE]\n\n",
    ],
    google: (parts, model) => google(parts, model).map((event) => frame(event)),
  };

/** An error as an event of the stream. */
export const ERROR_FRAMES: { readonly [W in WireName]: (message: string) => string } = {
  anthropic: (message) => named({ type: "error", error: { type: "overloaded_error", message } }),
  openai: (message) =>
    named({
      type: "error",
      sequence_number: 1,
      error: { type: "server_error", code: "server_error", message },
    }),
  "openai-compatible": (message) =>
    frame({ error: { message, type: "server_error", code: null, param: null } }),
  google: (message) => frame({ error: { code: 503, message, status: "UNAVAILABLE" } }),
};

const MORE_WORDS = "and so on ".repeat(100); // a limit of millions is met before long

/** One more piece of text, for an answer that never ends. */
export const MORE_FRAMES: { readonly [W in WireName]: string } = {
  anthropic: named({
    type: "content_block_delta",
    index: 0,
    delta: { type: "text_delta", text: MORE_WORDS },
  }),
  openai: named({
    type: "response.output_text.delta",
    item_id: "msg_1",
    output_index: 0,
    delta: MORE_WORDS,
  }),
  "openai-compatible": frame({
    choices: [{ index: 0, delta: { content: MORE_WORDS }, finish_reason: null }],
  }),
  google: frame({ candidates: [{ content: { role: "model", parts: [{ text: MORE_WORDS }] } }] }),
};

/** An error with a status, in the provider's shape. */
export function errorBody(
  wire: WireName,
  status: number,
  message: string,
  more: { readonly type?: string; readonly code?: string },
): string {
  const { type = "api_error", code = null } = more;
  if (wire === "anthropic") return JSON.stringify({ type: "error", error: { type, message } });
  if (wire === "google")
    return JSON.stringify({ error: { code: status, message, status: type.toUpperCase() } });
  return JSON.stringify({ error: { message, type, code, param: null } });
}

function frame(event: Event): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

function named(event: Event): string {
  return `event: ${String(event["type"])}\n${frame(event)}`;
}

function anthropic(
  { pieces, calls, finish, counts, answer, number }: AnswerParts,
  model: string,
): readonly Event[] {
  const input = counts ?? { input: 0, cached: 0, written: 0, output: 0 };
  const usage = {
    input_tokens: input.input - input.cached - input.written,
    cache_read_input_tokens: input.cached,
    cache_creation_input_tokens: input.written,
    output_tokens: 1,
  };
  const events: Event[] = [
    {
      type: "message_start",
      message: { id: `msg_${number}`, type: "message", role: "assistant", model, content: [], usage },
    },
  ];
  let index = 0;
  const block = (content_block: Event, deltas: readonly Event[]): void => {
    events.push({ type: "content_block_start", index, content_block });
    for (const delta of deltas) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
    index++;
  };
  const { thinking, redacted } = answer;
  if (thinking !== undefined)
    block({ type: "thinking", thinking: "", signature: "" }, [
      { type: "thinking_delta", thinking: thinking.text },
      { type: "signature_delta", signature: thinking.signature },
    ]);
  if (redacted !== undefined) block({ type: "redacted_thinking", data: redacted }, []);
  if (pieces.length > 0)
    block(
      { type: "text", text: "" },
      pieces.map((text) => ({ type: "text_delta", text })),
    );
  for (const { id, name, input: text } of calls)
    block({ type: "tool_use", id, name, input: {} }, [{ type: "input_json_delta", partial_json: text }]);
  const reasons = {
    stop: "end_turn",
    calls: "tool_use",
    length: "max_tokens",
    filtered: "refusal",
    paused: "pause_turn",
  };
  const delta = { stop_reason: reasons[finish], stop_sequence: null };
  events.push(
    { type: "message_delta", delta, usage: { output_tokens: input.output } },
    { type: "message_stop" },
  );
  return events;
}

function openai(
  { pieces, calls, finish, counts, answer, number }: AnswerParts,
  model: string,
): readonly Event[] {
  const response = { id: `resp_${number}`, created_at: 1_700_000_000, model };
  const events: Event[] = [{ type: "response.created", response }];
  let at = 0;
  const item = (added: Event, done: Event, inner: readonly Event[]): void => {
    events.push({ type: "response.output_item.added", output_index: at, item: added });
    events.push(...inner.map((event) => ({ output_index: at, ...event })));
    events.push({ type: "response.output_item.done", output_index: at, item: done });
    at++;
  };
  const { thinking } = answer;
  if (thinking !== undefined) {
    const id = `rs_${number}`;
    const part = { item_id: id, summary_index: 0 };
    item(
      { type: "reasoning", id, encrypted_content: null },
      { type: "reasoning", id, encrypted_content: thinking.signature },
      [
        { type: "response.reasoning_summary_part.added", ...part },
        { type: "response.reasoning_summary_text.delta", ...part, delta: thinking.text },
      ],
    );
  }
  if (pieces.length > 0) {
    const id = `msg_${number}`;
    const deltas = pieces.map((delta) => ({ type: "response.output_text.delta", item_id: id, delta }));
    item({ type: "message", id }, { type: "message", id }, deltas);
  }
  for (const [which, { id: call_id, name, input }] of calls.entries()) {
    const id = `fc_${number}_${which}`;
    const call = { type: "function_call", id, call_id, name };
    item({ ...call, arguments: "" }, { ...call, arguments: input, status: "completed" }, [
      { type: "response.function_call_arguments.delta", item_id: id, delta: input },
    ]);
  }
  const usage =
    counts === null
      ? null
      : {
          input_tokens: counts.input,
          input_tokens_details: { cached_tokens: counts.cached },
          output_tokens: counts.output,
          output_tokens_details: { reasoning_tokens: 0 },
        };
  const reason = finish === "length" ? "max_output_tokens" : finish === "filtered" ? "content_filter" : null;
  const type = reason === null ? "response.completed" : "response.incomplete";
  events.push({
    type,
    response: { ...response, incomplete_details: reason === null ? null : { reason }, usage },
  });
  return events;
}

function chat(
  { pieces, calls, finish, counts, answer, number }: AnswerParts,
  model: string,
): readonly Event[] {
  const head = { id: `chatcmpl-${number}`, object: "chat.completion.chunk", created: 1_700_000_000, model };
  const chunk = (delta: Event, finish_reason: string | null = null): Event => ({
    ...head,
    choices: [{ index: 0, delta, finish_reason }],
  });
  const thinking = answer.thinking === undefined ? [] : [chunk({ reasoning_content: answer.thinking.text })];
  const reasons = {
    stop: "stop",
    calls: "tool_calls",
    length: "length",
    filtered: "content_filter",
    paused: "stop",
  };
  const usage =
    counts === null
      ? []
      : [
          {
            ...head,
            choices: [],
            usage: {
              prompt_tokens: counts.input,
              completion_tokens: counts.output,
              total_tokens: counts.input + counts.output,
              prompt_tokens_details: { cached_tokens: counts.cached },
            },
          },
        ];
  return [
    chunk({ role: "assistant", content: "" }),
    ...thinking,
    ...pieces.map((content) => chunk({ content })),
    ...calls.map(({ id, name, input }, index) =>
      chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: input } }] }),
    ),
    chunk({}, reasons[finish]),
    ...usage,
  ];
}

function google(
  { pieces, calls, finish, counts, answer, number }: AnswerParts,
  model: string,
): readonly Event[] {
  const chunk = (parts: readonly Event[], more: Event = {}): Event => ({
    candidates: [{ content: { role: "model", parts }, index: 0, ...more }],
    modelVersion: model,
    responseId: `resp_${number}`,
  });
  const { thinking } = answer;
  const signature = thinking === undefined ? {} : { thoughtSignature: thinking.signature };
  const reasons = { stop: "STOP", calls: "STOP", length: "MAX_TOKENS", filtered: "SAFETY", paused: "STOP" };
  const usage =
    counts === null
      ? {}
      : {
          usageMetadata: {
            promptTokenCount: counts.input,
            cachedContentTokenCount: counts.cached,
            candidatesTokenCount: counts.output,
            totalTokenCount: counts.input + counts.output,
          },
        };
  return [
    ...(thinking === undefined ? [] : [chunk([{ text: thinking.text, thought: true }])]),
    ...pieces.map((text, at) => chunk([{ text, ...(at === 0 && calls.length === 0 ? signature : {}) }])),
    ...calls.map(({ id, name, input }, at) =>
      chunk([{ functionCall: { id, name, args: argsOf(input) }, ...(at === 0 ? signature : {}) }]),
    ),
    { ...chunk([], { finishReason: reasons[finish] }), ...usage },
  ];
}

/** This wire has objects only. */
function argsOf(input: string): unknown {
  try {
    return JSON.parse(input);
  } catch {
    return { broken: input };
  }
}
