import { findConversation } from "#edges/cli/address";
import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const title: Command = {
  name: "title",
  summary: "Sets the title people see in lists",
  usage: ["ID TEXT"],
  about: "The latest title wins; the log keeps the earlier ones. An empty text takes the title away.",
  examples: ['holdfast title ID "Changelog for 2.0"'],
  options: {},
  writes: true,
  arity: [2, 2],
  async run(call) {
    const [id = "", text = ""] = call.args;
    const holdfast = await call.open();
    const conversation = await findConversation(holdfast, id);
    const { toSeq } = await conversation.title(text);
    await answer(
      call,
      { conversation: conversation.id, title: text, seq: toSeq },
      () => `${safeLine(conversation.id)} is titled "${safeLine(text)}"`,
    );
  },
};
