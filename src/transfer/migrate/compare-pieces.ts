import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/same-json";
import type { Message } from "#log/message";
import { loadImages } from "#transfer/messages/images";
import { writeForeign } from "#transfer/migrate/rules/foreign-messages";
import { withMarks, withoutMarks } from "#transfer/migrate/rules/message-marks";
import type { MigrationDifference } from "./migrate-result.ts";
import type { ReadyItem, ReadyPiece } from "./ready-pieces.ts";

interface MessageHere {
  readonly id: EntryId;
  readonly message: Message;
}

/** The messages of the branch, oldest first, with the bytes of their images; none where there is no such conversation. */
export async function messagesHere(holdfast: Holdfast, id: string): Promise<readonly MessageHere[]> {
  try {
    const conversation = await holdfast.conversation(id);
    const branch = await conversation.branch();
    const entries = branch.flatMap((entry) => (entry.type === "message" && !entry.hidden ? [entry] : []));
    const messages = await loadImages(
      entries.map(({ message }) => message),
      conversation,
    );
    return entries.flatMap((entry, at) => {
      const message = messages[at];
      return message === undefined ? [] : [{ id: entry.id, message }];
    });
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return [];
    throw error;
  }
}

interface Compared {
  readonly same: number;
  readonly ahead: number;
  readonly difference: Pick<MigrationDifference, "place" | "number" | "there" | "here"> | null;
}

/** Every message of pieces with the one that is here, in order. */
export function comparePieces(pieces: readonly ReadyPiece[], here: readonly MessageHere[]): Compared {
  let [at, same] = [0, 0];
  for (const { place, shape, items } of pieces)
    for (const item of items) {
      const given = here.slice(at, at + item.messages.length);
      const said = saidHere(item, given);
      if (!isSameJson(said as unknown as Json, item.messages as unknown as Json) || !hasMarks(item, given)) {
        const written = writeForeign(shape, said);
        const [first = null] = written as readonly (Json | undefined)[];
        const shown = written.length > 1 ? written : first;
        return { same, ahead: 0, difference: { place, number: same + 1, there: item.foreign, here: shown } };
      }
      at += item.messages.length;
      same++;
    }
  return { same, ahead: here.length - at, difference: null };
}

/** What is here, without what bringing it has added. */
function saidHere({ messages, marks }: ReadyItem, here: readonly MessageHere[]): readonly Message[] {
  return here.map(({ message }, at) => {
    const before = messages[at];
    return before === undefined ? message : withoutMarks(message, marks, before);
  });
}

/** Whether entries have the ids that their messages have there, and are internal where those are. */
function hasMarks({ messages, marks, entry }: ReadyItem, here: readonly MessageHere[]): boolean {
  return here.every(({ id, message: { internal = false } }, at) => {
    const before = messages[at];
    const expected = before !== undefined && withMarks(before, marks, entry).internal === true;
    return (at > 0 || entry === null || id === entry) && internal === expected;
  });
}
