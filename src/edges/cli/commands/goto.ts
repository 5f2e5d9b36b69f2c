import { NOT_UNDONE } from "#transfer/words";
import { findTarget } from "#edges/cli/address";
import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const goTo: Command = {
  name: "goto",
  summary: "Moves the leaf to another entry, so that the next one grows from there",
  usage: ["ID@ENTRY [--key KEY] [--expect SEQ]"],
  about: `Nothing is removed: the branch you leave stays readable, and goto leads back to it. Files and
external effects are not undone: only what the model is told changes.
ENTRY is an entry's id, the start of it, or a label.`,
  examples: ["holdfast goto ID@before-refactoring", "holdfast goto release-42@m3 --json"],
  options: { key: { type: "string" }, expect: { type: "string" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open();
    const { conversation, entry } = await findTarget(holdfast, call.args[0] ?? "");
    const [key, expected] = [call.flags.text("key"), call.flags.count("expect")];
    const { toSeq } = await conversation.goTo(entry, {
      ...(key === undefined ? {} : { key }),
      ...(expected === undefined ? {} : { expected }),
    });
    const { leaf } = await conversation.head();
    await answer(
      call,
      { conversation: conversation.id, leaf: leaf.id, seq: toSeq },
      () => `The leaf is ${safeLine(`${conversation.id}@${leaf.id}`)}. ${NOT_UNDONE}`,
    );
  },
};
