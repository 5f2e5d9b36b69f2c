import { decodeEntry } from "#log/codec";
import type { Conversation } from "#conversation/conversation";

/** A run that its trigger started, and whether its first turn began in the same batch. */
export interface FoundRun {
  readonly run: string;
  readonly hasTurn: boolean;
}

/** What was started under the key of a trigger; null where nothing was. */
export async function findStarted(conversation: Conversation, key: string): Promise<FoundRun | null> {
  const batch = await conversation.findAppend(key);
  if (batch === null) return null;
  const { fromSeq, toSeq } = batch;
  const stored = await conversation.space.read({
    conversation: conversation.id,
    after: fromSeq - 1,
    until: toSeq,
    types: ["run_start", "turn_start"],
    limit: 2,
  });
  const [start, turn] = stored.map((entry) => decodeEntry(entry));
  return start?.type === "run_start" ? { run: start.run, hasTurn: turn !== undefined } : null;
}
