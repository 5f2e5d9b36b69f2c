import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Faults that outlast a restart, or that the test sets; read again at each request. */
export interface Control {
  /** The next prompts end like this, whatever they say. */
  readonly failNext?: { readonly kind: string; readonly times: number };
  /** What becomes of the next resume or load. */
  readonly resume?: "unknown" | "short" | "hangs";
  readonly newHangs?: boolean;
  /** A fork has no record before its first prompt. */
  readonly forksUnwritten?: boolean;
  /** No session can be begun. */
  readonly newFails?: boolean;
  /** Tools ask for permission. */
  readonly ask?: boolean;
  /** When a limit ends, in ms since the epoch. */
  readonly resetAtMs?: number;
}

export function readControl(folder: string): Control {
  const path = join(folder, "control.json");
  return existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as Control) : {};
}

/** Replaced as a whole, so that nobody reads half of it. */
export function writeControl(folder: string, control: Control): void {
  const path = join(folder, "control.json");
  writeFileSync(`${path}.new`, JSON.stringify(control));
  renameSync(`${path}.new`, path);
}

/** The failure the next prompt meets, counted down; null when there is none. */
export function nextFailure(folder: string): string | null {
  const control = readControl(folder);
  const { failNext } = control;
  if (failNext === undefined || failNext.times < 1) return null;
  writeControl(folder, { ...control, failNext: { ...failNext, times: failNext.times - 1 } });
  return failNext.kind;
}
