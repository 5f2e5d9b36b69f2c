import { homedir } from "node:os";
import { join } from "node:path";
import { Skills } from "#agent/skills/skills";

/** The one that agents share, and the one that many repositories have. */
const FOLDERS = [".agents/skills", ".claude/skills"];

/** The skills of the project, then those of the person. */
export function ownSkills(env: Readonly<Record<string, string | undefined>>): Skills {
  const home = env["HOME"] ?? homedir();
  const userPlaces = FOLDERS.map((folder) => ({ name: `~/${folder}`, folder: join(home, folder) }));
  return new Skills({ places: [...FOLDERS, ...userPlaces] });
}
