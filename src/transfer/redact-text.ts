import { hash } from "node:crypto";
import { secretsIn, isSecretName } from "#log/secrets";
import type { EntryType, StoredEntry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { membersOf, objectText } from "#log/json/json-text";
import { readJson, stringEnd } from "#log/json/read-json";

export interface RedactOptions {
  /** Addresses of people, too. */
  readonly emails?: boolean;
  /** The ids of redactions that a user has reviewed and allows. Text at exactly these places stays. */
  readonly keep?: ReadonlySet<string>;
}

/** A redaction for review. It never contains the secret. */
interface Redaction {
  /** The place of it, and of nothing else, in what is exported: for `keep`. */
  readonly id: string;
  readonly kind: string;
  /** The length, and at most the first four characters (fewer for a short secret). */
  readonly preview: string;
  /** What stands around it in the redacted text. */
  readonly before: string;
  readonly after: string;
  /** It was not taken out, as was asked. */
  readonly kept: boolean;
}

export interface TextRedaction {
  readonly text: string;
  readonly hits: readonly Redaction[];
}

const EMAIL = /(?<![\w.+-])[\w.+-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?(?:\.[a-z0-9-]{1,63}){1,8}/gi;

interface Span {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
}

const AROUND_CHARS = 60;
const SPANS_MAX = 1_000; // each is reported with what stands around it; nobody reviews more of one text

/** The text with a mark for everything that looks like a secret. Redacted again it stays as it is. `place`: where the text stands. */
export function redactText(text: string, options: RedactOptions = {}, place: string = ""): TextRedaction {
  const spans = joinSpans([...secretsIn(text), ...(options.emails === true ? emailsIn(text) : [])]);
  if (spans.length === 0) return { text, hits: [] };
  if (spans.length > SPANS_MAX) return redactWhole(text, "more than 1,000 secrets", options, place);
  let [redacted, index] = ["", 0];
  const marks: {
    readonly hit: Omit<Redaction, "before" | "after">;
    readonly from: number;
    readonly to: number;
  }[] = [];
  for (const { kind, from, to } of spans) {
    const secret = text.slice(from, to);
    const id = idOf(place, from, to);
    const isKept = options.keep?.has(id) === true;
    redacted += text.slice(index, from);
    const start = redacted.length;
    redacted += isKept ? secret : markOf(kind);
    marks.push({
      hit: { id, kind, preview: previewOf(secret), kept: isKept },
      from: start,
      to: redacted.length,
    });
    index = to;
  }
  redacted += text.slice(index);
  const hits = marks.map(({ hit, from, to }) => Object.assign(hit, around(redacted, from, to)));
  return { text: redacted, hits };
}

/** A whole value that is secret by what it is called. */
function redactWhole(
  text: string,
  kind: string,
  options: RedactOptions = {},
  place: string = "",
): TextRedaction {
  if (text === "" || MARK.test(text)) return { text, hits: [] };
  const id = idOf(place, 0, text.length);
  const isKept = options.keep?.has(id) === true;
  return {
    text: isKept ? text : markOf(kind),
    hits: [{ id, kind, preview: previewOf(text), kept: isKept, before: "", after: "" }],
  };
}

/** By where it stands alone: what it is would make its digest something to guess by. */
function idOf(place: string, from: number, to: number): string {
  return hash("sha256", `${place} ${from}-${to}`).slice(0, 32);
}

function around(text: string, from: number, to: number): Pick<Redaction, "before" | "after"> {
  return {
    before: text.slice(Math.max(0, from - AROUND_CHARS), from).toWellFormed(),
    after: text.slice(to, to + AROUND_CHARS).toWellFormed(),
  };
}

const MARK = /^\[redacted: [^\]]{1,64}\]$/;

function markOf(kind: string): string {
  return `[redacted: ${kind}]`;
}

/** What overlaps is one: the first kind that was found stands for it. */
function joinSpans(input: readonly Span[]): readonly Span[] {
  const spans: Span[] = [];
  for (const span of input.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    const last = spans.at(-1);
    if (last === undefined || span.from >= last.to) spans.push(span);
    else if (span.to > last.to) spans[spans.length - 1] = { ...last, to: span.to };
  }
  return spans;
}

function emailsIn(text: string): readonly Span[] {
  if (!text.includes("@")) return [];
  return [...text.matchAll(EMAIL)].map(({ 0: address, index }) => ({
    kind: "email address",
    from: index,
    to: index + address.length,
  }));
}

const SHOWN_MAX = 4;
const SHOWN_PART = 8; // of so many characters one is shown

function previewOf(secret: string): string {
  const visibleChars = Math.min(SHOWN_MAX, Math.floor(secret.length / SHOWN_PART));
  return `${secret.slice(0, visibleChars).toWellFormed()}… (${secret.length} characters)`;
}

/** Something that was taken out, and where it stood. */
export interface RedactionHit extends Redaction {
  readonly conversation: ConversationId;
  readonly entry: EntryId;
  readonly seq: number;
  readonly type: EntryType;
  /** The member of the entry, as in `message.content[0].text`; of a blob its digest. */
  readonly where: string;
}

/**
 * What an entry says without what looks like a secret in it: words, thinking, arguments and results of tools, details, seeds,
 * names of files, whatever a program has put there. Digests and what entries call each other stay.
 */
export function redactPayload(
  conversation: ConversationId,
  { id, seq, type, payload }: Pick<StoredEntry, "id" | "seq" | "type" | "payload">,
  options: RedactOptions = {},
): { readonly payload: string; readonly hits: readonly RedactionHit[] } {
  const hits: RedactionHit[] = [];
  let strings = 0;
  const redacted = mapStrings(withoutStream(type, payload), (text, place) => {
    // By its number: a path may be cut, and two places have the same.
    const redaction = redactMember(text, place, options, `${conversation} ${id} ${strings++}`);
    for (const hit of redaction.hits)
      hits.push({ conversation, entry: id, seq, type, where: place.path(), ...hit });
    return redaction.text;
  });
  return { payload: redacted, hits };
}

/** A value is a secret by its shape, or by what its member is called. */
function redactMember(
  text: string,
  { member }: StringPlace,
  options: RedactOptions,
  place: string,
): TextRedaction {
  const redaction = redactText(text, options, place);
  return isSecretName(member) && redaction.hits.length === 0
    ? redactWhole(text, "secret member", options, place)
    : redaction;
}

/** What streamed by may hold one half of a key, and the next entry the other. It is said again whole by a message. */
const STREAMED: { readonly [T in EntryType]?: readonly string[] } = {
  update: ["data"],
  tool_progress: ["text", "data"],
};

function withoutStream(type: EntryType, payload: string): string {
  const streamed = STREAMED[type];
  if (streamed === undefined) return payload;
  return objectText(membersOf(payload).filter(({ name }) => !streamed.includes(name)));
}

/** Where a string stands in a value. */
interface StringPlace {
  /** As a person would write it: `message.content[0].text`. */
  path(): string;
  /** The name of the member it is, or that the list is in which it stands; empty at the top, and of a name itself. */
  readonly member: string;
}

interface Level {
  readonly isList: boolean;
  /** The list's number of the item, or the object's member. */
  index: number;
  name: string;
  /** In an object: the next string is a name. */
  beforeName: boolean;
}

const PATH_MAX = 200; // a deep one says enough by its end

/**
 * The JSON with its strings changed, names of members among them. What is not a changed string stays as the text it was, every
 * digit of it. The text must be JSON.
 */
export function mapStrings(json: string, change: (text: string, place: StringPlace) => string): string {
  const levels: Level[] = [];
  let [mapped, from] = ["", 0];
  for (let index = 0; index < json.length; index++) {
    const level = levels.at(-1);
    switch (json.charAt(index)) {
      case "{":
      case "[": {
        const isList = json[index] === "[";
        levels.push({ isList, index: 0, name: "", beforeName: !isList });
        break;
      }
      case "}":
      case "]":
        levels.pop();
        break;
      case ",":
        if (level !== undefined) [level.index, level.beforeName] = [level.index + 1, !level.isList];
        break;
      case '"': {
        const to = stringEnd(json, index) + 1;
        const token = json.slice(index, to);
        const text = readJson(token) as string;
        const isName = level?.beforeName === true;
        const changed = change(text, { member: isName ? "" : memberOf(levels), path: () => pathOf(levels) });
        if (isName) [level.name, level.beforeName] = [changed, false];
        if (changed !== text) {
          mapped += json.slice(from, index) + JSON.stringify(changed);
          from = to;
        }
        index = to - 1;
      }
    }
  }
  return mapped + json.slice(from);
}

function memberOf(levels: readonly Level[]): string {
  return levels.findLast(({ isList }) => !isList)?.name ?? "";
}

function pathOf(levels: readonly Level[]): string {
  let path = "";
  for (const { isList, index, name } of levels)
    path += isList ? `[${index}]` : `${path === "" ? "" : "."}${name}`;
  return path.length > PATH_MAX ? `…${path.slice(-PATH_MAX)}` : path;
}
