import type { Clock } from "#conversation/clock";
import type { IdsAndTime } from "#store/prepare";
import type { Store } from "#store/store";
import { type Chance, type Fault, FaultPlan } from "./faults.ts";
import type { Line } from "./agent/replies.ts";
import { SimProcess } from "./agent/sim-process.ts";
import { killableClock, Timeline, whileAlive } from "./timeline.ts";
import { decorateStore } from "#store/decorate";

export interface SimWorldOptions {
  /** Decides every chance. The same seed, the same story. */
  readonly seed?: number;
  /** When the story begins. */
  readonly startMs?: number;
  /** One whose time passes only when nothing else can happen, unless given. */
  readonly timeline?: Timeline;
}

const START_MS = 1_767_225_600_000; // the first moment of 2026

/**
 * The world behind simulated agents: their transcripts, their outbox, the time and what goes wrong. It outlives every
 * restart of the program under test; `kill` ends that program's life and begins the next.
 */
export class SimWorld {
  readonly seed: number;
  readonly outbox: Outbox = new Outbox();
  readonly faults: FaultPlan;
  /** Ids and times, drawn from this world instead of the real one. */
  readonly idsAndTime: IdsAndTime;
  readonly timeline: Timeline;
  /** Called when an agent asks its host whether a tool may run. */
  onAsk: () => void = () => undefined;
  readonly #transcripts = new Map<string, readonly Line[]>();
  /** Sessions that are damaged for every agent that resumes them. */
  readonly corrupt: Set<string> = new Set();
  readonly #processes = new Map<string, SimProcess>();
  /** Every process that may still have children. */
  readonly #groups = new Set<SimProcess>();
  #death = new AbortController();
  #made: number = 0;

  constructor(options: SimWorldOptions = {}) {
    const { seed = 1, startMs = START_MS } = options;
    this.seed = seed;
    this.faults = new FaultPlan(seed);
    this.timeline = options.timeline ?? new Timeline(startMs);
    this.idsAndTime = { now: () => new Date(this.nowMs()).toISOString(), newId: () => this.newName("id") };
  }

  nowMs(): number {
    return this.timeline.nowMs();
  }

  /** A name nothing else in this world has. */
  newName(kind: string): string {
    return `${kind}-${String(++this.#made).padStart(6, "0")}`;
  }

  /** What goes wrong, each once, as soon as its phase comes. */
  script(...faults: readonly Fault[]): this {
    this.faults.script(faults);
    return this;
  }

  /** What goes wrong by chance from now on. */
  chances(...chances: readonly Chance[]): this {
    this.faults.chances(chances);
    return this;
  }

  /** Time for the program's present life. */
  get clock(): Clock {
    return killableClock(this.timeline, this.death);
  }

  /** The end of the program's present life. */
  get death(): AbortSignal {
    return this.#death.signal;
  }

  /** A store as the program's present life sees it: time waits for it, and after the end it never answers. */
  store(store: Store): Store {
    return killableStore(store, this.timeline, this.death);
  }

  /**
   * Kills the program that uses Holdfast: nothing it waits for ever answers again. What is made from this world
   * afterwards belongs to its next life. Its agents end with it, or leave children that finish their tools.
   */
  kill(options: { readonly orphans?: boolean } = {}): void {
    for (const process of this.#processes.values()) process.die(options.orphans ?? false);
    this.#processes.clear();
    this.#death.abort();
    this.#death = new AbortController();
  }

  /** The process at a place (an agent, or `agent/account`), if one runs. */
  processOf(place: string): SimProcess | null {
    const process = this.#processes.get(place);
    return process?.alive === true ? process : null;
  }

  startProcess(place: string, inside: boolean = false): SimProcess {
    const process = new SimProcess(place, this.newName("process"), inside);
    this.#processes.set(place, process);
    this.#groups.add(process);
    return process;
  }

  /** Replaces an agent's process without a word: what only its memory held is gone. */
  restartSilently(place: string): void {
    const before = this.processOf(place);
    before?.die(false);
    this.startProcess(place, before?.inside);
  }

  /**
   * Ends a process and all its children, if it is the one that runs, or died and left some behind; by its name also
   * another host's. A process that was started since is left alone.
   */
  endGroup(place: string, token: string | null): void {
    for (const process of this.#groups) {
      if (token === null ? process.place !== place : process.token !== token) continue;
      process.die(false);
      this.#groups.delete(process);
    }
  }

  transcript(session: string): readonly Line[] | null {
    return this.#transcripts.get(session) ?? null;
  }

  saveTranscript(session: string, lines: readonly Line[]): void {
    this.#transcripts.set(session, [...lines]); // whose they were may go on
  }

  /** Adds to a transcript; one that was lost begins anew, as a file would. */
  appendTranscript(session: string, lines: readonly Line[]): void {
    this.#transcripts.set(session, [...(this.#transcripts.get(session) ?? []), ...lines]);
  }

  /** The transcript is deleted: cleaned up, or on another machine. */
  loseTranscript(session: string): void {
    this.#transcripts.delete(session);
  }

  /** The transcript loses its newer half; nothing says so. */
  truncateTranscript(session: string): void {
    const lines = this.#transcripts.get(session);
    if (lines !== undefined) this.#transcripts.set(session, lines.slice(0, Math.floor(lines.length / 2)));
  }

  /** Every session that has a transcript. */
  get sessions(): readonly string[] {
    return [...this.#transcripts.keys()];
  }
}

interface Sent {
  readonly identity: string;
  readonly atMs: number;
  readonly session: string;
}

/** Every side effect that reached the world, whoever caused it. */
class Outbox {
  readonly #sent: Sent[] = [];

  add(sent: Sent): void {
    this.#sent.push(sent);
  }

  get all(): readonly Sent[] {
    return this.#sent;
  }

  /** How often this one happened. */
  count(identity: string): number {
    return this.#sent.filter((sent) => sent.identity === identity).length;
  }

  /** What happened more than once. */
  doubles(): readonly string[] {
    const counts = Map.groupBy(this.#sent, (sent) => sent.identity);
    return [...counts].filter(([, sent]) => sent.length > 1).map(([identity]) => identity);
  }
}

/** A store that answers only the living, and holds time still while it works; not for a tail, which has no end. */
export function killableStore(store: Store, timeline: Timeline, death: AbortSignal): Store {
  return decorateStore(store, {
    around: <T>(call: () => Promise<T>): Promise<T> =>
      death.aborted ? new Promise<T>(() => undefined) : whileAlive(timeline.freeze(call()), death),
  });
}
