import type { MemoryChange } from "#log/table/memory-change";
import { LogError } from "#log/errors";
import type { Remembered } from "#log/projections/memories";
import { type EntryId, parseConversationId } from "#log/ids";
import { secretsIn } from "#log/secrets";

export const MEMORY_KINDS = [
  "preference",
  "profile",
  "project_fact",
  "workflow",
  "decision",
  "constraint",
  "note",
] as const;
export type MemoryKind = (typeof MEMORY_KINDS)[number];

const KEY_CHARS_MAX = 80;
const TITLE_CHARS_MAX = 120;
const CONTENT_CHARS_MAX = 4_000;
const WORDS_MAX = 20; // tags, and keywords
const WORD_CHARS_MAX = 80;
/** The most memories per scope that users save. A prompt has room for only a few of them. */
export const PERSON_ENTRIES_MAX = 1_000;
/** The most memories per scope that models save. One more removes the oldest. */
export const AUTO_ENTRIES_MAX = 50;

/** A memory to save. */
export interface MemoryInput {
  /** The key of the memory (default: made from the title). The same key replaces the same memory. */
  readonly key?: string;
  /** One line (default: the first line of the content). */
  readonly title?: string;
  readonly content: string;
  readonly kind?: MemoryKind;
  readonly tags?: readonly string[];
  /** Words it is to be found by that are not in it. */
  readonly keywords?: readonly string[];
  /** Who saves it (default: `person`). The number of memories that models save is limited; the oldest goes first. */
  readonly by?: "person" | "model";
  /** The conversation that saves it. */
  readonly conversation?: string;
}

/** A key as it is compared: small letters, digits and marks of any script, with `_` for all between. */
export function normalizeKey(text: string): string {
  const plain = text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, "_")
    .replaceAll(/^_|_$/g, "");
  const key = firstChars(plain, KEY_CHARS_MAX).replace(/_$/, "");
  if (key === "") throw wrong("The key of a memory must contain a letter or a digit. Set `key` or `title`.");
  return key;
}

/** The start of a text, never half a character. */
export function firstChars(text: string, charsMax: number): string {
  return text.length <= charsMax
    ? text
    : text
        .slice(0, charsMax)
        .toWellFormed()
        .replace(/\uFFFD$/, "");
}

/** A fact that saves it; throws for what may not be remembered. */
export function savedBody(
  input: MemoryInput,
): MemoryChange & { readonly type: "memory"; readonly key: string } {
  const content = input.content.toWellFormed().trim();
  if (content === "") throw wrong("content must not be empty");
  if (content.length > CONTENT_CHARS_MAX)
    throw wrong(
      `content has ${content.length} characters. The limit is ${CONTENT_CHARS_MAX}. Shorten or split it.`,
    );
  const title = titleOf(input.title, content);
  const key = normalizeKey(input.key ?? title);
  const { kind = "note", by = "person" } = input;
  if (!MEMORY_KINDS.includes(kind))
    throw wrong(`Unknown kind of memory "${kind}". Use ${MEMORY_KINDS.join(", ")}.`);
  const tags = checkWords("tags", input.tags);
  const keywords = checkWords("keywords", input.keywords);
  refuseSecrets([input.key ?? "", title, content, ...tags, ...keywords]);
  return {
    type: "memory",
    change: "saved",
    key,
    kind,
    title,
    content,
    ...(tags.length === 0 ? {} : { tags }),
    ...(keywords.length === 0 ? {} : { keywords }),
    by,
    ...(input.conversation === undefined ? {} : { conversation: parseConversationId(input.conversation) }),
  };
}

function titleOf(input: string | undefined, content: string): string {
  if (input === undefined) {
    const [line = ""] = content.split(/[\n\r\u2028\u2029]/);
    return firstChars(line.trim(), TITLE_CHARS_MAX);
  }
  const title = input.toWellFormed().trim();
  if (title === "") throw wrong("title must not be empty. Leave it out to create it from the content.");
  if (/[\n\r\u2028\u2029]/.test(title)) throw wrong("title must be one line");
  if (title.length > TITLE_CHARS_MAX)
    throw wrong(`title has ${title.length} characters. The limit is ${TITLE_CHARS_MAX}.`);
  return title;
}

function checkWords(field: string, input: readonly string[] = []): readonly string[] {
  const words = [...new Set(input.map((word) => word.toWellFormed().trim()).filter(Boolean))];
  if (words.length > WORDS_MAX) throw wrong(`${field} has ${words.length} items. The limit is ${WORDS_MAX}.`);
  if (words.some((word) => word.length > WORD_CHARS_MAX || /[\n\r]/.test(word)))
    throw wrong(`Each item of ${field} must be one line of at most ${WORD_CHARS_MAX} characters`);
  return words;
}

/** Throws if a text looks like a secret: memory goes into prompts. */
function refuseSecrets(texts: readonly string[]): void {
  const [secret] = texts.flatMap((text) => secretsIn(text));
  if (secret === undefined) return;
  throw wrong(
    `This looks like a secret (${secret.kind}). Memories are sent to models, so save where the secret is stored instead.`,
    { secret: secret.kind },
  );
}

/** The fact that brings a memory back; throws where there is no room for it. */
export function planRestore(
  live: ReadonlyMap<string, Remembered>,
  removed: Remembered,
): readonly (MemoryChange & { readonly type: "memory" })[] {
  if (isOfPerson(removed)) checkRoom(live);
  return [{ type: "memory", change: "restored", key: removed.key, by: "person" }];
}

function checkRoom(live: ReadonlyMap<string, Remembered>): void {
  const ofPeople = [...live.values()].filter(isOfPerson).length;
  if (ofPeople < PERSON_ENTRIES_MAX) return;
  throw wrong(`This scope has ${ofPeople} memories, its limit. Remove some first.`, {
    limit: PERSON_ENTRIES_MAX,
  });
}

/** Throws if the memory under the key is not the one to replace. The same content is no conflict. */
export function checkReplaced(
  live: ReadonlyMap<string, Remembered>,
  saved: ReturnType<typeof savedBody>,
  replaces: EntryId | null,
): void {
  const now = live.get(saved.key) ?? null;
  if ((now?.entry ?? null) === replaces) return;
  if (now !== null && now.title === saved.title && now.content === saved.content && now.kind === saved.kind)
    return;
  const change = now === null ? "was removed" : "changed";
  throw new LogError("head_moved", `Memory ${saved.key} ${change} in the meantime. Read it again.`, {
    memory: saved.key,
    expected: replaces,
    actual: now?.entry ?? null,
  });
}

/** The facts that save one more, with those that make room for it; throws where a person has to make room. */
export function planSave(
  live: ReadonlyMap<string, Remembered>,
  saved: ReturnType<typeof savedBody>,
): readonly (MemoryChange & { readonly type: "memory" })[] {
  if (live.has(saved.key)) return [saved];
  if (saved.by === "person") {
    checkRoom(live);
    return [saved];
  }
  const auto = [...live.values()].filter((one) => !isOfPerson(one));
  const tooMany = auto.slice(0, Math.max(0, auto.length - AUTO_ENTRIES_MAX + 1));
  return [
    saved,
    ...tooMany.map(({ key }) => ({ type: "memory", change: "removed", key, by: "limit" }) as const),
  ];
}

function isOfPerson({ by }: Remembered): boolean {
  return by === "person";
}

function wrong(message: string, details: { readonly [name: string]: string | number } = {}): LogError {
  return new LogError("invalid_request", message, details);
}
