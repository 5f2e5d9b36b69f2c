import type { EntryType, StoredEntry } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { membersOf, objectText } from "#log/json/json-text";
import { isSecretName } from "#log/secrets";
import { mapStrings, type StringPlace } from "./json-strings.ts";
import {
  type RedactedText,
  type Redaction,
  type RedactOptions,
  redactText,
  redactWhole,
} from "./redact-text.ts";

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
    const found = redactMember(text, place, options, `${conversation} ${id} ${strings++}`);
    for (const hit of found.hits)
      hits.push({ conversation, entry: id, seq, type, where: place.path(), ...hit });
    return found.text;
  });
  return { payload: redacted, hits };
}

/** A value is a secret by its shape, or by what its member is called. */
function redactMember(
  text: string,
  { member }: StringPlace,
  options: RedactOptions,
  place: string,
): RedactedText {
  const found = redactText(text, options, place);
  return isSecretName(member) && found.hits.length === 0
    ? redactWhole(text, "secret member", options, place)
    : found;
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
