import type { StampedDraft } from "#log/batch";
import { ENDING_CLASSES } from "#log/ending-class";
import type { Bodies } from "#log/entry";
import { ERROR_GROUPS, isLogError } from "#log/errors";
import type { Usage } from "#log/message";
import type { StoreFailure, StoreObserver, WrittenBatch } from "#store/decorate";
import { isKnownReason } from "#operations/text";
import { CallsWithoutIntent } from "./calls-without-intent.ts";
import { Counter, type Family, gauge, Histogram, metricsText } from "./metrics-text.ts";

const WRITE_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const ANSWER_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];

const CLASSES: ReadonlySet<string> = new Set(ENDING_CLASSES);
const METHODS: ReadonlySet<string> = new Set(["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"]);
const OTHER = "other"; // what the log may call as it likes must not become a figure of its own each

/** The figures that operators watch, of one process: counted from what is written to its store, and what it is asked over HTTP. */
export class Metrics implements StoreObserver {
  readonly #turns = new Counter({ name: "holdfast_turns_total", help: "Turns that ended, by outcome." });
  readonly #attempts = new Counter({
    name: "holdfast_attempts_total",
    help: "Requests to models and agent sessions.",
  });
  readonly #rollovers = new Counter({
    name: "holdfast_rollovers_total",
    help: "Moves of a conversation to another agent session, by reason.",
  });
  readonly #tools = new Counter({
    name: "holdfast_tool_calls_total",
    help: "Tool calls started, including tools without side effects.",
  });
  readonly #tokens = new Counter({
    name: "holdfast_tokens_total",
    help: "Tokens used by answers and attempts, as reported.",
  });
  readonly #entries = new Counter({ name: "holdfast_entries_total", help: "Entries written." });
  readonly #writes = new Histogram(
    { name: "holdfast_append_duration_seconds", help: "Time for the store to acknowledge a batch." },
    WRITE_SECONDS,
  );
  readonly #conflicts = new Counter({
    name: "holdfast_conflicts_total",
    help: "Store calls rejected because another writer was first, by code.",
  });
  readonly #errors = new Counter({
    name: "holdfast_store_errors_total",
    help: "Store calls that failed, by operation and code.",
  });
  readonly #requests = new Counter({
    name: "holdfast_http_requests_total",
    help: "Requests answered, by method and status.",
  });
  readonly #answers = new Histogram(
    {
      name: "holdfast_http_request_duration_seconds",
      help: "Time until the first byte of a response, streams included.",
    },
    ANSWER_SECONDS,
  );
  readonly #refused = new Counter({
    name: "holdfast_http_refused_total",
    help: "Requests rejected or failed, by code.",
  });
  /** The turn that is open in a conversation, as far as it was written here, and its calls without an intent. */
  readonly #open = new Map<string, { readonly turn: string; readonly calls: CallsWithoutIntent }>();

  wrote({ space, conversation, drafts, ms }: WrittenBatch): void {
    this.#writes.observe(ms / 1_000);
    this.#entries.add({}, drafts.length);
    const key = `${space}/${conversation}`;
    const live = drafts.filter(({ draft }) => draft.time === undefined);
    for (const one of live) this.#count(key, one);
    this.#open.get(key)?.calls.add(live);
  }

  failed({ verb, error }: StoreFailure): void {
    const code = isLogError(error) ? error.code : "unexpected";
    const group = isLogError(error) ? ERROR_GROUPS[error.code] : "unavailable";
    if (group === "conflict") this.#conflicts.add({ code });
    else if (group === "unavailable" || group === "damaged") this.#errors.add({ verb, code });
  }

  closed(): void {
    this.#open.clear();
  }

  /** A request was answered, whatever was said. */
  answered(request: { readonly method: string; readonly status: number; readonly ms: number }): void {
    const method = METHODS.has(request.method) ? request.method : OTHER;
    this.#requests.add({ method, status: String(request.status) });
    this.#answers.observe(request.ms / 1_000);
  }

  /** A request was refused, or could not be done. */
  refused(code: string): void {
    this.#refused.add({ code });
  }

  /** All of them, with those that are known elsewhere, in the text format of Prometheus. */
  text(more: readonly Family[] = []): string {
    const live = gauge(
      "holdfast_live_conversations",
      "Conversations with a turn running in this process.",
      () => this.#open.size,
    );
    return metricsText([
      this.#turns,
      this.#attempts,
      this.#rollovers,
      this.#tools,
      this.#tokens,
      live,
      this.#entries,
      this.#writes,
      this.#conflicts,
      this.#errors,
      this.#requests,
      this.#answers,
      this.#refused,
      ...more,
      ...processFigures(),
    ]);
  }

  #count(conversation: string, { draft }: StampedDraft): void {
    const { type } = draft;
    const body: unknown = draft.body;
    if (type === "turn_start") this.#begin(conversation, (body as Bodies["turn_start"]).turn);
    else if (type === "attempt") {
      const { turn, model } = body as Bodies["attempt"];
      this.#begin(conversation, turn);
      this.#attempts.add({ of: model === undefined ? "upstream" : "model" });
    } else if (type === "turn_end") {
      const { outcome, class: endingClass = outcome } = body as Bodies["turn_end"];
      this.#open.delete(conversation);
      this.#turns.add({ outcome, class: CLASSES.has(endingClass) ? endingClass : OTHER });
    } else if (type === "upstream_link") {
      const { reason } = body as Bodies["upstream_link"];
      if (reason !== "first") this.#rollovers.add({ reason: isKnownReason(reason) ? reason : OTHER });
    } else if (type === "tool_intent") {
      this.#open.get(conversation)?.calls.begun((body as Bodies["tool_intent"]).call);
      this.#tools.add({});
    } else if (type === "attempt_end") this.#used((body as Bodies["attempt_end"]).usage);
    else if (type === "message") {
      const { message } = body as Bodies["message"];
      if (message.role === "assistant") this.#used(message.usage);
      if (this.#open.get(conversation)?.calls.ran(body as Bodies["message"])) this.#tools.add({});
    }
  }

  #begin(conversation: string, turn: string): void {
    if (this.#open.get(conversation)?.turn !== turn)
      this.#open.set(conversation, { turn, calls: new CallsWithoutIntent() });
  }

  #used(usage: Usage = {}): void {
    const { inputTokens = 0, outputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    if (inputTokens > 0) this.#tokens.add({ type: "input" }, inputTokens);
    if (outputTokens > 0) this.#tokens.add({ type: "output" }, outputTokens);
    if (cacheReadTokens > 0) this.#tokens.add({ type: "cache_read" }, cacheReadTokens);
    if (cacheWriteTokens > 0) this.#tokens.add({ type: "cache_write" }, cacheWriteTokens);
  }
}

const MICROS = 1_000_000;

/** Of this process, under the names that Prometheus clients give them. */
function processFigures(): readonly Family[] {
  const { user, system } = process.cpuUsage();
  const { rss, heapUsed } = process.memoryUsage();
  const started = Date.now() / 1_000 - process.uptime();
  const busy = performance.eventLoopUtilization().utilization;
  return [
    {
      name: "process_cpu_seconds_total",
      help: "CPU time, in seconds.",
      type: "counter",
      samples: () => [{ labels: {}, value: (user + system) / MICROS }],
    },
    gauge("process_resident_memory_bytes", "Resident memory, in bytes.", () => rss),
    gauge("process_start_time_seconds", "Start time of the process, in seconds since 1970.", () => started),
    gauge("nodejs_heap_size_used_bytes", "JavaScript heap in use, in bytes.", () => heapUsed),
    gauge("nodejs_eventloop_utilization", "Share of time the event loop was busy.", () => busy),
  ];
}
