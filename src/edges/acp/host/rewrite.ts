import type { Json } from "../../../log/json-text.ts";
import { type Message, type Paths, type Span, spanAt, spansIn, stringAt, textAt } from "../wire/spans.ts";
import { type Edit, replaceInStrings } from "../wire/splice.ts";

const FAILURE: Paths = { jetbrains: { air: { sessionFailure: { id: null } } } };
/** Where a session's id may stand. */
const IDS: Paths = {
  params: {
    sessionId: null,
    update: { sessionId: null, senderSessionId: null, _meta: FAILURE },
  },
  result: { sessionId: null, sessions: { "*": { sessionId: null } }, _meta: FAILURE },
};

/** Puts one id in place of another wherever a session's id stands; content, output and paths are not looked at. */
export function rewriteIds(message: Message, from: string, to: string): readonly Edit[] {
  const { bytes, whole, error } = message;
  const text = JSON.stringify(to);
  const edits: Edit[] = error === null ? [] : [...replaceInStrings(bytes, error, from, to)];
  for (const span of spansIn(bytes, whole, IDS))
    if (stringAt(bytes, span) === from) edits.push({ span, text });
  return edits;
}

/** Puts our word into an object: `_meta.holdfast` of a result, `data.holdfast` of an error. */
export function withWord(
  bytes: Uint8Array,
  object: Span,
  parent: "_meta" | "data",
  word: Json,
): readonly Edit[] {
  const holdfast = JSON.stringify(word);
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
