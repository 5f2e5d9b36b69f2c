import { LogError } from "#log/errors";
import type { Json } from "#log/json/json-text"; /** What a section may be called. */
const SECTION_NAMES = [
  "call",
  "environment",
  "focus",
  "history",
  "instructions",
  "memory",
  "message",
  "recall",
  "result",
  "skill",
  "skills",
  "summary",
  "system-reminder",
] as const;
export type SectionName = (typeof SECTION_NAMES)[number];

const INVISIBLE = "[\\s\\u200b-\\u200f\\u2060\\ufeff]*"; // a model reads over them
const TAG = new RegExp(`<(?=${INVISIBLE}(?:/${INVISIBLE})?(?:${SECTION_NAMES.join("|")})(?![a-z0-9]))`, "gi");

/** A marked part of a prompt. Whatever its text is, it neither ends the section nor begins another. */
export function promptSection(
  name: SectionName,
  text: string,
  attributes: { readonly [name: string]: string } = {},
): string {
  return wrapSections(name, [escapeTags(text)], attributes);
}

/** The same around sections, which stay what they are. */
export function wrapSections(
  name: SectionName,
  sections: readonly string[],
  attributes: { readonly [name: string]: string } = {},
): string {
  const attributeTexts = Object.entries(attributes).map(
    ([key, value]) => ` ${key}="${escapeAttribute(value)}"`,
  );
  return `<${name}${attributeTexts.join("")}>\n${sections.join("\n")}\n</${name}>`;
}

/** Takes their meaning from the tags of sections, and changes nothing else. */
export function escapeTags(text: string): string {
  return text.replaceAll(TAG, "&lt;");
}

const ENTITIES: { readonly [char: string]: string } = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "\n": "&#10;",
  "\r": "&#13;",
};

function escapeAttribute(value: string): string {
  return value.replaceAll(/[&<>"\n\r]/g, (char) => ENTITIES[char] ?? char);
}

/** The parts of a system prompt, by what they are patched by; `system` is what stands first. */
const PATCHED = ["system", "environment", "instructions", "memory", "skill", "skills"] as const;
type PatchedName = (typeof PATCHED)[number];

/** Other words for parts of the system prompt; null takes one away. */
export type PromptPatch = { readonly [Name in PatchedName]?: string | null };

/** A part of the prompt as it stands there; several may have one name. */
export interface PromptPart {
  readonly name: PatchedName;
  readonly text: string;
}

export function checkPatch(patch: { readonly [name: string]: unknown }): void {
  for (const [name, text] of Object.entries(patch)) {
    if (!isPatched(name)) throw refused(`Unknown section ${JSON.stringify(name)} of the system prompt`);
    if (text !== null && typeof text !== "string")
      throw refused(
        `Section ${name} of the system prompt must be a string, or null to remove it (got ${typeof text})`,
      );
  }
}

function refused(problem: string): LogError {
  return new LogError("invalid_request", `${problem}. Sections you can change: ${PATCHED.join(", ")}.`);
}

function isPatched(name: string): name is PatchedName {
  return PATCHED.some((section) => section === name);
}

/** What a log says of a patch; what this version knows nothing of is passed over. */
export function storedPatch(stored: { readonly [name: string]: Json } | undefined): PromptPatch | null {
  if (stored === undefined) return null;
  const members = Object.entries(stored).filter(
    ([name, text]) => isPatched(name) && (text === null || typeof text === "string"),
  );
  return Object.fromEntries(members);
}

/** The parts with other words where the patch has some: in the place of the first of that name, or behind all. */
export function patchParts(parts: readonly PromptPart[], patch: PromptPatch | null): readonly PromptPart[] {
  if (patch === null) return parts;
  const output: PromptPart[] = [];
  const remaining = new Map(Object.entries(patch) as [PatchedName, string | null][]);
  for (const part of parts) {
    const { name } = part;
    if (!Object.hasOwn(patch, name)) {
      output.push(part);
      continue;
    }
    const text = remaining.get(name);
    remaining.delete(name);
    if (typeof text === "string") output.push(patched(name, text));
  }
  for (const [name, text] of remaining) if (text !== null) output.push(patched(name, text));
  return output;
}

/** `system` is the host's own words; no other part can end its own section. */
function patched(name: PatchedName, text: string): PromptPart {
  return { name, text: name === "system" ? text : promptSection(name satisfies SectionName, text) };
}
