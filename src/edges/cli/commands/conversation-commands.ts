import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import { createConversation, goTo, newChat, setMetadata, setTitle } from "#operations/conversations";
import { setHidden, setLabel } from "#operations/entries";
import { perform, valueOf } from "#operations/operation";
import { NOT_UNDONE } from "#operations/text";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command } from "#edges/cli/command";
import { operationCommand } from "#edges/cli/operation-command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const newCommand: Command = operationCommand(createConversation, {
  about: "Prints the id. It stays the same for every agent session of the conversation.",
  options: {
    "--id ID": 'your own id: letters, digits, ".", "_", ":" and "-"',
    "--title TEXT": "the title",
    "--cwd DIR": "the working folder, recorded as typed",
  },
  examples: [
    "holdfast new",
    'holdfast new --id release-42 --title "Release 42" --cwd "$PWD"',
    "holdfast new --key job-7 --json",
  ],
  json: async ({ conversation }, _input, call) => ({ leaf: await leafOf(call, conversation) }),
  text: ({ conversation }) => safeLine(conversation),
});

export const titleCommand: Command = operationCommand(setTitle, {
  about: "An empty title removes it. The log keeps earlier titles.",
  examples: ["holdfast title ID Changelog for 2.0", 'holdfast title ID ""'],
  json: ({ toSeq }, { title }) => ({ title, seq: toSeq }),
  text: ({ conversation }, { title }) =>
    title === ""
      ? `Removed the title of ${safeLine(conversation)}`
      : `${safeLine(conversation)}: "${safeLine(title)}"`,
});

export const goToCommand: Command = operationCommand(goTo, {
  about: `New messages continue from ENTRY. The branch you leave stays readable, and \`goto\` leads back to it.
Files and external effects are not undone.`,
  options: { "--expect SEQ": "go only if the log still ends at this seq; exit 4 if another writer appended" },
  examples: ["holdfast goto ID@before-refactoring", "holdfast goto release-42@m3 --json"],
  json: async ({ conversation, toSeq }, _input, call) => ({
    leaf: await leafOf(call, conversation),
    seq: toSeq,
  }),
  text: ({ conversation }, { entry }) =>
    `Now at ${safeLine(`${conversation}@${entry}`)}. New messages continue from here. ${NOT_UNDONE}`,
});

export const clearCommand: Command = operationCommand(newChat, {
  about: `The conversation keeps its id, history and sessions, but models receive nothing from before, and
Holdfast resumes no earlier session. \`holdfast goto\` leads back. Files and external effects are
not undone. Use \`delete\` to remove a conversation.`,
  examples: ["holdfast clear ID", "holdfast clear release-42 --json"],
  json: async ({ conversation }, _input, call) => ({ leaf: await leafOf(call, conversation) }),
  text: ({ conversation }) =>
    `${safeLine(conversation)} starts with an empty context. Its history stays readable`,
});

async function leafOf(call: Call, conversation: string): Promise<string> {
  const { leaf } = await (await (await call.open()).conversation(conversation)).head();
  return leaf.id;
}

export const labelCommand: Command = operationCommand(setLabel, {
  forms: ["ID@ENTRY TEXT...", "ID@ENTRY --clear"],
  about: `Use the label as ENTRY in other commands: ID@TEXT. You can set it at any time, also while a turn
runs. A new label replaces the old one.`,
  options: { "--clear": "remove the label" },
  examples: ["holdfast label ID@m3 before refactoring", "holdfast label ID@m3 --clear"],
  complete: ({ label }, { flags }) => {
    if (flags.has("clear") === (label !== undefined))
      throw new LogError("invalid_request", "Type the text of the label, or --clear to remove it");
    return { label: label ?? null };
  },
  json: ({ toSeq }, { entry, label }) => ({ entry, label, seq: toSeq }),
  text: ({ conversation }, { entry, label }) =>
    label === null
      ? `Removed the label of ${safeLine(entry)}`
      : `${safeLine(entry)} is now ${safeLine(`${conversation}@${label}`)}`,
});

export const hideCommand: Command = operationCommand(setHidden, {
  about: `For a message that breaks requests, or a result that the model shouldn't see. The model sees a hidden
tool result as hidden, so its call still has an answer.`,
  options: { "--undo": "show it to the model again" },
  examples: ["holdfast hide ID@m7", "holdfast hide ID@m7 --undo"],
  complete: (_input, { flags }) => ({ hidden: !flags.has("undo") }),
  json: ({ toSeq }, { entry, hidden }) => ({ entry, hidden, seq: toSeq }),
  text: (_output, { entry, hidden }) =>
    hidden ? `${safeLine(entry)} is hidden from the model` : `The model sees ${safeLine(entry)} again`,
});

export const archiveCommand: Command = {
  name: "archive",
  summary: "Hide conversations from lists (nothing is deleted)",
  forms: ["ID..."],
  about: "You can still open and find an archived conversation. `holdfast list --archived` lists them.",
  examples: ["holdfast archive ID", "holdfast list --archived"],
  options: {},
  writes: true,
  run: (call) => mark(call, { archived: true }, "is archived"),
};

export const unarchiveCommand: Command = {
  name: "unarchive",
  summary: "Show archived conversations in lists again",
  forms: ["ID..."],
  about: "Reverts `holdfast archive`.",
  examples: ["holdfast unarchive ID"],
  options: {},
  writes: true,
  run: (call) => mark(call, { archived: false }, "is in lists again"),
};

export const pinCommand: Command = {
  name: "pin",
  summary: "Protect conversations from `prune`",
  forms: ["ID..."],
  about: "`holdfast prune` never deletes a pinned conversation.",
  examples: ["holdfast pin ID", "holdfast pin ID --undo"],
  options: { "--undo": "unpin" },
  writes: true,
  run: (call) =>
    call.flags.has("undo")
      ? mark(call, { pinned: false }, "is unpinned")
      : mark(call, { pinned: true }, "is pinned"),
};

export const tagCommand: Command = {
  name: "tag",
  summary: "Add or remove tags of a conversation",
  forms: ["ID [TAG...]"],
  about: "Without a tag it prints the tags. `holdfast list --tag TAG` lists the conversations that have one.",
  examples: [
    "holdfast tag ID billing urgent",
    "holdfast tag ID urgent --remove",
    "holdfast list --tag billing",
  ],
  options: { "--remove": "remove these tags" },
  writes: true,
  async run(call) {
    const [text = "", ...names] = call.args;
    const holdfast = await call.open();
    const { id } = await findConversation(holdfast, text);
    const { metadata } = await holdfast.handle(id).summary();
    const before = metadata.tags ?? [];
    const others = before.filter((tag) => !names.includes(tag));
    const tags = call.flags.has("remove") ? others : [...others, ...new Set(names)];
    const isChanged = tags.length !== before.length || names.length > 0;
    if (isChanged) {
      const input = { conversation: id, metadata: { tags: tags.length === 0 ? null : tags } };
      await perform(setMetadata, input, { holdfast, clock: systemClock });
    }
    await answer(call, { conversation: id, tags }, () => tags.map(safeLine).join("\n"));
  },
};

/** Files conversations: a change of their metadata, which moves nothing in their logs. */
async function mark(
  call: Call,
  change: { readonly archived?: boolean; readonly pinned?: boolean },
  state: string,
): Promise<void> {
  const holdfast = await call.open();
  // All are found before one is changed.
  const conversations: Conversation[] = [];
  for (const text of call.args) conversations.push(await findConversation(holdfast, text));
  for (const { id } of conversations) {
    const [[name, value] = ["", false]] = Object.entries(change);
    const { metadata } = await holdfast.handle(id).summary();
    const changed = (metadata[name] ?? false) !== value;
    const input = { conversation: id, metadata: { [name]: value ? true : null } };
    const { toSeq: seq } = changed
      ? valueOf(await perform(setMetadata, input, { holdfast, clock: systemClock }))
      : { toSeq: (await holdfast.handle(id).head()).headSeq };
    await answer(
      call,
      { conversation: id, ...change, changed, seq },
      () => `${safeLine(id)} ${state}${changed ? "" : ", as before"}`,
    );
  }
}
