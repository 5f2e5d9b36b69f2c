import type { Api } from "#edges/http/client/index";
import type { InputOf } from "#edges/http/client/client";
import type { MemoryView } from "#edges/http/client/views";

export const KINDS = [
  "note",
  "preference",
  "profile",
  "project_fact",
  "workflow",
  "decision",
  "constraint",
] as const;

/** What a form holds: texts as they are typed. */
export interface MemoryFields {
  readonly title: string;
  readonly content: string;
  readonly kind: string;
  readonly tags: string;
}

export const NO_FIELDS: MemoryFields = { title: "", content: "", kind: "note", tags: "" };

export function fieldsOf({ title, content, kind, tags }: MemoryView): MemoryFields {
  return { title, content, kind, tags: tags.join(", ") };
}

/** Whether another wording counts as a change of what was looked at. */
export function isSame(a: MemoryFields, b: MemoryFields): boolean {
  return a.title === b.title && a.content === b.content && a.kind === b.kind && a.tags === b.tags;
}

/**
 * What is asked of the server: under the key of `of`, or as something new, in the place of what `over` names. Keywords have no
 * field, and stay.
 */
export function saveInput(
  fields: MemoryFields,
  of: MemoryView | null,
  over: string | null,
): InputOf<Api["saveMemory"]> {
  const kind = KINDS.find((one) => one === fields.kind);
  return {
    content: fields.content,
    ...(fields.title.trim() === "" ? {} : { title: fields.title.trim() }),
    ...(kind === undefined ? {} : { kind }),
    tags: fields.tags
      .split(",")
      .map((tag) => tag.trim())
      .filter((tag) => tag !== ""),
    ...(of === null ? {} : { memory: of.key, keywords: of.keywords }),
    replaces: over,
  };
}
