import type { Json } from "#log/json/json-text";
import { type Message, type Paths, type Span, spanAt, spansIn, stringAt, textAt } from "./spans.ts";
import { type Edit, replaceInStrings } from "./splice.ts";

const FAILURE: Paths = { jetbrains: { air: { sessionFailure: { id: null } } } };
/** Where a session's id may stand. */
const IDS: Paths = {
  params: {
    sessionId: null,
    update: { sessionId: null, senderSessionId: null, _meta: FAILURE },
  },
  error: { data: { sessionId: null } },
  result: { sessionId: null, sessions: { "*": { sessionId: null } }, _meta: FAILURE },
};

const ID_CHARS_MIN = 8; // a shorter one is a word like any other, and may mean nothing in a sentence

/** Puts one id in place of another wherever a session's id stands; content, output and paths are not looked at. */
export function rewriteIds(message: Message, from: string, to: string): readonly Edit[] {
  const { bytes, whole, error } = message;
  const text = JSON.stringify(to);
  // In an error an id stands in sentences, too.
  if (error !== null && from.length >= ID_CHARS_MIN) return replaceInStrings(bytes, error, from, to);
  return [...spansIn(bytes, whole, IDS)]
    .filter((span) => stringAt(bytes, span) === from)
    .map((span) => ({ span, text }));
}

/** Puts what we have to say into an object: `_meta.holdfast` of a result, `data.holdfast` of an error. */
export function withMeta(
  bytes: Uint8Array,
  object: Span,
  parent: "_meta" | "data",
  meta: Json,
): readonly Edit[] {
  const holdfast = JSON.stringify(meta);
  const there = spanAt(bytes, object, [parent]);
  if (there === null || textAt(bytes, there) === "null") {
    const edit = there === null ? insertMember(bytes, object, parent, `{"holdfast":${holdfast}}`) : null;
    return [edit ?? { span: there ?? object, text: `{"holdfast":${holdfast}}` }];
  }
  // Something else than an object stands there: it is the agent's, and stays.
  return bytes[there.start] === OPEN_BRACE ? [insertMember(bytes, there, "holdfast", holdfast)] : [];
}

const OPEN_BRACE = 123;

/** Members go in front: what the object holds keeps its place and its bytes. */
function insertMember(bytes: Uint8Array, object: Span, name: string, text: string): Edit {
  const start = object.start + 1;
  const isEmpty = /^\{\s*\}$/.test(textAt(bytes, object));
  return { span: { start, end: start }, text: `${JSON.stringify(name)}:${text}${isEmpty ? "" : ","}` };
}

const OPEN_BRACKET = 91;

/** Adds an element at the end of an array; anything else stays as it is. */
export function appendElement(bytes: Uint8Array, array: Span, text: string): readonly Edit[] {
  if (bytes[array.start] !== OPEN_BRACKET) return [];
  const end = array.end - 1;
  const isEmpty = /^\[\s*\]$/.test(textAt(bytes, array));
  return [{ span: { start: end, end }, text: isEmpty ? text : `,${text}` }];
}
