import type { OnError } from "#edges/http/server-log";
import { type PreparedReplay, prepareReplay } from "#agent/replay/replay-models";
import type {
  ReplayAgent,
  ReplayEvent,
  ReplayOptions,
  ReplayPart,
  ReplayPlan,
  ReplayResult,
} from "#agent/replay/replay-options";
import type { ReplayTarget } from "#agent/replay/replay-source";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { idForKey } from "#conversation/id-for-key";
import type { Owner } from "#conversation/owner";
import { Refusal } from "#edges/http/guard/failures";
import { isLogError, LogError } from "#log/errors";
import type { ReplayRequest, ReplayRunner } from "#operations/operation";
import {
  endBody,
  eventBody,
  isStop,
  orNone,
  plannedBody,
  ProgressCount,
  REPLAY_PREFIX,
} from "#operations/views/replay-log";

/** With which models clients may replay, and whose tools and prompt a replay has. */
export interface ServedReplays {
  /** The first is asked where none is named. */
  readonly models: readonly string[];
  agent(holdfast: Holdfast): ReplayAgent | Promise<ReplayAgent>;
}

const RUNNING_MAX = 8;
const LEASE_MS = 30_000;
const TITLE_CHARS_MAX = 200;

/** Events that the log of a replay has: not every word that a model says. */
const RECORDED: ReadonlySet<ReplayEvent["type"]> = new Set([
  "planned",
  "forked",
  "prompt",
  "missed",
  "turn",
  "ended",
  "asked",
  "answered",
  "backing_off",
]);

/** The replays that this process runs. */
export class RunningReplays implements ReplayRunner {
  readonly #source: ServedReplays | null;
  readonly #onError: OnError;
  readonly #running = new Map<AbortController, Promise<void>>();
  /** Those that are begun under a key at the same moment are one. */
  readonly #beginning = new Map<string, Promise<Conversation>>();

  constructor(source: ServedReplays | null, onError: OnError) {
    this.#source = source;
    this.#onError = onError;
  }

  get models(): readonly string[] {
    return this.#source?.models ?? [];
  }

  /** What could be replayed: all of it, by any model that may be chosen. Nothing is begun. */
  prepare(
    holdfast: Holdfast,
    what: ReplayTarget,
    part: ReplayPart & { readonly cwd?: string },
  ): Promise<PreparedReplay> {
    return this.#prepare(holdfast, { what, options: { ...part, models: [] }, key: undefined }, {});
  }

  /** Begins a replay, and answers with its log; whatever is wrong with it is told before anything is written. */
  start(holdfast: Holdfast, request: ReplayRequest): Promise<Conversation> {
    const { key } = request;
    const id = `${REPLAY_PREFIX}${key === undefined ? holdfast.newId() : idForKey("replay", key)}`;
    const name = `${holdfast.spaceId}/${id}`;
    const beginning = this.#beginning.get(name) ?? this.#begin(holdfast, id, request);
    this.#beginning.set(name, beginning);
    return beginning.finally(() => this.#beginning.delete(name));
  }

  async #begin(holdfast: Holdfast, id: string, request: ReplayRequest): Promise<Conversation> {
    const known = request.key === undefined ? null : await holdfast.conversation(id).catch(orNone);
    if (known !== null) return known;
    const stop = new AbortController();
    let write: (event: ReplayEvent) => void = () => undefined;
    const prepared = await this.#prepare(holdfast, request, {
      signal: stop.signal,
      onEvent: (event) => RECORDED.has(event.type) && write(event),
    });
    if (this.#running.size >= RUNNING_MAX)
      throw new Refusal("too_many", "Too many replays are running. Wait until one ends.", {
        headers: { "retry-after": "5" },
      });
    const { plan } = prepared;
    const title = await titleOf(holdfast, plan);
    const log = await holdfast.create({
      id,
      title,
      unlisted: true,
      ...(request.key === undefined ? {} : { key: request.key }),
      entries: [plannedBody(plan)],
    });
    // Another process may have been asked for it under the same key: whoever has it runs it.
    const owner = await log.own({ writer: "replay", leaseMs: LEASE_MS }).catch(orBusy);
    if (owner === null || (await log.findAppend("begun")) !== null) {
      await owner?.[Symbol.asyncDispose]();
      return log;
    }
    await owner.append({ type: "custom", customType: "replay_begun" }, { key: "begun" });
    const writer = new EventWriter(holdfast, owner);
    write = (event) => writer.add(event);
    const about = { space: holdfast.spaceId, conversation: log.id };
    const run = this.#run(prepared, { log, owner, writer, stop }).catch((error: unknown) =>
      this.#onError(error, about),
    );
    this.#running.set(stop, run);
    void run.finally(() => this.#running.delete(stop));
    return log;
  }

  async #prepare(
    holdfast: Holdfast,
    { what, options }: ReplayRequest,
    host: Pick<ReplayOptions, "signal" | "onEvent">,
  ): Promise<PreparedReplay> {
    const source = this.#source;
    if (source === null) throw new Refusal("no_agent", "This server has no models for replays");
    const unknown = options.models.find((model) => !source.models.includes(model));
    if (unknown !== undefined)
      throw new LogError("invalid_request", `Model ${unknown} is not allowed on this server`, {
        models: [...source.models],
      });
    return prepareReplay(holdfast, what, {
      ...options,
      models: options.models.length > 0 ? options.models : source.models.slice(0, 1),
      agent: await source.agent(holdfast),
      // Live effects wait in the fork's log, where any client may answer them.
      onPermission: (_, signal) =>
        new Promise((resolve) => signal.addEventListener("abort", () => resolve("nobody"), { once: true })),
      ...host,
    });
  }

  async #run(
    prepared: PreparedReplay,
    at: {
      readonly log: Conversation;
      readonly owner: Owner;
      readonly writer: EventWriter;
      readonly stop: AbortController;
    },
  ): Promise<void> {
    const { log, stop, writer } = at;
    await using owner = at.owner;
    const listening = new AbortController();
    const listened = this.#listen(log, stop, listening.signal);
    try {
      const results = await prepared.run();
      await writer.written();
      await owner.append(endBody({ ...endOf(results, stop.signal), results }));
    } catch (error) {
      this.#onError(error, { conversation: log.id });
      const message = isLogError(error) ? error.message : "An unexpected error occurred";
      await owner.append(endBody({ status: "failed", message, results: [] }));
    } finally {
      listening.abort();
      await listened;
    }
  }

  /** Whoever asks it to stop says so in its log. */
  async #listen(log: Conversation, stop: AbortController, signal: AbortSignal): Promise<void> {
    try {
      for await (const entry of log.tail({ after: 0, signal })) if (isStop(entry)) return stop.abort();
    } catch (error) {
      if (!signal.aborted) this.#onError(error, { conversation: log.id });
    }
  }

  /** Stops all of them, which is recorded. */
  async drain(): Promise<void> {
    await Promise.allSettled(this.#beginning.values());
    for (const stop of this.#running.keys()) stop.abort();
    await Promise.all(this.#running.values());
  }
}

function endOf(
  results: readonly ReplayResult[],
  { aborted }: AbortSignal,
): { readonly status: "completed" | "stopped" | "failed"; readonly message: string } {
  if (aborted) return { status: "stopped", message: "The replay was stopped" };
  const failed = results.find(({ outcome }) => outcome !== "completed");
  return failed === undefined
    ? { status: "completed", message: "" }
    : { status: "failed", message: failed.message };
}

/** Writes events in their order, each with how far the replay is. */
class EventWriter {
  readonly #holdfast: Holdfast;
  readonly #owner: Owner;
  readonly #count = new ProgressCount();
  #written: Promise<void> = Promise.resolve();

  constructor(holdfast: Holdfast, owner: Owner) {
    this.#holdfast = holdfast;
    this.#owner = owner;
  }

  add(event: ReplayEvent): void {
    this.#written = this.#written.then(() => this.#write(event));
    this.#written.catch(() => undefined); // told by whoever waits for it
  }

  async #write(event: ReplayEvent): Promise<void> {
    const spent =
      event.type === "turn" || event.type === "ended"
        ? await (await this.#holdfast.conversation(event.conversation)).usage()
        : null;
    await this.#owner.append(eventBody(event, this.#count.add(event, spent)), { durability: "relaxed" });
  }

  written(): Promise<void> {
    return this.#written;
  }
}

async function titleOf(holdfast: Holdfast, { source }: ReplayPlan): Promise<string> {
  const { title } = await (await holdfast.conversation(source.conversation)).head();
  return `Replay of ${title ?? source.conversation}`.slice(0, TITLE_CHARS_MAX).toWellFormed();
}

function orBusy(error: unknown): null {
  if (isLogError(error, "busy")) return null;
  throw error;
}
