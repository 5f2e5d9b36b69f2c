import { LINE_BYTES_MAX } from "./agent/connection.ts";
import type { LoadedLoop } from "./bridge-agents.ts";
import { Bridge, type BridgeOptions } from "./host/bridge.ts";
import type { AgentLoop } from "./loop-agent.ts";
import { LineSplitter, LineTooLong } from "./wire/line-splitter.ts";

export interface ServeOptions extends Omit<BridgeOptions, "agents" | "write"> {
  /** The agents a conversation may be carried by, the first being the default; or an agent loop, alone. */
  readonly agents: BridgeOptions["agents"] | AgentLoop;
  readonly input: AsyncIterable<Uint8Array>;
  /** Resolves when more may be written. */
  readonly output: (bytes: Uint8Array) => Promise<void>;
  /** Ends the bridge as the end of its input does. */
  readonly signal: AbortSignal;
}

/** Runs a bridge on a pair of streams until the host is gone, and leaves nothing behind. */
export async function serveAcp(options: ServeOptions): Promise<void> {
  const { input, output, signal, ...more } = options;
  const agents = "loop" in options.agents ? await loadLoop(options.agents) : options.agents;
  const host = new HostOutput({ output, pause: (paused) => bridge.pause(paused) });
  const bridge = new Bridge({ ...more, agents, write: (line) => host.write(line) });
  const lines = new LineSplitter(LINE_BYTES_MAX);
  const stopped = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => stopped.resolve(), { once: true });
  const read = async (): Promise<void> => {
    for await (const chunk of input) for (const line of split(lines, chunk)) bridge.receive(line);
    const rest = lines.end();
    if (rest !== null) bridge.receive(rest);
    await Promise.race([bridge.answerRest(), stopped.promise]);
  };
  try {
    await Promise.race([read(), stopped.promise]);
  } finally {
    await bridge.close();
    host.end();
  }
}

/** An agent loop for a `Bridge`. It brings models, tools, memory and skills, which a bridge before other agents does without. */
async function loadLoop(loop: AgentLoop): Promise<LoadedLoop> {
  return (await import("./loop-turns.ts")).openLoop(loop);
}

/** A line that is too long is answered like an invalid message; the lines around it are processed. */
function split(lines: LineSplitter, chunk: Uint8Array): readonly Uint8Array[] {
  try {
    return lines.push(chunk);
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    return [...error.lines, new Uint8Array([33])];
  }
}

const NEWLINE = new Uint8Array([10]);
const PIECE_BYTES = 4_096; // a long tick is not waited for: the host reads while the rest is made
const WAITING_BYTES_MAX = 1_048_576; // what waits for a host before its agents are made to wait, too

interface HostOutputOptions {
  /** Resolves when more may be written. */
  readonly output: (bytes: Uint8Array) => Promise<void>;
  /** Told when the agents have to wait for the host, and when they need not any more. */
  readonly pause: (paused: boolean) => void;
}

/**
 * Lines on their way to the host. The first of a tick is written at once, those that follow in few pieces. While
 * the host does not read, what comes waits here, and when that is much the agents are made to wait.
 */
export class HostOutput {
  readonly #options: HostOutputOptions;
  #waiting: Uint8Array[] = [];
  #bytes: number = 0;
  /** A write has not been taken by the host. */
  #busy: boolean = false;
  /** Something was written in this tick. */
  #ticking: boolean = false;
  #paused: boolean = false;

  constructor(options: HostOutputOptions) {
    this.#options = options;
  }

  write(line: Uint8Array): void {
    this.#waiting.push(line, NEWLINE);
    this.#bytes += line.length + 1;
    if (!this.#paused && this.#bytes >= WAITING_BYTES_MAX) this.#pause(true);
    if (this.#busy || (this.#ticking && this.#bytes < PIECE_BYTES)) return;
    if (this.#ticking) return this.#flush();
    this.#ticking = true;
    process.nextTick(() => {
      this.#ticking = false;
      if (!this.#busy) this.#flush();
    });
    this.#flush();
  }

  /** Nothing more comes: what waits is handed over, whether the host reads now or later. */
  end(): void {
    if (this.#bytes > 0) this.#flush();
  }

  #flush(): void {
    if (this.#bytes === 0) {
      if (this.#paused) this.#pause(false);
      return;
    }
    const bytes = Buffer.concat(this.#waiting, this.#bytes);
    this.#waiting = [];
    this.#bytes = 0;
    this.#busy = true;
    // A host that does not listen any more closes its end, too.
    void this.#options
      .output(bytes)
      .catch(() => undefined)
      .finally(() => {
        this.#busy = false;
        if (!this.#ticking) this.#flush();
      });
  }

  #pause(paused: boolean): void {
    this.#paused = paused;
    this.#options.pause(paused);
  }
}
