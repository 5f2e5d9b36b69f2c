import { LogError } from "#log/errors";
import { setHidden, setLabel } from "#operations/entries";
import type { Command } from "#edges/cli/command";
import { operationCommand } from "#edges/cli/operation-command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const labelCommand: Command = operationCommand(setLabel, {
  usage: ["ID@ENTRY TEXT [--key KEY]", "ID@ENTRY --clear [--key KEY]"],
  about: `A label works wherever an entry is asked for: ID@TEXT. The latest label of an entry wins.
It may be set at any time, also while someone else is writing.`,
  examples: ['holdfast label ID@m3 "before refactoring"', "holdfast label ID@m3 --clear"],
  options: { clear: { type: "boolean" } },
  complete: ({ label }, { flags }) => {
    if (flags.has("clear") === (label !== undefined))
      throw new LogError("invalid_request", "Give the text of the label, or --clear to take it away");
    return { label: label ?? null };
  },
  json: ({ toSeq }, { entry, label }) => ({ entry, label, seq: toSeq }),
  text: ({ conversation }, { entry, label }) =>
    label === null
      ? `Cleared the label of ${safeLine(entry)}`
      : `${safeLine(entry)} is now ${safeLine(`${conversation}@${label}`)}`,
});

export const hideCommand: Command = operationCommand(setHidden, {
  usage: ["ID@ENTRY [--undo] [--key KEY]"],
  about: `For a message that spoils every request, or a result the model should not see. A hidden tool
result keeps its place and reads as hidden, so its call still has an answer.

  --undo  shows it to the model again`,
  examples: ["holdfast hide ID@m7", "holdfast hide ID@m7 --undo"],
  options: { undo: { type: "boolean" } },
  withoutFlag: ["hidden"],
  complete: (_input, { flags }) => ({ hidden: !flags.has("undo") }),
  json: ({ toSeq }, { entry, hidden }) => ({ entry, hidden, seq: toSeq }),
  text: (_output, { entry, hidden }) =>
    `${safeLine(entry)} is ${hidden ? "hidden from" : "shown to"} the model`,
});
