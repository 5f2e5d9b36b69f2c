import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { ERROR_GROUPS, isLogError, LogError } from "#log/errors";
import { setMetadata } from "#operations/conversations";
import { type OutputOf, perform, valueOf } from "#operations/operation";
import { eraseConversation, listPrunable, signOut } from "#operations/spaces";
import { audited } from "#edges/http/access/audit-log";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { STATUS } from "#edges/cli/exit";
import { findId } from "#edges/cli/operation-command";
import { progressOn } from "#edges/cli/terminal/output";
import { counted, pad, safeLine, type Style } from "#edges/cli/terminal/terminal";
import { ageOf } from "#edges/cli/terminal/time";
import { pastTime } from "#edges/cli/terminal/time";

/** Files conversations away, or takes them out again. Nothing is removed: it is a fact in their logs. */
export const archiveCommand: Command = {
  name: "archive",
  summary: "Leaves conversations out of lists; nothing of them goes",
  usage: ["ID..."],
  about: `Each stays as it is, is found by its id and by a search, and can be gone on with. \`ls\` leaves it out;
\`ls --archived\` lists those that are, \`ls --all\` both. \`holdfast unarchive ID\` brings it back.`,
  examples: ["holdfast archive ID", "holdfast ls --archived"],
  options: {},
  writes: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: (call) => setArchived(call, true),
};

export const unarchiveCommand: Command = {
  name: "unarchive",
  summary: "Brings archived conversations back into lists",
  usage: ["ID..."],
  about: "The opposite of `holdfast archive`.",
  examples: ["holdfast unarchive ID"],
  options: {},
  writes: true,
  arity: [1, Number.POSITIVE_INFINITY],
  run: (call) => setArchived(call, false),
};

async function setArchived(call: Call, archived: boolean): Promise<void> {
  const holdfast = await call.open();
  // All are found before one is changed.
  const conversations: Conversation[] = [];
  for (const text of call.args) conversations.push(await findConversation(holdfast, text));
  for (const { id } of conversations) {
    const { metadata } = await holdfast.handle(id).summary();
    const changed = (metadata.archived ?? false) !== archived;
    const input = { conversation: id, metadata: { archived: archived ? true : null } };
    const { toSeq: seq } = changed
      ? valueOf(await perform(setMetadata, input, { holdfast, clock: systemClock }))
      : { toSeq: (await holdfast.handle(id).head()).headSeq };
    const state = archived ? "archived" : "in lists again";
    await answer(
      call,
      { conversation: id, archived, changed, seq },
      () => `${safeLine(id)} is ${state}${changed ? "" : ", as it was"}`,
    );
  }
}

export const eraseCommand: Command = {
  name: "erase",
  summary: eraseConversation.summary,
  usage: ["ID --yes"],
  about: `The one act that takes something away. It wants the whole id, never the start of one, and
--yes; without it the command says what would go, and exits with 2. Forks keep what they
inherited. The bytes are really gone: export first what you may want back.`,
  examples: ["holdfast erase 0199c0de-7e57-7abc-8def-0123456789ab", "holdfast erase old-chat --yes"],
  options: { yes: { type: "boolean" } },
  writes: true,
  arity: [1, 1],
  async run(call) {
    const [conversation = ""] = call.args;
    const holdfast = await call.open();
    const context = { holdfast, clock: systemClock };
    const id = await findId(holdfast, conversation);
    if (id !== conversation)
      throw new LogError("invalid_request", `Erasing wants the whole id: ${id}`, { conversation: id });
    const trial = await perform(eraseConversation, { conversation, dryRun: true }, context);
    if (!call.flags.has("yes")) {
      const { extent = { title: null, entries: null } } = valueOf(trial);
      const would = `This would erase ${safeLine(id)}${extentText(extent)}, for good. Nothing was erased; add --yes to do it.`;
      const { entries } = extent;
      if (call.json) throw new LogError("invalid_request", would, { conversation, entries });
      await remark(call, would);
      return STATUS.caller;
    }
    const act = { space: call.space, operation: "erase", conversation };
    const output = await audited(holdfast, act, () => perform(eraseConversation, { conversation }, context));
    await answer(call, valueOf(output), () => `Erased ${safeLine(id)}`);
    return STATUS.ok;
  },
};

/** How much would go; of a damaged log nobody can say. */
function extentText({ title, entries }: NonNullable<OutputOf<typeof eraseConversation>["extent"]>): string {
  if (entries === null) return ", which is damaged, with all that is left of it";
  const name = title === null ? "" : ` "${safeLine(title)}"`;
  return `${name} with its ${counted(entries, "entry", "entries")}`;
}

export const pruneCommand: Command = {
  name: "prune",
  summary: "Removes conversations for good that nobody has changed for long",
  usage: ["--older-than TIME [--archived] [--dry-run | --yes]"],
  about: `Nothing is ever removed by itself: this is how it is done on purpose. Those that are pinned, that have a
turn that did not end, or that are damaged stay. Forks keep what they inherited. The bytes are really gone: \`holdfast
export\` first what you may want back.

  --older-than TIME  not changed since: 90d, 12w, 2026-01-31
  --archived         only those that are archived
  --dry-run          says what would go, and removes nothing
  --yes              removes it; without either it says what would go and exits with 2`,
  examples: ["holdfast prune --older-than 90d --dry-run", "holdfast prune --older-than 1w --archived --yes"],
  options: {
    "older-than": { type: "string" },
    archived: { type: "boolean" },
    "dry-run": { type: "boolean" },
    yes: { type: "boolean" },
  },
  writes: true,
  arity: [0, 0],
  async run(call) {
    const { flags } = call;
    const [age, isSure] = [flags.text("older-than"), flags.has("yes")];
    if (age === undefined)
      throw new LogError("invalid_request", "Say how old: --older-than 90d; nothing was removed");
    if (isSure && flags.has("dry-run"))
      throw new LogError("invalid_request", "--dry-run and --yes are opposites; nothing was removed");
    const before = pastTime("older-than", age, Date.now());
    const holdfast = await call.open({ readOnly: !isSure });
    const input = { before, archived: flags.has("archived") };
    const context = { holdfast, clock: systemClock };
    const { conversations } = valueOf(await perform(listPrunable, input, context));
    let gone = 0;
    for (const row of conversations) {
      const { conversation, title, updatedAt } = row;
      const erased = isSure && (await pruned(holdfast, conversation, before));
      if (erased) gone++;
      const cells = [pad(safeLine(conversation), 36), pad(ageOf(updatedAt, Date.now()), 7)];
      const line = [...cells, safeLine(title ?? "")].join("  ").trimEnd();
      await call.io.out.write(call.json ? jsonLine({ ...row, erased }) : `${line}\n`);
    }
    if (!call.json) await remark(call, verdict(call, conversations.length, gone));
    return isSure || flags.has("dry-run") ? STATUS.ok : STATUS.caller;
  },
};

/** False: somebody has come back to it meanwhile, or erased it. */
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

function verdict({ flags }: Call, count: number, gone: number): string {
  if (flags.has("yes")) return `${counted(gone, "conversation is", "conversations are")} gone.`;
  const would = `${counted(count, "conversation", "conversations")} would go. Nothing was removed`;
  return flags.has("dry-run") ? `${would}.` : `${would}; add --yes to do it.`;
}

export const signOutCommand: Command = {
  name: "sign-out",
  summary: "Stop resuming an account's sessions and clear their context",
  usage: [
    "--agent AGENT [--account ACCOUNT] [--keep-context]",
    "--account ACCOUNT [--keep-context]",
    "--all [--keep-context]",
  ],
  about: `Holdfast stops resuming the sessions of the agent or account in every conversation of the
space. A conversation whose context holds anything said under the account starts empty with
its next message, also when another account spoke last: what was said since may repeat it.
Anything said since the last new chat counts. The history stays. Holdfast can't take back
what it already sent to another account. An open editor is notified.

Holdfast reports each conversation that is damaged or busy and continues with the others; run
the command again for the rest. Exit code 6: one was damaged; 5: one was busy. The command
does not log you out of the agent: do that in the agent. Files and external effects are not
undone.

  --agent AGENT      the sessions of this agent, under any account
  --account ACCOUNT  the sessions of this account, as \`holdfast acp --account\` named it
  --all              the sessions of every agent and account
  --keep-context     keep the context: the next account is sent what was said`,
  examples: [
    "holdfast sign-out --agent claude",
    "holdfast sign-out --account work --keep-context",
    "holdfast sign-out --all --json",
  ],
  options: {
    agent: { type: "string" },
    account: { type: "string" },
    all: { type: "boolean" },
    "keep-context": { type: "boolean" },
  },
  writes: true,
  arity: [0, 0],
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
