/** `node scripts/release-notes.ts v1.2.3` prints that version's part of CHANGELOG.md, and fails when the release is not ready. */
import { readFileSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** The text below the heading of `version`; null when there is none. */
export function releaseNotes(changelog: string, version: string): string | null {
  const parts = changelog.split(/^## /m).slice(1);
  const part = parts.find((text) => text.split(/\s/, 1)[0] === version);
  return part === undefined ? null : part.slice(part.indexOf("\n") + 1).trim();
}

if (import.meta.main) {
  const tag = process.argv[2] ?? "";
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly version: string;
  };
  const notes = releaseNotes(readFileSync(join(ROOT, "CHANGELOG.md"), "utf8"), manifest.version);
  if (tag !== `v${manifest.version}`) {
    console.error(
      `The tag is "${tag}" and package.json has version ${manifest.version}. Tag v${manifest.version}.`,
    );
    process.exitCode = 1;
  } else if (notes === null) {
    console.error(
      `CHANGELOG.md has no section "## ${manifest.version}". Rename "## Unreleased" and add the date.`,
    );
    process.exitCode = 1;
  } else console.log(notes);
}
