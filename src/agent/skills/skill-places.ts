import { createHash } from "node:crypto";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { isAbsolute, join, normalize } from "node:path";
import { LogError } from "#log/errors";
import { readTextStart } from "#agent/prompt/instructions";
import { isMissing, isWithin } from "#agent/tools/folder-path";
import type { SkillFile } from "./skill-file.ts";

/** A folder with skills in folders of their own; a relative one is looked for from the project's root on. */
export interface SkillPlace {
  /** What the log calls it: the same for the same skills, wherever the folder lies. */
  readonly name: string;
  readonly folder: string;
}

export interface SkillSource extends SkillFile {
  /** The place and the folder in it; the log keeps it. */
  readonly source: string;
  /** Absolute. */
  readonly folder: string;
  /** Of SKILL.md, byte for byte. */
  readonly digest: string;
  /** The source of the one that is taken in its place. */
  readonly hiddenBy: string | null;
}

export interface SkillIssue {
  readonly path: string;
  readonly problem: "invalid" | "too_large" | "binary" | "unreadable" | "outside" | "hidden" | "left_out";
  /** For people. */
  readonly message: string;
}

const FILE_NAME = "SKILL.md";
const FILE_BYTES_MAX = 65_536; // every request has the text of an active one
const PLACE_ENTRIES_MAX = 10_000; // looked at
const SKILLS_MAX = 256; // of one place

export function checkPlaces(places: readonly (string | SkillPlace)[]): readonly SkillPlace[] {
  return places.map((place) => {
    const { name, folder } = typeof place === "string" ? { name: place, folder: place } : place;
    const isOutside = !isAbsolute(folder) && /^\.\.(?:\/|$)/.test(normalize(folder));
    if (name.trim() !== "" && folder.trim() !== "" && !isOutside) return { name, folder };
    const why = "a place for skills must have a name and a folder, absolute or inside the project";
    throw new LogError("invalid_request", `${JSON.stringify(folder)}: ${why}`, { folder });
  });
}

type SkillRead = { readonly file: SkillFile; readonly digest: string } | { readonly issue: SkillIssue };

/** Looks into places. A file that has not changed since is not read again. */
export class SkillFinder {
  readonly #cache = new Map<string, { readonly stamp: string; readonly read: SkillRead }>();

  async find(
    places: readonly SkillPlace[],
    root: string | null,
  ): Promise<{ readonly skills: readonly SkillSource[]; readonly issues: readonly SkillIssue[] }> {
    const skills: SkillSource[] = [];
    const issues: SkillIssue[] = [];
    const first = new Map<string, string>();
    for (const { name, folder } of places) {
      if (!isAbsolute(folder) && root === null) continue;
      const inside = isAbsolute(folder) ? null : root;
      const place = join(inside ?? "/", folder);
      const names = await namesIn(place, issues);
      const reads = await Promise.all(names.map((one) => this.#read(join(place, one), one, inside)));
      for (const [index, one] of names.entries()) {
        const read = reads[index] ?? null;
        if (read === null) continue;
        if ("issue" in read) {
          issues.push(read.issue);
          continue;
        }
        const source = `${name}/${one}`;
        const hiddenBy = first.get(one) ?? null;
        if (hiddenBy === null) first.set(one, source);
        else issues.push(issueOf(join(place, one), "hidden", `${hiddenBy} has the same name and precedence`));
        const { file, digest } = read;
        skills.push({ ...file, source, folder: join(place, one), digest, hiddenBy });
      }
    }
    return { skills, issues };
  }

  /** Null: it is no skill. `inside`: where a link of the project must not lead out of. */
  async #read(folder: string, name: string, inside: string | null): Promise<SkillRead | null> {
    const path = join(folder, FILE_NAME);
    try {
      const real = await realpath(path).catch((error: unknown) => {
        if (isMissing(error)) return null;
        throw error;
      });
      // A folder that is something else; but a link that leads nowhere was meant as a skill.
      if (real === null && (await lstat(path).catch(() => null)) === null) return null;
      if (real === null) return { issue: issueOf(path, "unreadable", "it is a broken symbolic link") };
      const own = await realpath(folder);
      if (!isWithin(own, real))
        return { issue: issueOf(path, "outside", "it is a symbolic link to a place outside its folder") };
      if (inside !== null && !isWithin(await realpath(inside), own))
        return { issue: issueOf(folder, "outside", "it is a symbolic link to a place outside the project") };
      const stats = await stat(real);
      // A pipe or a device would be waited for, or never end.
      if (!stats.isFile()) return { issue: issueOf(path, "unreadable", "it is not a file") };
      const { ino, size, mtimeMs, ctimeMs } = stats;
      const stamp = [real, name, ino, size, mtimeMs, ctimeMs].join(" ");
      const cached = this.#cache.get(folder);
      if (cached?.stamp === stamp) return cached.read;
      const read = await readSkill(path, { real, name });
      this.#cache.set(folder, { stamp, read });
      return read;
    } catch (error) {
      return { issue: issueOf(path, "unreadable", error instanceof Error ? error.message : String(error)) };
    }
  }
}

async function readSkill(
  path: string,
  { real, name }: { readonly real: string; readonly name: string },
): Promise<SkillRead> {
  const start = await readTextStart(real, FILE_BYTES_MAX);
  const tooLarge = `it has ${start.size} bytes. The limit is ${FILE_BYTES_MAX}. Move details to other files in its folder.`;
  if (start.size > FILE_BYTES_MAX) return { issue: issueOf(path, "too_large", tooLarge) };
  if (start.text === null) return { issue: issueOf(path, "binary", "it is not UTF-8 text") };
  // It loads a reader of YAML, which an agent without skills does not need.
  const { parseSkill } = await import("./skill-file.ts");
  try {
    const digest = createHash("sha256").update(start.text).digest("hex");
    return { file: parseSkill(start.text, name), digest };
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { issue: issueOf(path, "invalid", why) };
  }
}

/** By name, so that the same folder gives the same list. */
async function namesIn(place: string, issues: SkillIssue[]): Promise<readonly string[]> {
  const names: string[] = [];
  try {
    const folder = await opendir(place);
    let entries = 0;
    for await (const entry of folder) {
      if (++entries > PLACE_ENTRIES_MAX) break;
      if (!entry.name.startsWith(".") && (entry.isDirectory() || entry.isSymbolicLink()))
        names.push(entry.name);
    }
    if (entries > PLACE_ENTRIES_MAX || names.length > SKILLS_MAX)
      issues.push(issueOf(place, "left_out", `it has too many folders. Only ${SKILLS_MAX} are read.`));
  } catch (error) {
    if (!isMissing(error))
      issues.push(issueOf(place, "unreadable", error instanceof Error ? error.message : String(error)));
  }
  return names.toSorted().slice(0, SKILLS_MAX);
}

function issueOf(path: string, problem: SkillIssue["problem"], why: string): SkillIssue {
  return { path, problem, message: `${path}: ${why}` };
}
