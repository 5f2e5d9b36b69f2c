import type { Remembered } from "#log/projections/memories";
import type { Sink } from "#edges/cli/command";
import { safeLine, wrap } from "#edges/cli/terminal/terminal";

/** A memory for scripts. */
export function memoryOut(scope: "user" | "project", memory: Remembered): object {
  const { seq: _, ...rest } = memory;
  return { scope, ...rest };
}

/** The same for people. */
export function memoryLines(scope: "user" | "project", memory: Remembered, out: Sink): string {
  const { key, kind, title, content, tags, updatedAt, removedAt } = memory;
  const about = [scope, kind, updatedAt.slice(0, 10), ...tags, ...(removedAt === null ? [] : ["removed"])];
  const text = content.startsWith(title) ? content : `${title}: ${content}`;
  const lines = wrap(safeLine(text), Math.max(20, out.columns - 4)).map((line) => `    ${line}`);
  return `${out.style.cyan(safeLine(key))}  ${out.style.dim(safeLine(about.join(", ")))}\n${lines.join("\n")}\n`;
}
