import { lstat, readlink, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { Json } from "#log/json/json-text";
import { mainArgument, type Subject } from "./permissions.ts";

const LINKS_MAX = 40; // as many as systems follow

/** Where a path leads, through links, also where nothing is there yet. */
export async function realPathOf(path: string, links: number = 0): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    const parent = dirname(path);
    if (!isMissing(error) || parent === path || links > LINKS_MAX) throw error;
    const whole = join(await realPathOf(parent, links), basename(path));
    // A link to a missing file: writing there creates it.
    const target = await linkTarget(whole);
    return target === null ? whole : realPathOf(resolve(dirname(whole), target), links + 1);
  }
}

async function linkTarget(path: string): Promise<string | null> {
  try {
    return (await lstat(path)).isSymbolicLink() ? await readlink(path) : null;
  } catch {
    return null;
  }
}

export function isMissing(error: unknown): boolean {
  return error instanceof Error && "code" in error && (error.code === "ENOENT" || error.code === "ENOTDIR");
}

/** What rules of permission are to know of a call. What cannot be looked at counts as outside of the folder. */
export async function subjectOf(tool: string, input: Json, folder: string): Promise<Subject> {
  const argument = mainArgument(input) ?? (tool === "search" ? { kind: "path", text: "." } : null);
  if (argument === null) return { kind: "none" };
  if (argument.kind === "command") return { kind: "command", command: argument.text };
  const path = resolve(folder, argument.text);
  const [root, real] = await Promise.all([realPathOf(folder), realPathOf(path)]).catch(() => [folder, null]);
  if (real === null || root === null) return { kind: "path", path, real: path, inside: false };
  const inside = isWithin(root, real);
  const shortPath = isWithin(folder, path) ? relative(folder, path) : path;
  return {
    kind: "path",
    path: shortPath || ".",
    real: (inside ? relative(root, real) : real) || ".",
    inside,
  };
}

export function isWithin(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith("../") && !isAbsolute(way);
}
