import { opendir } from "node:fs/promises";
import { join } from "node:path";

const ENTRIES_MAX = 1_000; // looked at, for each prompt
const FILES_MAX = 100; // told
const DEPTH_MAX = 4;
const SKIPPED = new Set(["node_modules", "SKILL.md", "__pycache__"]);

export interface SkillResources {
  /** Paths from the skill's folder on, in order. */
  readonly files: readonly string[];
  /** There are more than are told. */
  readonly isCut: boolean;
}

/** The files beside a SKILL.md. Links are left out, whatever they lead to, and so is what is hidden. */
export async function listResources(folder: string): Promise<SkillResources> {
  const files: string[] = [];
  let entries = 0;
  const walk = async (under: string, depth: number): Promise<void> => {
    const folders: string[] = [];
    try {
      for await (const entry of await opendir(join(folder, under))) {
        if (++entries > ENTRIES_MAX) break;
        if (entry.name.startsWith(".") || SKIPPED.has(entry.name) || !isPlain(entry.name)) continue;
        const path = under === "" ? entry.name : `${under}/${entry.name}`;
        if (entry.isFile()) files.push(path);
        else if (entry.isDirectory() && depth < DEPTH_MAX) folders.push(path);
      }
    } catch {
      return; // what cannot be looked into has nothing to tell
    }
    for (const path of folders.toSorted()) if (entries <= ENTRIES_MAX) await walk(path, depth + 1);
  };
  await walk("", 1);
  const sorted = files.toSorted();
  return { files: sorted.slice(0, FILES_MAX), isCut: entries > ENTRIES_MAX || sorted.length > FILES_MAX };
}

/** A name that is one line of a list, whoever reads it. */
function isPlain(name: string): boolean {
  return !/\p{C}|\p{Zl}|\p{Zp}/u.test(name) && name.isWellFormed();
}
