import { findTarget } from "#edges/cli/address";
import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const hide: Command = {
  name: "hide",
  summary: "Takes an entry out of what the model is sent; the log keeps it",
  usage: ["ID@ENTRY [--undo]"],
  about: `For a message that spoils every request, or a result the model should not see. A hidden tool
result keeps its place and reads as hidden, so its call still has an answer.

  --undo  shows it to the model again`,
  examples: ["holdfast hide ID@m7", "holdfast hide ID@m7 --undo"],
  options: { undo: { type: "boolean" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open();
    const { conversation, entry } = await findTarget(holdfast, call.args[0] ?? "");
    const hidden = !call.flags.has("undo");
    const { toSeq } = await conversation.hide(entry, hidden);
    await answer(
      call,
      { conversation: conversation.id, entry, hidden, seq: toSeq },
      () => `${safeLine(entry)} is ${hidden ? "hidden from" : "shown to"} the model`,
    );
  },
};
