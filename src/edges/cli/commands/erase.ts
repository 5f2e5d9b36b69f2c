import type { Conversation } from "#conversation/conversation";
import { findConversation } from "#edges/cli/address";
import { audited } from "#edges/http/access/audit-log";
import { answer, type Command, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { isLogError, LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";

export const erase: Command = {
  name: "erase",
  summary: "Removes a conversation for good",
  usage: ["ID --yes"],
  about: `The one act that takes something away. It wants the whole id, never the start of one, and
--yes; without it the command says what would go, and exits with 2. Forks keep what they
inherited. The bytes are really gone: export first what you may want back.`,
  examples: ["holdfast erase 0199c0de-7e57-7abc-8def-0123456789ab", "holdfast erase old-chat --yes"],
  options: { yes: { type: "boolean" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const [text = ""] = call.args;
    const holdfast = await call.open();
    const id = parseConversationId(text);
    // Also one that is damaged: what cannot be read may be what has to go.
    const conversation = await findConversation(holdfast, text);
    if (conversation.id !== id)
      throw new LogError("invalid_request", `Erasing wants the whole id: ${conversation.id}`, {
        conversation: conversation.id,
      });
    if (!call.flags.has("yes")) {
      const { entries, what } = await extentOf(conversation);
      const would = `This would erase ${safeLine(id)}${what}, for good. Nothing was erased; add --yes to do it.`;
      if (call.json) throw new LogError("invalid_request", would, { conversation: id, entries });
      await remark(call, would);
      return STATUS.caller;
    }
    const act = { space: call.space, operation: "erase", conversation: id };
    await audited(holdfast, act, () => conversation.erase());
    return answer(call, { conversation: id, erased: true }, () => `Erased ${safeLine(id)}`);
  },
};

/** How much would go; of a damaged log nobody can say. */
async function extentOf(
  conversation: Conversation,
): Promise<{ readonly entries: number | null; readonly what: string }> {
  try {
    const { headSeq, title } = await conversation.head();
    const name = title === null ? "" : ` "${safeLine(title)}"`;
    return { entries: headSeq, what: `${name} with its ${counted(headSeq, "entry", "entries")}` };
  } catch (error) {
    if (!isLogError(error, "damaged")) throw error;
    return { entries: null, what: ", which is damaged, with all that is left of it" };
  }
}
