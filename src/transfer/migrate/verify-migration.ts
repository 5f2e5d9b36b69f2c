import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/same-json";
import type { Message } from "#log/message";
import { loadImages } from "#transfer/messages/images";
import { writeForeign } from "#transfer/migrate/rules/foreign-messages";
import type { MigrateLeft, MigrateOptions, MigrationDifference, VerifyResult } from "./migrate-result.ts";
import { chosen } from "./migrate-space.ts";
import type { MigrationSource } from "./migration-source.ts";
import { conversationIdFor, readyConversation, type ReadyPiece } from "./ready-pieces.ts";

export interface VerifyOptions extends Pick<MigrateOptions, "only" | "signal" | "onProgress"> {
  readonly onDifference?: (difference: MigrationDifference) => void;
}

/**
 * Compares every message of the source with the one that is here, in the source's own shape, in order. What was written here behind the
 * last one is no difference. Nothing is written on either side.
 */
export async function verifyMigration(
  holdfast: Holdfast,
  source: MigrationSource,
  options: VerifyOptions = {},
): Promise<VerifyResult> {
  const { only, signal, onProgress, onDifference } = options;
  const listed = await chosen(source, only);
  const differences: MigrationDifference[] = [];
  const left: MigrateLeft[] = [];
  let [same, ahead, system, done] = [0, 0, 0, 0];
  for (const one of listed) {
    if (signal?.aborted === true) break;
    const conversation = conversationIdFor(one.source);
    try {
      const ready = readyConversation(await source.read(one.source));
      const compared = compare(ready.pieces, await messagesHere(holdfast, conversation));
      [same, ahead, system] = [same + compared.same, ahead + compared.ahead, system + ready.system];
      if (compared.difference !== null) {
        const difference = { conversation, source: one.source, ...compared.difference };
        differences.push(difference);
        onDifference?.(difference);
      }
    } catch (error) {
      if (!isLogError(error, "invalid_entry")) throw error;
      const { code, message } = error;
      left.push({ state: "left", conversation, source: one.source, code, message });
    }
    onProgress?.({ done: ++done, total: listed.length });
  }
  const stopped = signal?.aborted === true;
  return { conversations: listed.length, same, ahead, system, differences, left, stopped };
}

/** The messages of the branch, oldest first, with the bytes of their images; none where there is no such conversation. */
async function messagesHere(holdfast: Holdfast, id: string): Promise<readonly Message[]> {
  try {
    const conversation = await holdfast.conversation(id);
    const branch = await conversation.branch();
    const messages = branch.flatMap((entry) =>
      entry.type === "message" && !entry.hidden ? [entry.message] : [],
    );
    return await loadImages(messages, conversation);
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

function compare(pieces: readonly ReadyPiece[], here: readonly Message[]): Compared {
  let [at, same] = [0, 0];
  for (const { place, shape, items } of pieces)
    for (const { foreign, messages } of items) {
      const given = here.slice(at, at + messages.length);
      const written = writeForeign(shape, given);
      if (!isSameJson(written, [foreign])) {
        const [first = null] = written as readonly (Json | undefined)[];
        const shown = written.length > 1 ? written : first;
        return { same, ahead: 0, difference: { place, number: same + 1, there: foreign, here: shown } };
      }
      at += messages.length;
      same++;
    }
  return { same, ahead: here.length - at, difference: null };
}
