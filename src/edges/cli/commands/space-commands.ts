import { systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { ERROR_GROUPS, isLogError, LogError } from "#log/errors";
import { type OutputOf, perform, valueOf } from "#operations/operation";
import { eraseConversation, listPrunable, signOut } from "#operations/spaces";
import { audited } from "#edges/http/access/audit-log";
import { answer, type Call, type Command, confirm, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { findId } from "#edges/cli/operation-command";
import { progressOn } from "#edges/cli/terminal/output";
import { counted, pad, safeLine, type Style } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/terminal/time";
import { pastTime } from "#edges/cli/terminal/time";

export const deleteCommand: Command = {
  name: "delete",
  summary: "Permanently delete a conversation",
  forms: ["ID"],
  about: `Needs the whole id. At a terminal it asks you to type the id again; in a script it needs --yes and
exits with 2 without it. Forks keep what they inherited. You can't undo this: \`holdfast export\`
first, or \`holdfast archive\` to hide a conversation.`,
  examples: ["holdfast delete 0199c0de-7e57-7abc-8def-0123456789ab", "holdfast delete old-chat --yes"],
  options: { "--yes": "delete without asking" },
  writes: true,
  async run(call) {
    const [conversation = ""] = call.args;
    const holdfast = await call.open();
    const context = { holdfast, clock: systemClock };
    const id = await findId(holdfast, conversation);
    if (id !== conversation)
      throw new LogError("invalid_request", `Type the whole id to delete it: ${id}`, { conversation: id });
    const trial = await perform(eraseConversation, { conversation, dryRun: true }, context);
    const { extent = { title: null, entries: null } } = valueOf(trial);
    const warning = `This permanently deletes ${safeLine(id)}${extentText(extent)}`;
    const details = { conversation, entries: extent.entries };
    if (!(await confirm(call, warning, { expected: id, details }))) return STATUS.caller;
    const act = { space: call.space, operation: "erase", conversation };
    const output = await audited(holdfast, act, () => perform(eraseConversation, { conversation }, context));
    await answer(call, valueOf(output), () => `Deleted ${safeLine(id)}`);
    return STATUS.ok;
  },
};

/** How much would go; unknown for a damaged log. */
function extentText({ title, entries }: NonNullable<OutputOf<typeof eraseConversation>["extent"]>): string {
  if (entries === null) return ", which is damaged, and everything left of it";
  const name = title === null ? "" : ` "${safeLine(title)}"`;
  return `${name} and its ${counted(entries, "entry", "entries")}`;
}

export const pruneCommand: Command = {
  name: "prune",
  summary: "Permanently delete old conversations",
  forms: [""],
  about: `Deletes conversations that haven't changed for the given time, except pinned and damaged ones and
those with an open turn. Forks keep what they inherited. At a terminal it asks first; in a script
it needs --yes and exits with 2 without it. You can't undo this.`,
  examples: ["holdfast prune --older-than 90d --dry-run", "holdfast prune --older-than 1w --archived --yes"],
  options: {
    "--older-than TIME": "not changed since: 90d, 12w or 2026-01-31",
    "--archived": "archived conversations only",
    "--dry-run": "list them and delete nothing",
    "--yes": "delete without asking",
  },
  writes: true,
  async run(call) {
    const { flags } = call;
    const [age, isSure] = [flags.text("older-than"), flags.has("yes")];
    if (age === undefined)
      throw new LogError("invalid_request", "Missing option: --older-than TIME, such as --older-than 90d");
    if (isSure && flags.has("dry-run"))
      throw new LogError("invalid_request", "--dry-run and --yes are opposites. Use one of them");
    const before = pastTime("older-than", age, Date.now());
    const mayAsk = !flags.has("dry-run") && !call.json && call.io.stdinIsTerminal;
    const holdfast = await call.open({ readOnly: !isSure && !mayAsk });
    const input = { before, archived: flags.has("archived") };
    const { conversations } = valueOf(await perform(listPrunable, input, { holdfast, clock: systemClock }));
    const count = counted(conversations.length, "conversation");
    if (isSure || call.json || flags.has("dry-run")) {
      const deleted = await pruneAll(call, holdfast, conversations, isSure ? before : null);
      if (!call.json)
        await remark(
          call,
          isSure ? `Deleted ${counted(deleted, "conversation")}.` : `${count} would be deleted.`,
        );
      return isSure || flags.has("dry-run") ? STATUS.ok : STATUS.caller;
    }
    await pruneAll(call, holdfast, conversations, null);
    if (conversations.length === 0) await remark(call, "No conversations match.");
    if (conversations.length === 0 && mayAsk) return STATUS.ok;
    if (!(await confirm(call, `This permanently deletes ${count}`, { expected: "yes" })))
      return STATUS.caller;
    let deleted = 0;
    for (const { conversation } of conversations) if (await pruned(holdfast, conversation, before)) deleted++;
    await remark(call, `Deleted ${counted(deleted, "conversation")}.`);
    return STATUS.ok;
  },
};

type PrunableRow = OutputOf<typeof listPrunable>["conversations"][number];

/** Prints the rows, and deletes those not changed since a time; null: deletes nothing. */
async function pruneAll(
  call: Call,
  holdfast: Holdfast,
  rows: readonly PrunableRow[],
  before: string | null,
): Promise<number> {
  let deleted = 0;
  for (const row of rows) {
    const { conversation, title, updatedAt } = row;
    const erased = before !== null && (await pruned(holdfast, conversation, before));
    if (erased) deleted++;
    const cells = [pad(safeLine(conversation), 36), pad(ageOf(updatedAt, Date.now()), 7)];
    const line = [...cells, safeLine(title ?? "")].join("  ").trimEnd();
    await call.io.out.write(call.json ? jsonLine({ ...row, erased }) : `${line}\n`);
  }
  return deleted;
}

/** False: it has changed meanwhile, or is deleted already. */
async function pruned(holdfast: Holdfast, conversation: string, unchangedSince: string): Promise<boolean> {
  const act = { space: holdfast.spaceId, operation: "prune", conversation };
  const input = { conversation, unchangedSince };
  try {
    await audited(holdfast, act, () => perform(eraseConversation, input, { holdfast, clock: systemClock }));
    return true;
  } catch (error) {
    if (isLogError(error, "head_moved") || isLogError(error, "conversation_not_found")) return false;
    throw error;
  }
}

export const signOutCommand: Command = {
  name: "sign-out",
  summary: "Stop resuming an account's sessions and clear their context",
  forms: [""],
  about: `Holdfast stops resuming the sessions of the agent or account in every conversation of the space. A
conversation whose context holds anything said under the account starts empty with its next
message, also when another account spoke last: later messages can repeat it. Anything said
since the last \`clear\` counts. The history stays. Holdfast can't take back what it already sent
to another account. An open editor is notified.

Holdfast reports each conversation that is damaged or busy and continues with the others; run the
command again for the rest. Exit code 6: one was damaged; 5: one was busy. The command does not
log you out of the agent: do that in the agent. Files and external effects are not undone.`,
  examples: [
    "holdfast sign-out --agent claude",
    "holdfast sign-out --account work --keep-context",
    "holdfast sign-out --all --json",
  ],
  options: {
    "--agent AGENT": "the sessions of this agent, under any account",
    "--account ACCOUNT": "the sessions of this account, as `holdfast acp --account` named it",
    "--all": "the sessions of every agent and account",
    "--keep-context": "keep the context: the next account receives it",
  },
  writes: true,
  async run(call) {
    const { flags } = call;
    const [agent, account] = [flags.text("agent"), flags.text("account")];
    const progress = progressOn(call.io.err, "looking through conversations");
    const input = {
      ...(agent === undefined ? {} : { agent }),
      ...(account === undefined ? {} : { account }),
      all: flags.has("all"),
      keepContext: flags.has("keep-context"),
    };
    const context = { holdfast: await call.open(), clock: systemClock, onProgress: progress.step };
    const output = valueOf(await perform(signOut, input, context));
    progress.end();
    await answer(call, output, () => signOutText(output, call.io.out.style));
    const { failed } = output;
    if (failed.some(({ code }) => ERROR_GROUPS[code] === "damaged")) return STATUS.damaged;
    return failed.length > 0 ? STATUS.unavailable : STATUS.ok;
  },
};

function signOutText({ ended, reset, failed }: OutputOf<typeof signOut>, style: Style): string {
  const rest = failed.map(
    ({ conversation, message }) =>
      `${style.yellow("not done")}  ${safeLine(conversation)}: ${safeLine(message)}`,
  );
  const done = `${counted(ended, "session")} ended; ${counted(reset.length, "conversation")} will start empty`;
  return [...rest, done, ...(rest.length > 0 ? ["Run it again for the rest."] : [])].join("\n");
}
