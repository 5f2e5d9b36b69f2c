import type { Line } from "./replies.ts";

/** What a process holds of one session. Gone with the process, unless the transcript has it. */
export interface Memory {
  lines: Line[];
  /** Prompts so far; makes each arrival in a phase a moment of its own. */
  prompts: number;
  lastAnswer: string;
  /** What a cancelled answer did not get to say. */
  leftover: readonly string[];
}

export function newMemory(lines: readonly Line[]): Memory {
  const lastAnswer = lines.findLast((line) => line.role === "assistant")?.text ?? "";
  return { lines: [...lines], prompts: 0, lastAnswer, leftover: [] };
}

/** The process of one agent: it holds sessions in memory until it ends, and its children may outlive it. */
export class SimProcess {
  readonly place: string;
  readonly token: string;
  readonly sessions: Map<string, Memory> = new Map();
  readonly #death = new AbortController();
  readonly #groupEnd = new AbortController();

  /** It is the host's own process: it has no children that could outlive it. */
  readonly inside: boolean;

  constructor(place: string, token: string, inside: boolean = false) {
    this.place = place;
    this.token = token;
    this.inside = inside;
  }

  get alive(): boolean {
    return !this.#death.signal.aborted;
  }

  /** The process is gone. */
  get death(): AbortSignal {
    return this.#death.signal;
  }

  /** The process and all its children are gone. */
  get groupEnd(): AbortSignal {
    return this.#groupEnd.signal;
  }

  /** The process dies; with orphans, its children go on until the group is ended. */
  die(orphans: boolean): void {
    this.sessions.clear();
    this.#death.abort();
    if (!orphans || this.inside) this.#groupEnd.abort();
  }
}
