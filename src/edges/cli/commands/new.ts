import { answer, type Command } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const newCommand: Command = {
  name: "new",
  summary: "Makes a conversation and prints its id",
  usage: ["[--id ID] [--title TEXT] [--cwd DIR] [--key KEY]"],
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
  options: {
    id: { type: "string" },
    title: { type: "string" },
    cwd: { type: "string" },
    key: { type: "string" },
  },
  writes: true,
  arity: [0, 0],
  async run(call) {
    const { flags } = call;
    const holdfast = await call.open();
    const [title, cwd, key] = [flags.text("title"), flags.text("cwd"), flags.text("key")];
    const id = flags.text("id");
    const conversation = await holdfast.create({
      ...(id === undefined ? {} : { id }),
      ...(title === undefined ? {} : { title }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(key === undefined ? {} : { key }),
    });
    const { leaf } = await conversation.head();
    await answer(call, { conversation: conversation.id, leaf: leaf.id }, () => safeLine(conversation.id));
  },
};
