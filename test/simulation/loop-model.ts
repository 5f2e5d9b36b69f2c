import { createHash } from "node:crypto";
import {
  APICallError,
  type LanguageModelV4,
  type LanguageModelV4CallOptions,
  type LanguageModelV4Message,
  type LanguageModelV4StreamPart,
  type LanguageModelV4ToolCallPart,
} from "@ai-sdk/provider";
import { refusedPrompt } from "#agent/models/sim-model";
import { OUTCOME_UNKNOWN } from "#log/projections/pairs";
import type { Clock } from "#conversation/clock";
import { type Act, actsFor, commandsOf, type Line } from "#testing/agent/replies";
import { GO_ON } from "#turn/rules/unanswered";

/** What goes wrong with a model's service, and where in an answer. */
export const MODEL_FAULTS = {
  limit: "start",
  credit: "start",
  overload: "start",
  auth: "start",
  too_long: "start",
  poison: "start",
  refused: "start",
  empty: "start",
  garbage: "text",
  error: "text",
  cut: "text",
  early_end: "text",
  hang: "text",
} as const;
export type ModelFault = keyof typeof MODEL_FAULTS;

const STATUSES: { readonly [F in ModelFault]?: readonly [number, string] } = {
  limit: [429, "Rate limit reached"],
  credit: [429, "You exceeded your current quota: insufficient_quota"],
  overload: [529, "Overloaded"],
  auth: [401, "Invalid API key"],
  too_long: [400, "prompt is too long: 250000 tokens > 200000 maximum"],
  poison: [400, "Could not process image"],
  refused: [422, "A parameter is wrong"],
};

export interface LoopModelOptions {
  readonly clock: Clock;
  /** The fault that strikes here, if one does; asked once per answer. */
  readonly fault: () => ModelFault | null;
  /** A request that every service would refuse for good. */
  readonly onRefused: (why: string) => void;
}

const PIECE_MS = 40;

/** A model of this simulation: it knows what it is sent and nothing else, and does what is ordered. */
export function loopModel({ clock, fault, onRefused }: LoopModelOptions): LanguageModelV4 {
  return {
    specificationVersion: "v4",
    provider: "simulated",
    modelId: "loop",
    supportedUrls: {},
    doGenerate: () => Promise.reject(new Error("only streams")),
    doStream: async (options) => {
      const refused = refusedPrompt(options.prompt) ?? unsigned(options.prompt);
      if (refused !== null) {
        onRefused(refused);
        throw failure(400, refused);
      }
      const struck = fault();
      await clock.sleep(PIECE_MS, options.abortSignal ?? new AbortController().signal);
      const [status, message] = (struck === null ? undefined : STATUSES[struck]) ?? [];
      if (status !== undefined) throw failure(status, message ?? "");
      return { stream: streamOf(options, clock, struck) };
    },
  };
}

function failure(statusCode: number, message: string): APICallError {
  return new APICallError({ message, url: "loopback", requestBodyValues: {}, statusCode, responseBody: "" });
}

function streamOf(
  { prompt, abortSignal }: LanguageModelV4CallOptions,
  clock: Clock,
  fault: ModelFault | null,
): ReadableStream<LanguageModelV4StreamPart> {
  const parts = fault === "empty" ? [finish("stop", 1)] : partsOf(prompt);
  const breaks = fault !== null && MODEL_FAULTS[fault] === "text" ? Math.floor(parts.length / 2) : -1;
  const signal = abortSignal ?? new AbortController().signal;
  let at = 0;
  return new ReadableStream<LanguageModelV4StreamPart>({
    async pull(controller) {
      await clock.sleep(fault === "hang" && at === breaks ? Number.POSITIVE_INFINITY : PIECE_MS, signal);
      if (signal.aborted) return controller.error(signal.reason);
      if (at === breaks && fault === "cut") return controller.error(failure(200, "terminated"));
      if (at === breaks && fault === "early_end") return controller.close();
      if (at === breaks && fault === "garbage") controller.enqueue({ type: "error", error: "\u0000{half" });
      if (at === breaks && fault === "error")
        controller.enqueue({ type: "error", error: { type: "overloaded_error", message: "Overloaded" } });
      const part = parts[at++];
      if (part === undefined) controller.close();
      else controller.enqueue(part);
    },
  });
}

function finish(unified: "stop" | "tool-calls", output: number): LanguageModelV4StreamPart {
  return {
    type: "finish",
    finishReason: { unified, raw: undefined },
    usage: {
      inputTokens: { total: 10, noCache: 10, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: output, text: output, reasoning: undefined },
    },
  };
}

function partsOf(prompt: readonly LanguageModelV4Message[]): readonly LanguageModelV4StreamPart[] {
  const { acts, results } = whatToDo(prompt);
  const words = [
    ...results.map((text) => `I heard: ${text}. `),
    ...acts.flatMap((act) => (act.do === "say" ? [`${act.pieces.join("")}\n`] : [])),
  ].join("");
  // Every answer numbers its calls anew, as some providers do.
  const calls = acts.flatMap((act) => (act.do === "email" ? [act] : []));
  return [
    { type: "stream-start", warnings: [] },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: THOUGHT },
    { type: "reasoning-end", id: "r", providerMetadata: signed(THOUGHT) },
    { type: "text-start", id: "t" },
    ...(words.match(/.{1,80}/gs) ?? []).map((delta) => ({ type: "text-delta", id: "t", delta }) as const),
    { type: "text-end", id: "t" },
    ...calls.map(
      ({ input }, at) =>
        ({
          type: "tool-call",
          toolCallId: `call_${at}`,
          toolName: "send_email",
          input: JSON.stringify(input),
          providerMetadata: signed(JSON.stringify(input)),
        }) as const,
    ),
    finish(calls.length > 0 ? "tool-calls" : "stop", 1 + words.length),
  ];
}

const THOUGHT = "I do what I am told.";

/** A service signs what it has thought and called, and wants it back as it was. */
function signed(text: string): { readonly simulated: { readonly signature: string } } {
  return { simulated: { signature: createHash("sha256").update(text).digest("hex").slice(0, 16) } };
}

/** What of its own came back changed, or without its signature; calls of others have none. */
function unsigned(prompt: readonly LanguageModelV4Message[]): string | null {
  for (const { role, content } of prompt) {
    if (role !== "assistant") continue;
    for (const part of content) {
      if (part.type !== "reasoning" && part.type !== "tool-call") continue;
      const { text, own } = part.type === "reasoning" ? { text: part.text, own: true } : calledAs(part);
      const { signature } = part.providerOptions?.["simulated"] ?? {};
      if (own && signature !== signed(text).simulated.signature)
        return `the signature of a ${part.type} is not right`;
    }
  }
  return null;
}

function calledAs({ input, toolCallId }: LanguageModelV4ToolCallPart): {
  readonly text: string;
  readonly own: boolean;
} {
  return { text: typeof input === "string" ? input : JSON.stringify(input), own: OWN_CALL.test(toolCallId) };
}

const OWN_CALL = /^call_\d+(?:_\d+)*$/;

/** What the newest words of a person order, or what the tools of the last answer came to. */
function whatToDo(prompt: readonly LanguageModelV4Message[]): {
  readonly acts: readonly Act[];
  readonly results: readonly string[];
} {
  // A reminder is nobody's word.
  const told = prompt.filter(
    (message) => message.role !== "system" && (message.role !== "user" || textOf(message).trim() !== ""),
  );
  const memory = told.flatMap(linesOf);
  const heard = told.at(-1)?.role === "tool";
  const results = heard ? lastGroup(told, "tool").flatMap((message) => resultsOf(message)) : [];
  // Whoever was cut off begins anew with what it had been asked; whoever has acted says what it had to say once more.
  const before = told.findLastIndex(({ role }) => role === "user");
  const newest = lastGroup(told.slice(0, before + 1), "user");
  const said = newest.filter((message) => textOf(message).trim() !== GO_ON);
  const earlier = told.slice(0, before + 1 - newest.length);
  const cutOff = earlier.slice(0, earlier.findLastIndex(({ role }) => role === "user") + 1);
  const orders = said.length < newest.length ? [...lastGroup(cutOff, "user"), ...said] : said;
  const acts = orders.flatMap((message) =>
    commandsOf(textOf(message)).flatMap((command) => {
      const act = actsFor(command, memory);
      // What was asked before and never answered is said by now, and not done unless a person asks again.
      return act.do === "say" || (!heard && message === orders.at(-1)) ? [act] : [];
    }),
  );
  return { acts, results };
}

function lastGroup(
  told: readonly LanguageModelV4Message[],
  role: LanguageModelV4Message["role"],
): readonly LanguageModelV4Message[] {
  const before = told.findLastIndex((message) => message.role !== role);
  return told.slice(before + 1);
}

const REMINDER = /<system-reminder>[\s\S]*?<\/system-reminder>/g;

function textOf(message: LanguageModelV4Message): string {
  if (typeof message.content === "string") return message.content;
  const parts: readonly { readonly type: string; readonly text?: string }[] = message.content;
  return parts
    .flatMap(({ type, text }) => (type === "text" ? [text ?? ""] : []))
    .join("\n")
    .replaceAll(REMINDER, "");
}

function resultsOf(message: LanguageModelV4Message): readonly string[] {
  if (message.role !== "tool") return [];
  return message.content.flatMap((part) => (part.type === "tool-result" ? [outputOf(part)] : []));
}

function outputOf({ output }: { readonly output: unknown }): string {
  const { value } = output as { readonly value?: unknown };
  return typeof value === "string" ? value : JSON.stringify(value ?? output);
}

/** A message as the simulated agents remember what happened; a call is what its result says of it. */
function linesOf(
  message: LanguageModelV4Message,
  at: number,
  told: readonly LanguageModelV4Message[],
): Line[] {
  if (message.role === "tool")
    return message.content.flatMap((part): Line[] => {
      if (part.type !== "tool-result") return [];
      const text = outputOf(part);
      const failed = part.output.type.startsWith("error") || part.output.type === "execution-denied";
      const state = text.includes(OUTCOME_UNKNOWN) ? "outcome unknown" : failed ? "failed" : "done";
      return [
        { role: "tool", text: `${part.toolName} ${inputOf(told.slice(0, at), part.toolCallId)}: ${state}` },
      ];
    });
  const text = textOf(message);
  return text.trim() === "" || message.role === "system" ? [] : [{ role: message.role, text }];
}

function inputOf(before: readonly LanguageModelV4Message[], call: string): string {
  for (const message of before.toReversed()) {
    if (message.role !== "assistant") continue;
    const found = message.content.find((part) => part.type === "tool-call" && part.toolCallId === call);
    if (found?.type === "tool-call")
      return typeof found.input === "string" ? found.input : JSON.stringify(found.input);
  }
  return "{}";
}
