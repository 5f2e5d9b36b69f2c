import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";

export function idBusy(conversation: ConversationId): LogError {
  return new LogError(
    "busy",
    `Others write to conversation ${conversation} all the time, and this call never came in between; nothing was written, try again`,
    { conversation },
  );
}
