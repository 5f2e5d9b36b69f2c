import { EventEmitter } from "node:events";
import { PassThrough, type Readable, type Writable } from "node:stream";
import type { Sink } from "#edges/cli/command";
import { run } from "#edges/cli/run-command";
import { styleFor } from "#edges/cli/terminal/terminal";

/** What a host has of the bridge that it started: a process, or what stands for one. */
export interface Life extends EventEmitter {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly pid?: number | undefined;
  readonly exitCode: number | null;
  readonly signalCode: string | null;
  kill(signal: "SIGKILL"): void;
}

/** A command line in this process, for what it says: it begins in a tenth of the time that a process takes, and cannot be killed. */
export class LifeHere extends EventEmitter implements Life {
  readonly stdin: PassThrough = new PassThrough();
  readonly stdout: PassThrough = new PassThrough();
  readonly stderr: PassThrough = new PassThrough();
  readonly signalCode: null = null;
  exitCode: number | null = null;

  constructor(args: readonly string[], env: NodeJS.ProcessEnv) {
    super();
    void this.#live(args, env);
  }

  async #live(args: readonly string[], env: NodeJS.ProcessEnv): Promise<void> {
    this.exitCode = await run(args, {
      stdin: this.stdin,
      stdinIsTerminal: false,
      out: sinkOn(this.stdout),
      err: sinkOn(this.stderr),
      env,
      catchInterrupt: () => new AbortController().signal,
    });
    this.emit("exit", this.exitCode, null);
  }

  kill(): void {
    throw new Error("It runs in this process; open one that has its own");
  }
}

function sinkOn(stream: PassThrough): Sink {
  return {
    isTerminal: false,
    style: styleFor(false, {}),
    columns: 80,
    write: async (text) => void stream.write(text),
    // Whoever wrote them may use them again.
    writeBytes: async (bytes) => void stream.write(Uint8Array.from(bytes)),
  };
}
