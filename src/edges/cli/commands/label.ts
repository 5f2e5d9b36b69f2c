import { LogError } from "#log/errors";
import { findTarget } from "#edges/cli/address";
import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const label: Command = {
  name: "label",
  summary: "Gives an entry a name to find it by",
  usage: ["ID@ENTRY TEXT", "ID@ENTRY --clear"],
  about: `A label works wherever an entry is asked for: ID@TEXT. The latest label of an entry wins.
It may be set at any time, also while someone else is writing.`,
  examples: ['holdfast label ID@m3 "before refactoring"', "holdfast label ID@m3 --clear"],
  options: { clear: { type: "boolean" } },
  writes: true,
  arity: [1, 2],
  async run(call) {
    const [address = "", text] = call.args;
    const clear = call.flags.has("clear");
    if (clear === (text !== undefined))
      throw new LogError("invalid_request", "Give the text of the label, or --clear to take it away");
    if (text?.trim() === "")
      throw new LogError("invalid_request", "A label needs a text; --clear takes one away");
    const holdfast = await call.open();
    const { conversation, entry } = await findTarget(holdfast, address);
    const { toSeq } = await conversation.label(entry, text ?? null);
    await answer(call, { conversation: conversation.id, entry, label: text ?? null, seq: toSeq }, () =>
      text === undefined
        ? `Cleared the label of ${safeLine(entry)}`
        : `${safeLine(entry)} is now ${safeLine(`${conversation.id}@${text}`)}`,
    );
  },
};
