import type { Json } from "./json-text.ts";

/** For a name with an escape it may receive another name. */
type Reviver = (name: string, value: Json, context: { readonly source?: string }) => Json;

const { parse } = JSON as unknown as {
  readonly parse: (text: string, reviver?: Reviver) => Json; // TypeScript's library has no context yet
};

const SPACE = 32;
const QUOTE = 34;
const BACKSLASH = 92;
const COLON = /\s*:/y;

/**
 * As JSON.parse, and throws as it does. V8 takes a name with an escape for another one, ending in a backslash, that it has
 * seen at that place before (nodejs/node#63785): once `{"a":1,"b\\":2}` was read, by anyone, `{"a":1,"b\n":2}` has the
 * member `b\`. So JSON.parse sees no name with an escape.
 */
export function readJson(text: string, reviver?: Reviver): Json {
  return text.includes("\\") && mayEscapeNames(text) ? readNames(text, reviver) : parse(text, reviver);
}

/** Colons are rarer than escapes. A name is found surely; what only looks like one inside of a string costs time alone. */
function mayEscapeNames(text: string): boolean {
  for (let colon = text.indexOf(":"); colon !== -1; colon = text.indexOf(":", colon + 1)) {
    let index = colon - 1;
    while (text.charCodeAt(index) <= SPACE) index--;
    if (text.charCodeAt(index) !== QUOTE || isEscaped(text, index)) continue;
    do index--;
    while (index >= 0 && text.charCodeAt(index) !== QUOTE && text.charCodeAt(index) !== BACKSLASH);
    if (text.charCodeAt(index) === BACKSLASH || text.charCodeAt(index - 1) === BACKSLASH) return true;
  }
  return false;
}

function isEscaped(text: string, index: number): boolean {
  let slashes = 0;
  while (text.charCodeAt(index - 1 - slashes) === BACKSLASH) slashes++;
  return slashes % 2 === 1;
}

function readNames(text: string, reviver: Reviver | undefined): Json {
  const mark = unusedMark(text);
  const aliases = new Map<string, string>();
  const parts: string[] = [];
  let done = 0;
  for (let open = text.indexOf('"'); open !== -1;) {
    const end = stringEnd(text, open) + 1;
    COLON.lastIndex = end;
    if (COLON.test(text) && text.slice(open, end).includes("\\")) {
      const name = JSON.parse(text.slice(open, end)) as string;
      // Written plainly it is the same name, unless it would pass for an alias.
      const canBePlain = JSON.stringify(name) === `"${name}"` && !name.startsWith(mark);
      let alias = canBePlain ? name : aliases.get(name);
      if (alias === undefined) aliases.set(name, (alias = `${mark}${aliases.size}`));
      parts.push(text.slice(done, open), `"${alias}"`);
      done = end;
    }
    open = text.indexOf('"', end);
  }
  const value = parse(parts.join("") + text.slice(done), reviver);
  return withNames(value, new Map([...aliases].map(([name, alias]) => [alias, name])));
}

/** The beginning of an alias that begins no string of the text: found in one pass, and short whatever the text holds. */
function unusedMark(text: string): string {
  const used = new Set(Array.from(text.matchAll(/"~(\d{1,9})~/g), ([, digits]) => digits));
  let number = 0;
  while (used.has(String(number))) number++;
  return `~${number}~`;
}

/** Where the string that begins at `open` has its closing quote; the length of the text when it has none. */
export function stringEnd(text: string, open: number): number {
  let index = open + 1;
  for (;;) {
    const quote = text.indexOf('"', index);
    if (quote === -1) return text.length;
    if (!isEscaped(text, quote)) return quote;
    index = quote + 1;
  }
}

type Container = Record<string, Json>;

/** Without recursion: payloads are deeper than a stack. */
function withNames(value: Json, names: ReadonlyMap<string, string>): Json {
  const root: Container = { value };
  const open: Container[] = [root];
  for (let holder = open.pop(); holder !== undefined; holder = open.pop())
    for (const [name, inner] of Object.entries(holder)) {
      if (typeof inner !== "object" || inner === null || Object.isFrozen(inner)) continue; // JSON.rawJSON is frozen
      const named = renamed(inner as Container, names);
      // A plain assignment to `__proto__` would make no member.
      if (named !== inner) Object.defineProperty(holder, name, { value: named });
      open.push(named);
    }
  return root["value"] ?? null;
}

function renamed(input: Container, names: ReadonlyMap<string, string>): Container {
  if (Array.isArray(input) || !Object.keys(input).some((name) => names.has(name))) return input;
  return Object.fromEntries(Object.entries(input).map(([name, inner]) => [names.get(name) ?? name, inner]));
}

/** Looked at level by level: a function that calls itself would run out of stack where this only counts. */
export function isNestedDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one): readonly Json[] =>
      typeof one === "object" && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
