import { NOT_UNDONE } from "#transfer/words";
import { findAddress } from "#edges/cli/address";
import { answer, type Command, remark } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";

export const fork: Command = {
  name: "fork",
  summary: "Makes a new conversation that shares this one up to an entry",
  usage: ["ID[@ENTRY] [--id NEW] [--cwd DIR] [--key KEY]"],
  about: `The source is not touched and the fork sees nothing it adds later. Without ENTRY the fork
grows from the leaf. It costs the same however long the conversation is. Files and external
effects are not undone: both conversations see the world as it is now.

  --id NEW   the fork's own id
  --cwd DIR  the folder the fork is about
  --key KEY  the same command run twice makes one fork, not two`,
  examples: [
    "holdfast fork ID",
    "holdfast fork ID@m3 --id second-try",
    "holdfast fork ID@before-refactoring --json",
  ],
  options: { id: { type: "string" }, cwd: { type: "string" }, key: { type: "string" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const { flags } = call;
    const holdfast = await call.open();
    const { conversation: source, entry } = await findAddress(holdfast, call.args[0] ?? "");
    const [key, cwd] = [flags.text("key"), flags.text("cwd")];
    const id = flags.text("id");
    const made = await source.fork({
      ...(entry === null ? {} : { at: entry }),
      ...(id === undefined ? {} : { id }),
      ...(cwd === undefined ? {} : { cwd }),
      ...(key === undefined ? {} : { key }),
    });
    const { leaf, origin } = await made.head();
    const from =
      origin === null ? null : { conversation: origin.source, entry: origin.entry, head: origin.head };
    await answer(call, { conversation: made.id, leaf: leaf.id, origin: from }, () => safeLine(made.id));
    if (call.io.out.isTerminal && !call.json) await remark(call, `The source is as it was. ${NOT_UNDONE}`);
  },
};
