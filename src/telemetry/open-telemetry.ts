import type * as Api from "@opentelemetry/api";
import { type Clock, systemClock } from "#conversation/clock";
import { isLogError, LogError } from "#log/errors";
import type { StoreFailure, StoreObserver, WrittenBatch } from "#store/decorate";
import { type SpanChange, TurnSpans } from "./turn-spans.ts";

export interface OpenTelemetryOptions {
  /** Where spans are made; that of the globally registered provider unless given. */
  readonly tracer?: Api.Tracer;
  readonly clock?: Pick<Clock, "nowMs" | "steadyMs">;
}

/** Only those are written to at a time; an older one that is written to again begins anew. */
const CONVERSATIONS_MAX = 10_000;

interface Followed {
  readonly spans: TurnSpans;
  readonly open: Map<string, Api.Span>;
  /** The turn before, which the next one links to. */
  before: Api.SpanContext | null;
  /** The date at the origin of the steady clock, as it was when the turn began. */
  originMs: number;
}

const SET_MS_MIN = 1_000; // what two clocks differ by less is how they are read

/** Makes spans of what is written to a store: `openHoldfast({ telemetry: await openTelemetry() })`. */
export async function openTelemetry(options: OpenTelemetryOptions = {}): Promise<StoreObserver> {
  const api = await loadApi();
  return new SpanObserver(
    api,
    options.tracer ?? api.trace.getTracer("holdfast"),
    options.clock ?? systemClock,
  );
}

/** Whether spans reach anybody: without a registered provider they are made for nobody. */
export async function hasTracerProvider(): Promise<boolean> {
  const { trace, ProxyTracerProvider } = await loadApi();
  const provider = trace.getTracerProvider();
  return !(provider instanceof ProxyTracerProvider) || provider.getDelegateTracer("holdfast") !== undefined;
}

async function loadApi(): Promise<typeof Api> {
  try {
    return await import("@opentelemetry/api");
  } catch (error) {
    throw new LogError(
      "invalid_request",
      "Telemetry requires the package @opentelemetry/api and an SDK that exports spans. Run `npm install @opentelemetry/api`.",
      { package: "@opentelemetry/api" },
      { cause: error },
    );
  }
}

class SpanObserver implements StoreObserver {
  readonly #api: typeof Api;
  readonly #tracer: Api.Tracer;
  readonly #clock: Pick<Clock, "nowMs" | "steadyMs">;
  readonly #followed = new Map<string, Followed>();

  constructor(api: typeof Api, tracer: Api.Tracer, clock: Pick<Clock, "nowMs" | "steadyMs">) {
    this.#api = api;
    this.#tracer = tracer;
    this.#clock = clock;
  }

  wrote({ space, conversation, drafts }: WrittenBatch): void {
    const key = `${space}/${conversation}`;
    const current = this.#followed.get(key);
    const followed = current ?? {
      spans: new TurnSpans({ space, conversation }),
      open: new Map(),
      before: null,
      originMs: this.#originMs(),
    };
    const changes = followed.spans.add(drafts);
    // Most conversations that are written to have no turn: nothing is kept of them.
    if (current === undefined && changes.length === 0) return;
    this.#followed.delete(key);
    this.#followed.set(key, followed);
    for (const change of changes) this.#carryOut(followed, change);
    const [oldest] = this.#followed;
    if (this.#followed.size > CONVERSATIONS_MAX && oldest !== undefined) this.#leave(...oldest, "evicted");
  }

  /** Another process has the conversation: how its turn ends is told there. */
  failed({ error, written }: StoreFailure): void {
    if (written === null || !isLogError(error, "fenced")) return;
    const key = `${written.space}/${written.conversation}`;
    const followed = this.#followed.get(key);
    if (followed !== undefined) this.#leave(key, followed, "fenced");
  }

  closed(): void {
    for (const [key, followed] of this.#followed) this.#leave(key, followed, "closed");
  }

  #leave(key: string, followed: Followed, error: string): void {
    this.#followed.delete(key);
    const time = new Date(this.#clock.nowMs()).toISOString();
    for (const change of followed.spans.leave(error, time)) this.#carryOut(followed, change);
  }

  #originMs(): number {
    return this.#clock.nowMs() - this.#clock.steadyMs();
  }

  /** When an entry was written by the date that its turn began with: a date that is set in between changes no length. */
  #timeOf(entryTime: string, { originMs }: Followed): Date {
    const setByMs = this.#originMs() - originMs;
    return new Date(Date.parse(entryTime) - (Math.abs(setByMs) < SET_MS_MIN ? 0 : setByMs));
  }

  #carryOut(followed: Followed, change: SpanChange): void {
    if (change.change === "start" && change.of === "turn") followed.originMs = this.#originMs();
    const time = this.#timeOf(change.time, followed);
    const attributes = change.attributes as Api.Attributes;
    if (change.change === "start") {
      followed.open.set(change.span, this.#start(followed, change, { time, attributes }));
      return;
    }
    const span = followed.open.get(change.span);
    if (change.change === "event") span?.addEvent(change.name, attributes, time);
    if (change.change === "event" || span === undefined) return;
    span.setAttributes(attributes);
    if (change.error !== null) {
      span.setAttribute("error.type", change.error);
      span.setStatus({ code: this.#api.SpanStatusCode.ERROR });
    }
    span.end(time);
    followed.open.delete(change.span);
  }

  #start(
    followed: Followed,
    { of, parent, name }: Extract<SpanChange, { change: "start" }>,
    { time, attributes }: { readonly time: Date; readonly attributes: Api.Attributes },
  ): Api.Span {
    const { context, trace, SpanKind } = this.#api;
    const above = followed.open.get(parent ?? "");
    // A turn stands under whatever the host does at the moment.
    const active = context.active();
    const span = this.#tracer.startSpan(
      name,
      {
        startTime: time,
        attributes,
        kind: of === "attempt" ? SpanKind.CLIENT : SpanKind.INTERNAL,
        links: of === "turn" && followed.before !== null ? [{ context: followed.before }] : [],
      },
      above === undefined ? active : trace.setSpan(active, above),
    );
    if (of === "turn") followed.before = span.spanContext();
    return span;
  }
}
