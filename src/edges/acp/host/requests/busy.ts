import { isLogError, LogError } from "#log/errors";
import { decodeEntry } from "#log/codec";
import type { ConversationId } from "#log/ids";
import type { BridgeContext } from "#edges/acp/host/open-conversations";

const PROCESS = /^(.*?) \(process (\d+),/s;

/** Who is at work in the conversation, since when, and what a person can do; any other error as it is. */
export async function inPlainWords(
  bridge: BridgeContext,
  conversation: ConversationId,
  error: unknown,
): Promise<unknown> {
  const writer = isLogError(error, "busy") ? error.details["writer"] : undefined;
  if (!isLogError(error) || typeof writer !== "string") return error;
  const [, program = writer, pid] = PROCESS.exec(writer) ?? [];
  const who = program === "holdfast acp" ? "Another window" : program;
  const where = pid === undefined ? "" : ` (process ${pid})`;
  const since = await lastStart(bridge, conversation);
  const message =
    `${who}${where} is at work in this conversation${since === null ? "" : `, since ${since}`}. ` +
    "Your prompt was not sent. Wait until that turn has ended, which is shown here too, or stop it there; then send again.";
  return new LogError("busy", message, { ...error.details, ...(since === null ? {} : { since }) });
}

async function lastStart(bridge: BridgeContext, conversation: ConversationId): Promise<string | null> {
  const [stored] = await bridge.holdfast.space
    .read({ conversation, limit: 1, newestFirst: true, types: ["turn_start"] })
    .catch(() => []);
  return stored === undefined ? null : decodeEntry(stored).time;
}
