import type { Remembered } from "#log/projections/memories";
import { foldText } from "#log/search";

const CONTENT_CHARS = 500; // what a memory is about stands at its start
const DAY_MS = 86_400_000;

// Made when it is needed first: it takes longer than all else that a bridge loads at its start.
let segmenter: Intl.Segmenter | null = null;
// Written without spaces, so that words are found inside others.
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const KANA_ALONE = /^[\p{Script=Hiragana}ー]{1,2}$/u; // particles
// Words that say nothing about what a text is about.
const STOP_WORDS: ReadonlySet<string> = new Set(
  `the and for with are was were this that these those what which who how when where why does did you your our
   not can could should would please from into than then there here have has had will just about all any but its it is be do we me my an as at by if in of on or to no so us he she they them
   der die das und oder ein eine einen ist sind war wie was ich wir mit auf von dem den des nicht bitte sich auch aus bei nach uber unser
   les des une est que qui dans pour pas avec sur los las una del por con para como
   的 了 是 在 我 你 他 们 我们 吗 和 有 这 那 什么 怎么 请
   です ます する した して この その ある いる こと もの から まで`
    .split(/\s+/)
    .filter(Boolean),
);

/** Text as memories are compared by it: case, accents, width of letters and ß do not matter. */
function folded(text: string): string {
  return foldText(text.normalize("NFKC")).replaceAll("ß", "ss");
}

/** The words of a text that say something, in any script. */
function wordsOf(text: string): ReadonlySet<string> {
  const words = new Set<string>();
  segmenter ??= new Intl.Segmenter("und", { granularity: "word" });
  for (const { segment, isWordLike } of segmenter.segment(folded(text))) {
    if (isWordLike !== true || STOP_WORDS.has(segment) || KANA_ALONE.test(segment)) continue;
    if (segment.length > 1 || UNSPACED.test(segment) || /\d/.test(segment)) words.add(segment);
  }
  return words;
}

interface Field {
  readonly text: string;
  readonly words: ReadonlySet<string>;
}

interface Fields {
  readonly title: Field;
  readonly content: Field;
  readonly tags: readonly Field[];
  readonly keywords: readonly Field[];
  /** All of it. */
  readonly whole: string;
}

// Cut into words once for as long as they are remembered.
const CUT = new WeakMap<object, Fields>();

type Rankable = Pick<Remembered, "title" | "content" | "tags" | "keywords" | "updatedAt"> & {
  readonly key?: string;
};

function fieldsOf(memory: Rankable): Fields {
  const cache = CUT.get(memory);
  if (cache !== undefined) return cache;
  const { key = "", title, content, tags, keywords } = memory;
  const fields = {
    title: fieldOf(title),
    content: fieldOf(content.slice(0, CONTENT_CHARS)),
    tags: tags.map(fieldOf),
    keywords: keywords.map(fieldOf),
    whole: folded([key, title, content, ...tags, ...keywords].join("\n")),
  };
  CUT.set(memory, fields);
  return fields;
}

function fieldOf(text: string): Field {
  return { text: folded(text), words: wordsOf(text) };
}

/** Whether a word occurs: as it is, as the start of a longer form or the other way round, or inside a compound. */
function occurs(word: string, { text, words }: Field): boolean {
  if (words.has(word)) return true;
  if (UNSPACED.test(word)) return word.length > 1 && text.includes(word);
  for (const other of words) {
    if (word.length >= 4 && other.startsWith(word)) return true;
    if (other.length >= 4 && word.startsWith(other)) return true;
    if (word.length >= 6 && other.includes(word)) return true;
  }
  return false;
}

/** A memory query. */
export interface MemoryQuery {
  /** Its words as they are typed, each to be found as it is: `%` and `*` are letters like others. */
  readonly literal: readonly string[];
  readonly words: ReadonlySet<string>;
  /** Names of files, which say more than words. */
  readonly paths: readonly string[];
}

export function memoryQuery(text: string): MemoryQuery {
  const literal = folded(text).split(/\s+/u).filter(Boolean);
  const paths = literal.filter((word) => word.length >= 4 && /[\w-][./][\w-]/.test(word));
  return { literal, words: wordsOf(text), paths };
}

/** How much a memory has to do with a query, by its words alone; 0: nothing. */
function lexicalScore(memory: Rankable, { words, paths }: MemoryQuery): number {
  const { title, content, tags, keywords, whole } = fieldsOf(memory);
  const queryWords = [...words];
  const matchCount = (field: Field): number => queryWords.filter((word) => occurs(word, field)).length;
  const share = (fields: readonly Field[]): number =>
    fields.length === 0 || queryWords.length === 0
      ? 0
      : fields.filter((field) => matchCount(field) > 0).length / Math.min(fields.length, queryWords.length);
  const inTitle = matchCount(title);
  const tagWeight = queryWords.length >= 3 ? 4 : queryWords.length === 2 ? 2.5 : 1.5;
  const ofTitle = inTitle / Math.max(1, queryWords.length + title.words.size - inTitle);
  const ofContent = queryWords.length === 0 ? 0 : matchCount(content) / queryWords.length;
  const ofPaths = paths.some((path) => whole.includes(path)) ? 2 : 0;
  return (
    tagWeight * Math.min(1, share(tags)) +
    3 * ofTitle +
    2 * Math.min(1, share(keywords)) +
    ofContent +
    ofPaths
  );
}

function hasAll(memory: Rankable, { literal }: MemoryQuery): boolean {
  return literal.length > 0 && literal.every((word) => fieldsOf(memory).whole.includes(word));
}

const ALL_WORDS = 100; // what has every word as it was typed comes before what is merely alike

/** Those that have to do with a query, the most first; between equals the newer ones. A memory without any of its words is not among them. */
export function rankMemories<M extends Rankable>(
  memories: readonly M[],
  query: MemoryQuery,
  options: { readonly nowMs: number; readonly literal?: boolean },
): readonly { readonly memory: M; readonly score: number }[] {
  const { nowMs, literal = false } = options;
  return memories
    .map((memory) => {
      const lexical = lexicalScore(memory, query) + (literal && hasAll(memory, query) ? ALL_WORDS : 0);
      const days = Math.max(0, nowMs - Date.parse(memory.updatedAt)) / DAY_MS;
      return { memory, lexical, score: lexical + 1 / (1 + days / 30) };
    })
    .filter(({ lexical }) => lexical > 0)
    .toSorted((one, other) => other.score - one.score)
    .map(({ memory, score }) => ({ memory, score }));
}

/** The part of a text around the first word that is asked for. */
export function excerptOf(text: string, { literal, words }: MemoryQuery, charsMax: number): string {
  if (text.length <= charsMax) return text;
  // Folding may change lengths: near enough for an excerpt.
  const plain = folded(text);
  const placesOf = (some: Iterable<string>): readonly number[] =>
    [...some].map((word) => plain.indexOf(word)).filter((place) => place !== -1);
  const wordPlaces = placesOf(words);
  const places = wordPlaces.length > 0 ? wordPlaces : placesOf(literal);
  const start = Math.max(
    0,
    Math.min(Math.min(...places, text.length) - charsMax / 4, text.length - charsMax),
  );
  const from = places.length === 0 ? 0 : Math.floor(start);
  const part = text
    .slice(from === 0 ? 0 : from + 1, from + charsMax - 1)
    .toWellFormed()
    .replaceAll("\uFFFD", "");
  return `${from === 0 ? "" : "…"}${part}${from + charsMax - 1 < text.length ? "…" : ""}`;
}
