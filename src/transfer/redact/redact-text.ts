import { secretsIn } from "#log/secrets";

export interface RedactOptions {
  /** Addresses of people, too. */
  readonly emails?: boolean;
}

/** Something that was taken out, for whoever reviews it: never the thing itself. */
export interface Redaction {
  readonly kind: string;
  /** At most its first four characters, fewer of what is short, and how long it was. */
  readonly preview: string;
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

/** The text with a mark for everything that looks like a secret. Redacted again it stays as it is. */
export function redactText(text: string, options: RedactOptions = {}): RedactedText {
  const spans = joined([...secretsIn(text), ...(options.emails === true ? emailsIn(text) : [])]);
  if (spans.length === 0) return { text, hits: [] };
  let [redacted, at] = ["", 0];
  const hits: Redaction[] = [];
  for (const { kind, from, to } of spans) {
    const secret = text.slice(from, to);
    redacted += text.slice(at, from) + markOf(kind);
    hits.push({ kind, preview: previewOf(secret) });
    at = to;
  }
  return { text: redacted + text.slice(at), hits };
}

/** A whole value that is secret by what it is called. */
export function redactWhole(text: string, kind: string): RedactedText {
  if (text === "" || MARK.test(text)) return { text, hits: [] };
  return { text: markOf(kind), hits: [{ kind, preview: previewOf(text) }] };
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
