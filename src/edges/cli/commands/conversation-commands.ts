import { createConversation, goTo, newChat, setTitle } from "#operations/conversations";
import { NOT_UNDONE } from "#operations/text";
import type { Call, Command } from "#edges/cli/command";
import { operationCommand } from "#edges/cli/operation-command";
import { safeLine } from "#edges/cli/terminal/terminal";
import { LogError } from "#log/errors";
import { setHidden, setLabel } from "#operations/entries";

export const newCommand: Command = operationCommand(createConversation, {
  about: `The id is written once and outlives every session under it; one is made unless you bring
your own. With --key the same command run twice makes one conversation, not two.

  --id ID       your own id: letters, digits, ".", "_", ":" and "-"
  --title TEXT  a title for people
  --cwd DIR     the folder the conversation is about, kept as written
  --key KEY     makes a retry harmless`,
  examples: [
    "holdfast new",
    'holdfast new --id release-42 --title "Release 42" --cwd "$PWD"',
    "holdfast new --key job-7 --json",
  ],
  json: async ({ conversation }, _input, call) => ({ leaf: await leafOf(call, conversation) }),
  text: ({ conversation }) => safeLine(conversation),
});

export const titleCommand: Command = operationCommand(setTitle, {
  about: "The latest title wins; the log keeps the earlier ones. An empty text takes the title away.",
  examples: ['holdfast title ID "Changelog for 2.0"'],
  json: ({ toSeq }, { title }) => ({ title, seq: toSeq }),
  text: ({ conversation }, { title }) => `${safeLine(conversation)} is titled "${safeLine(title)}"`,
});

export const goToCommand: Command = operationCommand(goTo, {
  about: `Nothing is removed: the branch you leave stays readable, and goto leads back to it. Files and
external effects are not undone: only what the model is told changes.
ENTRY is an entry's id, the start of it, or a label.`,
  examples: ["holdfast goto ID@before-refactoring", "holdfast goto release-42@m3 --json"],
  json: async ({ conversation, toSeq }, _input, call) => ({
    leaf: await leafOf(call, conversation),
    seq: toSeq,
  }),
  text: ({ conversation }, { entry }) => `The leaf is ${safeLine(`${conversation}@${entry}`)}. ${NOT_UNDONE}`,
});

export const newChatCommand: Command = operationCommand(newChat, {
  about: `The conversation keeps its id, its history and its chain; the context is empty from here on,
and no session from before is resumed. \`holdfast goto\` leads back to what was before. Files and
external effects are not undone.

  --key KEY  the same command run twice begins one new chat, not two`,
  examples: ["holdfast new-chat ID", "holdfast new-chat release-42 --json"],
  json: async ({ conversation }, _input, call) => ({ leaf: await leafOf(call, conversation) }),
  text: ({ conversation }) => `${safeLine(conversation)} starts afresh; its history stays readable`,
});

async function leafOf(call: Call, conversation: string): Promise<string> {
  const { leaf } = await (await (await call.open()).conversation(conversation)).head();
  return leaf.id;
}

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
