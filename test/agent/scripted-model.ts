import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4StreamPart,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { refusedPrompt } from "#agent/models/sim-model";

/** One answer: what is streamed, in order. */
interface ScriptedAnswer {
  readonly thinking?: string;
  readonly text?: string;
  readonly calls?: readonly {
    readonly id: string;
    readonly name: string;
    readonly input: unknown;
  }[];
  readonly finish?: "stop" | "length" | "tool-calls" | "content-filter" | "error" | "other";
  readonly usage?: { readonly input: number; readonly output: number; readonly cached?: number } | null;
  /** Thrown in place of an answer. */
  readonly error?: Error;
  /** Awaited before the answer's last part. */
  readonly until?: Promise<unknown>;
}

type Script = readonly (ScriptedAnswer | ((asked: LanguageModelV4CallOptions) => ScriptedAnswer))[];

/** A model that answers by a script and keeps what it was asked; once the script is over it says "done". */
export class ScriptedModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider: string = "scripted";
  readonly modelId: string;
  readonly supportedUrls = {};
  readonly asked: LanguageModelV4CallOptions[] = [];
  readonly #script: Script;

  constructor(script: Script, modelId: string = "one") {
    this.#script = script;
    this.modelId = modelId;
  }

  async doGenerate(): Promise<never> {
    throw new Error("only streams");
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    const refused = refusedPrompt(options.prompt);
    if (refused !== null) throw Object.assign(new Error(refused), { statusCode: 400 });
    const next = this.#script[this.asked.length] ?? { text: "done" };
    this.asked.push(structuredClone({ ...options, abortSignal: undefined }) as never);
    const answer = typeof next === "function" ? next(options) : next;
    if (answer.error !== undefined) throw answer.error;
    const signal = options.abortSignal;
    const stream = new ReadableStream<LanguageModelV4StreamPart>({
      async start(controller) {
        const parts = [...partsOf(answer)];
        const last = parts.pop();
        for (const part of parts) controller.enqueue(part);
        const aborted = new Promise<void>((resolve) =>
          signal?.addEventListener("abort", () => resolve(), { once: true }),
        );
        await Promise.race([answer.until, ...(answer.until === undefined ? [] : [aborted])]);
        if (signal?.aborted === true) return controller.error(signal.reason);
        if (last !== undefined) controller.enqueue(last);
        controller.close();
      },
    });
    return { stream };
  }
}

function* partsOf(answer: ScriptedAnswer): Generator<LanguageModelV4StreamPart> {
  const { thinking, text, calls = [], usage } = answer;
  yield { type: "stream-start", warnings: [] };
  if (thinking !== undefined) {
    yield { type: "reasoning-start", id: "r" };
    yield { type: "reasoning-delta", id: "r", delta: thinking };
    yield { type: "reasoning-end", id: "r" };
  }
  if (text !== undefined) {
    yield { type: "text-start", id: "t" };
    for (const piece of text.match(/.{1,8}/gs) ?? []) yield { type: "text-delta", id: "t", delta: piece };
    yield { type: "text-end", id: "t" };
  }
  for (const { id, name, input } of calls) {
    const given = typeof input === "string" ? input : JSON.stringify(input);
    yield { type: "tool-call", toolCallId: id, toolName: name, input: given };
  }
  const { input = 100, output = 10, cached = 0 } = usage ?? {};
  const none = usage === null;
  yield {
    type: "finish",
    finishReason: { unified: answer.finish ?? (calls.length > 0 ? "tool-calls" : "stop"), raw: undefined },
    usage: {
      inputTokens: none
        ? { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined }
        : { total: input, noCache: input - cached, cacheRead: cached, cacheWrite: undefined },
      outputTokens: none
        ? { total: undefined, text: undefined, reasoning: undefined }
        : { total: output, text: output, reasoning: undefined },
    },
  };
}
