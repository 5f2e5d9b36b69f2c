import { findConversation } from "#edges/cli/address";
import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const newChatCommand: Command = {
  name: "new-chat",
  summary: "Lets a conversation start afresh: nothing said so far reaches the model",
  usage: ["ID [--key KEY]"],
  about: `The conversation keeps its id, its history and its chain; the context is empty from here on,
and no session from before is resumed. \`holdfast goto\` leads back to what was before. Files and
external effects are not undone.

  --key KEY  the same command run twice begins one new chat, not two`,
  examples: ["holdfast new-chat ID", "holdfast new-chat release-42 --json"],
  options: { key: { type: "string" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open();
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const key = call.flags.text("key");
    await conversation.newChat(key === undefined ? {} : { key });
    const { leaf } = await conversation.head();
    await answer(
      call,
      { conversation: conversation.id, leaf: leaf.id },
      () => `${safeLine(conversation.id)} starts afresh; its history stays readable`,
    );
  },
};
