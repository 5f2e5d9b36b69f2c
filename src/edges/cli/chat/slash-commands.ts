import { isLogError, LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { NOT_UNDONE } from "#operations/text";
import { findEntry } from "#edges/cli/address";
import { fit, safeLine, safeText } from "#edges/cli/terminal/terminal";
import { blockPreview } from "#transfer/shown/entry-preview";
import { filterTree } from "#edges/cli/view/filtered-tree";
import { treeRows } from "#edges/cli/view/tree-view";
import type { ChatParts, ChatSession } from "./chat-session.ts";

const ENTRY_CHARS_MIN = 4; // a shorter word is more likely a word than the start of an id

const WORDS_SHOWN = 60; // of a message that another takes the place of

const ORDERS = `  /edit [ENTRY] TEXT   puts TEXT in place of a message of yours, the last one unless told;
                       files and external effects are not undone, by /fork and /goto neither
  /fork [ENTRY]        goes on in a fork; on a message of yours: from before it
  /goto ENTRY          moves to another entry; /tree shows them
  /tree                the branches
  /new                 a fresh start: nothing above reaches the agent, all of it stays readable
  /cancel              stops the running turn, as Ctrl-C does`;

const SLASH_COMMANDS: ChatSession["orders"] = {
  edit,
  fork: async ({ session, printer }, rest) => {
    const source = session.conversation.id;
    const forked = await session.fork(rest === "" ? null : await named(session, rest));
    session.conversation = forked.conversation;
    printer.notice(
      `Now in ${forked.conversation.id}, a fork of ${source}: ${forked.how}. The source is as it was. ${NOT_UNDONE}`,
    );
    if (forked.editable !== null)
      printer.notice(
        `The message it was taken at, to be sent again: ${forked.editable.map(blockPreview).join(" ")}`,
      );
  },
  goto: async ({ session, printer }, rest) => {
    if (rest === "") throw new LogError("invalid_request", "/goto wants an entry; /tree shows them");
    const entry = await named(session, rest);
    const { how } = await session.goTo(entry);
    printer.notice(
      `Now at ${entry}; what you say next grows from there, and ${how}. Nothing was removed. ${NOT_UNDONE}`,
    );
  },
  tree: async ({ session, out }) => {
    const { leaf, nodes } = await session.conversation.tree();
    for (const row of treeRows(filterTree(nodes, "all"), leaf, out)) await out.write(`${row}\n`);
  },
  new: async ({ session, printer }) => {
    await session.conversation.newChat();
    printer.notice("A fresh start: nothing above reaches the agent. It stays readable with /tree.");
  },
  cancel: ({ session, printer }) => {
    if (!session.cancel()) printer.notice("Nothing is running.");
  },
  help: ({ session, out }) => {
    const { talk, orders } = session.help;
    return out.write(`${talk}\nOrders for Holdfast:\n${ORDERS}\n${orders}\n  /help  /quit\n`);
  },
};

/** Carries out a line that begins with "/". */
export async function runSlashCommand(chat: ChatParts, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)(\s[\s\S]*)?$/.exec(line) ?? [];
  const all = { ...SLASH_COMMANDS, ...chat.session.orders };
  const known = Object.hasOwn(all, name) ? all[name] : undefined;
  if (known === undefined)
    throw new LogError(
      "invalid_request",
      `There is no /${safeText(name)}; /help lists what there is, and a message that begins with a slash is written with two`,
    );
  await known(chat, rest.trim());
}

/** Other words in place of a message of the person's; the last one unless told. */
async function edit({ session, printer }: ChatParts, rest: string): Promise<void> {
  const { conversation } = session;
  const { entry, text } = await entryAndText(session, rest);
  if (text === "") throw new LogError("invalid_request", "/edit wants the new words: /edit [ENTRY] TEXT");
  const mine = (await conversation.branch()).findLast(
    (one) => one.type === "message" && one.message.role === "user",
  );
  const target = entry ?? mine?.id;
  if (target === undefined) throw new LogError("invalid_request", "There is nothing to edit yet");
  const found = await conversation.entry(target);
  if (found.type !== "message" || found.message.role !== "user")
    throw new LogError("invalid_request", `${target} is not a message of yours; nothing was changed`);
  const { how } = await session.goBackTo(found.id);
  const before = fit(safeLine(found.message.content.map(blockPreview).join(" ")), WORDS_SHOWN);
  printer.notice(
    `In place of "${before}". What came after it is off the branch and stays in the log; ${how}. ${NOT_UNDONE}`,
  );
  await session.send(text);
}

/** As the tree shows it, with or without the "@" of an address. */
function named({ conversation }: ChatSession, text: string): Promise<EntryId> {
  return findEntry(conversation, text.replace(/^@/, ""));
}

/** The first word is an entry when it names one and more words follow. */
async function entryAndText(
  session: ChatSession,
  rest: string,
): Promise<{ readonly entry: EntryId | null; readonly text: string }> {
  const [, word = "", more = ""] = /^@?(\S+)\s([\s\S]*)$/.exec(rest) ?? [];
  const marked = rest.startsWith("@");
  if (more === "" || (word.length < ENTRY_CHARS_MIN && !marked)) return { entry: null, text: rest };
  try {
    return { entry: await named(session, word), text: more.trimStart() };
  } catch (error) {
    if (!isLogError(error, "entry_not_found") || marked) throw error;
    return { entry: null, text: rest };
  }
}
