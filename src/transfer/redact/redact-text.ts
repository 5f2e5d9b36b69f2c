import { hash } from "node:crypto";
import { secretsIn } from "#log/secrets";

export interface RedactOptions {
  /** Addresses of people, too. */
  readonly emails?: boolean;
  /** The ids of what is left where it stands, because a person has looked at it: exactly these places, and nothing else. */
  readonly keep?: ReadonlySet<string>;
}

/** Something that was taken out, for whoever reviews it: never the thing itself. */
export interface Redaction {
  /** The place of it, and of nothing else, in what is exported: for `keep`. */
  readonly id: string;
  readonly kind: string;
  /** At most its first four characters, fewer of what is short, and how long it was. */
  readonly preview: string;
  /** What stands around it in the redacted text. */
  readonly before: string;
  readonly after: string;
  /** It was not taken out, as was asked. */
  readonly kept: boolean;
}

export interface RedactedText {
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
export function redactText(text: string, options: RedactOptions = {}, place: string = ""): RedactedText {
  const spans = joined([...secretsIn(text), ...(options.emails === true ? emailsIn(text) : [])]);
  if (spans.length === 0) return { text, hits: [] };
  if (spans.length > SPANS_MAX) return redactWhole(text, "more than 1,000 secrets", options, place);
  let [redacted, at] = ["", 0];
  const found: {
    readonly hit: Omit<Redaction, "before" | "after">;
    readonly from: number;
    readonly to: number;
  }[] = [];
  for (const { kind, from, to } of spans) {
    const secret = text.slice(from, to);
    const id = idOf(place, from, to);
    const kept = options.keep?.has(id) === true;
    redacted += text.slice(at, from);
    const start = redacted.length;
    redacted += kept ? secret : markOf(kind);
    found.push({ hit: { id, kind, preview: previewOf(secret), kept }, from: start, to: redacted.length });
    at = to;
  }
  redacted += text.slice(at);
  const hits = found.map(({ hit, from, to }) => Object.assign(hit, around(redacted, from, to)));
  return { text: redacted, hits };
}

/** A whole value that is secret by what it is called. */
export function redactWhole(
  text: string,
  kind: string,
  options: RedactOptions = {},
  place: string = "",
): RedactedText {
  if (text === "" || MARK.test(text)) return { text, hits: [] };
  const id = idOf(place, 0, text.length);
  const kept = options.keep?.has(id) === true;
  return {
    text: kept ? text : markOf(kind),
    hits: [{ id, kind, preview: previewOf(text), kept, before: "", after: "" }],
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
function joined(found: readonly Span[]): readonly Span[] {
  const spans: Span[] = [];
  for (const span of found.toSorted((one, other) => one.from - other.from || other.to - one.to)) {
    const last = spans.at(-1);
    if (last === undefined || span.from >= last.to) spans.push(span);
    else if (span.to > last.to) spans[spans.length - 1] = { ...last, to: span.to };
  }
  return spans;
}

function emailsIn(text: string): readonly Span[] {
  if (!text.includes("@")) return [];
  return [...text.matchAll(EMAIL)].map(({ 0: found, index }) => ({
    kind: "email address",
    from: index,
    to: index + found.length,
  }));
}

const SHOWN_MAX = 4;
const SHOWN_PART = 8; // of so many characters one is shown

function previewOf(secret: string): string {
  const shown = Math.min(SHOWN_MAX, Math.floor(secret.length / SHOWN_PART));
  return `${secret.slice(0, shown).toWellFormed()}… (${secret.length} characters)`;
}
