import type { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import {
  type MigrateFailure,
  type MigrateOptions,
  type MigrationDifference,
  type VerifyResult,
  selectConversations,
  targetOf,
} from "./migrate-space.ts";
import { comparePieces, messagesHere, conversationIdFor, readyConversation } from "./ready-pieces.ts";
import type { MigrationSource } from "./migration-source.ts";

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
  const conversations = await selectConversations(source, only);
  const differences: MigrationDifference[] = [];
  const failures: MigrateFailure[] = [];
  let [same, ahead, system, done] = [0, 0, 0, 0];
  for (const one of conversations) {
    if (signal?.aborted === true) break;
    const conversation = conversationIdFor(one.source);
    try {
      const ready = readyConversation(await source.read(one.source, one.space));
      const compared = comparePieces(ready.pieces, await messagesHere(targetOf(holdfast, one), conversation));
      [same, ahead, system] = [same + compared.same, ahead + compared.ahead, system + ready.system];
      if (compared.difference !== null) {
        const difference = { conversation, source: one.source, ...compared.difference };
        differences.push(difference);
        onDifference?.(difference);
      }
    } catch (error) {
      if (!isLogError(error, "invalid_entry")) throw error;
      const { code, message } = error;
      failures.push({ state: "left", conversation, source: one.source, code, message });
    }
    onProgress?.({ done: ++done, total: conversations.length });
  }
  const stopped = signal?.aborted === true;
  return { conversations: conversations.length, same, ahead, system, differences, left: failures, stopped };
}
