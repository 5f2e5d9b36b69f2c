/** What a section may be called. */
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
