import type { Conversation } from "#conversation/conversation";
import { readSummary } from "#conversation/list-conversations";
import { findConversation } from "#edges/cli/address";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

/** Files conversations away, or takes them out again. Nothing is removed: it is a fact in their logs. */
export const archiveCommand: Command = {
  name: "archive",
  summary: "Leaves conversations out of lists; nothing of them goes",
  usage: ["ID..."],
  about: `Each stays as it is, is found by its id and by a search, and can be gone on with. \`ls\` leaves it out;
\`ls --archived\` lists those that are, \`ls --all\` both. \`holdfast unarchive ID\` brings it back.`,
  examples: ["holdfast archive ID", "holdfast ls --archived"],
  options: {},
  writes: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: (call) => file(call, true),
};

export const unarchiveCommand: Command = {
  name: "unarchive",
  summary: "Brings archived conversations back into lists",
  usage: ["ID..."],
  about: "The opposite of `holdfast archive`.",
  examples: ["holdfast unarchive ID"],
  options: {},
  writes: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: (call) => file(call, false),
};

async function file(call: Call, archived: boolean): Promise<void> {
  const holdfast = await call.open();
  // All are found before one is changed.
  const conversations: Conversation[] = [];
  for (const text of call.args) conversations.push(await findConversation(holdfast, text));
  for (const conversation of conversations) {
    const { headSeq, summary } = await conversation.head();
    const { metadata } = summary ?? (await readSummary(conversation.space, conversation.id));
    const isSo = (metadata.archived ?? false) === archived;
    const seq = isSo
      ? headSeq
      : (
          await conversation.appendOutside({
            type: "metadata",
            metadata: { archived: archived ? true : null },
          })
        ).toSeq;
    const words = archived ? "archived" : "in lists again";
    await call.io.out.write(
      call.json
        ? jsonLine({ conversation: conversation.id, archived, changed: !isSo, seq })
        : `${safeLine(conversation.id)} is ${words}${isSo ? ", as it was" : ""}\n`,
    );
  }
}
