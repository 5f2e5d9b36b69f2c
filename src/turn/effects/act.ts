import type { Clock } from "#conversation/clock";
import type { EntryBody } from "#log/entry";
import type { Json } from "#log/json/json-text";
import type { Tool, ToolOutput } from "./tool.ts";
import { errorText, failedOutput, type KeepBlob, normalOutput, type NormalOutput } from "./tool-output.ts";

export interface ToolCallRequest {
  readonly id: string;
  readonly input: Json;
  /** What the tool's schema made of the input; the tool is given it in its place. */
  readonly value?: Json;
  readonly tool: Tool;
}

type ProgressBody = Extract<EntryBody, { type: "tool_progress" }>;

export interface ActOptions {
  readonly idempotencyKey: string;
  /** The turn's. */
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** For tools that declare no time limit. */
  readonly timeoutMs?: number | undefined;
  readonly keepBlob?: KeepBlob | undefined;
  /** Writes a fact of the call; durable when it resolves. */
  note(body: ProgressBody): Promise<unknown>;
  onProgress?(text: string): void;
}

/** What became of an act; null when nobody knows. */
export interface Acted {
  readonly result: NormalOutput | null;
  /** The processes it made known and has ended: a tool that throws may not have come to that. */
  readonly ended: readonly string[];
}

const GRACE_MS = 6_000; // longer than it takes to end a process group by force
const TIMER_MS_MAX = 2_147_483_647;

/** Runs a tool once, and for no longer than it may: one that does not stop when told to is left to itself. */
export async function act(call: ToolCallRequest, options: ActOptions): Promise<Acted> {
  const { tool } = call;
  const keepBlob = options.keepBlob ?? null;
  const timeoutMs = tool.timeoutMs ?? options.timeoutMs;
  const processes: string[] = [];
  const [late, over] = [new AbortController(), new AbortController()];
  const signal = AbortSignal.any([options.signal, late.signal]);
  using progress = new Progress(call.id, options);
  const running = run(call, {
    idempotencyKey: options.idempotencyKey,
    signal,
    progress: (text) => progress.add(text),
    recordProcess: async (process) => {
      processes.push(process);
      await options.note({ type: "tool_progress", call: call.id, data: { process } });
    },
  });
  if (timeoutMs !== undefined)
    void abortAfter(Math.min(timeoutMs, TIMER_MS_MAX), late, options.clock, over.signal);
  const output = await Promise.race([running, stoppedFor(signal, options.clock, over.signal)]);
  over.abort();
  const limit = late.signal.aborted && timeoutMs !== undefined ? timeoutMs : null;
  if (output === "still_running") {
    // Where it changes nothing there is nothing to be unknown of.
    if (limit === null || tool.effect !== "none") return { result: null, ended: [] };
    return { result: await failedOutput(lateText(tool, limit), tool, keepBlob), ended: [] };
  }
  if ("output" in output)
    return { result: await normalOutput(output.output, tool, keepBlob), ended: processes };
  const why =
    limit === null ? output.error : `${lateText(tool, limit)} Its error: ${errorText(output.error)}`;
  return { result: await failedOutput(why, tool, keepBlob), ended: [] };
}

function lateText({ name }: Tool, limitMs: number): string {
  return `${name} was stopped after ${limitMs / 1_000} s, its time limit. Anything it did before that is not undone.`;
}

type Returned = { readonly output: ToolOutput | string } | { readonly error: unknown };

async function run(
  { tool, input, value }: ToolCallRequest,
  call: Parameters<Tool["run"]>[1],
): Promise<Returned> {
  try {
    return { output: await tool.run(value === undefined ? input : value, call) };
  } catch (error) {
    return { error };
  }
}

async function abortAfter(ms: number, late: AbortController, clock: Clock, over: AbortSignal): Promise<void> {
  await clock.sleep(ms, over);
  if (!over.aborted) late.abort(new DOMException("The tool's time is over", "TimeoutError"));
}

/** Resolves once it has been told to stop for longer than anybody waits. */
async function stoppedFor(signal: AbortSignal, clock: Clock, over: AbortSignal): Promise<"still_running"> {
  if (!signal.aborted) {
    const { promise, resolve } = Promise.withResolvers<void>();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: over });
    await promise;
  }
  await clock.sleep(GRACE_MS, over);
  return "still_running";
}

const PROGRESS_MS = 250;
const PROGRESS_CHARS_MAX = 65_536; // in the log, for one call; whoever watches live is told everything

/** What a tool says while it runs: passed on at once, and in the log a few times a second. */
class Progress implements Disposable {
  readonly #call: string;
  readonly #options: ActOptions;
  readonly #over: AbortController = new AbortController();
  #pending: string = "";
  #chars: number = 0;
  #writing: boolean = false;

  constructor(call: string, options: ActOptions) {
    this.#call = call;
    this.#options = options;
  }

  add(text: string): void {
    if (typeof text !== "string" || text === "" || this.#over.signal.aborted) return;
    this.#options.onProgress?.(text);
    const room = PROGRESS_CHARS_MAX - this.#chars;
    if (room <= 0) return;
    this.#chars += text.length;
    this.#pending += text.slice(0, room);
    if (!this.#writing) void this.#write();
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#pending !== "") {
      await this.#options.clock.sleep(PROGRESS_MS, this.#over.signal);
      if (this.#over.signal.aborted) return;
      const text = this.#pending.toWellFormed();
      this.#pending = "";
      // Who cannot write any more learns it from the outcome.
      await this.#options.note({ type: "tool_progress", call: this.#call, text }).catch(() => undefined);
    }
    this.#writing = false;
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}
