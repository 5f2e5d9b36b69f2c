import type { Sink } from "#edges/cli/command";

const QUIET_MS = 5_000; // a log file wants a line now and then, a person a line that moves
const REDRAW_MS = 100;
const START_MS = 400; // short work shows nothing

export interface Progress {
  readonly step: (done: number, total?: number) => void;
  readonly end: () => void;
}

/** Tells on stderr how far long work has come. */
export function progressOn(sink: Sink, phase: string): Progress {
  const started = performance.now();
  let shownAt = sink.isTerminal ? started + START_MS - REDRAW_MS : started;
  let drawn = false;
  return {
    step(done, total) {
      const now = performance.now();
      if (now - shownAt < (sink.isTerminal ? REDRAW_MS : QUIET_MS)) return;
      shownAt = now;
      const count = total === undefined ? String(done) : `${done}/${total}`;
      const left =
        total === undefined || done === 0
          ? ""
          : ` · ${seconds(((now - started) * (total - done)) / done)} left`;
      const line = `${phase} · ${count} · ${seconds(now - started)}${left}`;
      void sink.write(sink.isTerminal ? `\r\u001B[K${line}` : `${line}\n`);
      drawn = true;
    },
    end() {
      if (drawn && sink.isTerminal) void sink.write("\r\u001B[K");
    },
  };
}

function seconds(ms: number): string {
  return ms < 60_000
    ? `${Math.round(ms / 1000)} s`
    : `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}
