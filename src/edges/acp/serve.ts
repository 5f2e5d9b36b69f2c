import { LINE_BYTES_MAX } from "./agent/process/agent-process.ts";
import type { LoadedLoop } from "./carrier.ts";
import { Bridge, type BridgeOptions } from "./host/bridge.ts";
import { HostOutput } from "./host-output.ts";
import type { AgentLoop } from "./loop/loop-agent.ts";
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
export async function loadLoop(loop: AgentLoop): Promise<LoadedLoop> {
  return (await import("./loop/carry-loop.ts")).carryLoop(loop);
}

/** A line that is too long is answered as one that is no message; those around it count. */
function split(lines: LineSplitter, chunk: Uint8Array): readonly Uint8Array[] {
  try {
    return lines.push(chunk);
  } catch (error) {
    if (!(error instanceof LineTooLong)) throw error;
    return [...error.lines, new Uint8Array([33])];
  }
}
