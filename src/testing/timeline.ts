import { type Clock, systemClock } from "#conversation/clock";

interface Timer {
  readonly atMs: number;
  readonly order: number;
  wake(): void;
}

/** A macrotask: everything that could still run at this instant has run before it. */
function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}

/**
 * Time that passes only when nothing else can happen: once every task has come to wait, it jumps to the earliest
 * sleeper. So a run takes no real time and the order of events is the same every time.
 */
export class Timeline {
  /** How much time has passed, counted from the first date; it never goes back. */
  #steadyMs: number;
  /** By how much the date was set since. */
  #setByMs: number = 0;
  #order: number = 0;
  #timers: Timer[] = [];
  #busy: number = 0;
  #free: (() => void) | null = null;
  #running: boolean = false;

  constructor(startMs: number) {
    this.#steadyMs = startMs;
  }

  nowMs(): number {
    return this.#steadyMs + this.#setByMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  /** Sets the date forward or back, as a person or a time server does; no time passes by that. */
  setDate(byMs: number): void {
    this.#setByMs += byMs;
  }

  /** Resolves after the time has passed, or at once when the signal aborts. Time never comes to an infinite sleeper. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    if (signal?.aborted === true) return Promise.resolve();
    const timer: Timer = {
      atMs: this.#steadyMs + Math.ceil(Math.max(0, ms)),
      order: ++this.#order,
      wake: resolve,
    };
    if (Number.isFinite(ms)) this.#insert(timer);
    signal?.addEventListener("abort", () => this.#drop(timer), { once: true });
    void this.#run();
    return promise;
  }

  /** Time stands still until this work is done: for what happens in real time, such as a disk. */
  async freeze<T>(work: Promise<T>): Promise<T> {
    this.#busy++;
    try {
      return await work;
    } finally {
      if (--this.#busy === 0) this.#free?.();
    }
  }

  /** Lets the given time pass, and everything that falls into it happen. */
  async pass(ms: number): Promise<void> {
    await this.sleep(ms);
    await this.freeze(nextTurn());
  }

  #insert(timer: Timer): void {
    let at = this.#timers.length;
    while (at > 0 && (this.#timers[at - 1]?.atMs ?? 0) > timer.atMs) at--;
    this.#timers.splice(at, 0, timer);
  }

  #drop(timer: Timer): void {
    const at = this.#timers.indexOf(timer);
    if (at !== -1) this.#timers.splice(at, 1);
    timer.wake();
  }

  async #run(): Promise<void> {
    if (this.#running) return;
    this.#running = true;
    for (;;) {
      await nextTurn();
      if (this.#busy > 0) {
        await this.#untilFree();
        continue;
      }
      const next = this.#timers.shift();
      if (next === undefined) break;
      this.#steadyMs = Math.max(this.#steadyMs, next.atMs);
      next.wake();
    }
    this.#running = false;
  }

  async #untilFree(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#free = resolve;
    await promise;
    this.#free = null;
  }
}

/** The timeline as one life of a host sees it: after its death nothing it waits for ever comes. */
export function killableClock(timeline: Timeline, death: AbortSignal): Clock {
  return {
    nowMs: () => timeline.nowMs(),
    steadyMs: () => timeline.steadyMs(),
    sleep: (ms, signal) => whileAlive(timeline.sleep(ms, AbortSignal.any([signal, death])), death),
  };
}

/** The work's outcome, unless death comes first: then it never settles, as for a process that is gone. */
export function whileAlive<T>(work: Promise<T>, death: AbortSignal): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  work.then(
    (value) => (death.aborted ? undefined : resolve(value)),
    (error: unknown) => (death.aborted ? undefined : reject(error)),
  );
  return promise;
}

/** Time as it passes outside, for agents that people watch; sleeps are so many times as short. */
export class RealTimeline extends Timeline {
  readonly #speed: number;

  constructor(speed: number = 1) {
    super(systemClock.nowMs());
    this.#speed = speed;
  }

  override nowMs(): number {
    return systemClock.nowMs();
  }

  override steadyMs(): number {
    return systemClock.steadyMs();
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = signal ?? new AbortController().signal;
    if (Number.isFinite(ms)) return systemClock.sleep(Math.max(0, ms) / this.#speed, over);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (over.aborted) resolve();
    over.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }

  /** It goes on whatever is under way. */
  override freeze<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  override pass(ms: number): Promise<void> {
    return this.sleep(ms);
  }
}
