import type { Conversation } from "#conversation/conversation";
import { findConversation } from "#edges/cli/address";
import { type Call, type Command, remark } from "#edges/cli/command";
import { counted, fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import { previewOf } from "#edges/cli/terminal/preview";
import { clockOf } from "#edges/cli/terminal/time";
import { decodeEntry, entryLine } from "#log/codec";
import type { Entry, EntryType, StoredEntry } from "#log/entry";
import { isLogError } from "#log/errors";
import { membersOf } from "#log/json/json-text";
import { endingClause, reasonText } from "#operations/text";
import { kindOf } from "#transfer/views/entry-preview";

export const log: Command = {
  name: "log",
  summary: "Print the log in order, and follow it with -f",
  forms: ["ID"],
  about: `Prints every branch in the order of writing. The log of a fork starts with the branch it inherited,
marked as such; its own entries count from 1. With --json each entry is one line, and payloads
are exactly those stored; an inherited entry ends in "inherited":true.`,
  examples: [
    "holdfast log ID",
    "holdfast log ID --json | jq -c .type",
    "holdfast log ID -f --after 120 --json",
  ],
  options: {
    "--all": "include attempts, streamed updates and settings",
    "-f, --follow": "keep printing new entries, from any process",
    "--after SEQ": "only the conversation's own entries after this seq",
  },
  async run(call) {
    const { flags } = call;
    const follow = flags.has("follow");
    const signal = follow ? call.io.catchInterrupt() : undefined;
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const after = flags.count("after");
    let lastSeq = after ?? 0;
    let hidden = 0;
    try {
      if (after === undefined) await printInherited(call, conversation);
      const entries =
        signal === undefined
          ? conversation.log({ after: lastSeq })
          : conversation.tail({ after: lastSeq, signal });
      for await (const entry of entries) {
        if (!(await print(call, entry, false))) hidden++;
        lastSeq = entry.seq;
      }
      if (hidden > 0 && call.io.out.isTerminal)
        await remark(
          call,
          `${counted(hidden, "entry", "entries")} about how turns were carried out not shown; --all shows them.`,
        );
    } catch (error) {
      if (isLogError(error, "damaged")) await printReadable(call, conversation, lastSeq);
      throw error;
    }
  },
};

/** What can be read before and after the damage; the error that follows says where it is. */
async function printReadable(call: Call, conversation: Conversation, after: number): Promise<void> {
  const lost = async (fromSeq: number, toSeq: number): Promise<void> => {
    const range = fromSeq === toSeq ? `entry ${fromSeq}` : `entries ${fromSeq} to ${toSeq}`;
    const text = `${range} cannot be read: damaged`;
    if (call.json) await remark(call, text);
    else await call.io.out.write(`${call.io.out.style.red(text)}\n`);
  };
  for await (const part of conversation.readableLog({ after })) {
    if (!("id" in part)) {
      if (part.toSeq !== null && part.toSeq >= part.fromSeq) await lost(part.fromSeq, part.toSeq);
      continue;
    }
    try {
      await print(call, part, false);
    } catch (error) {
      if (!isLogError(error, "damaged")) throw error;
      await lost(part.seq, part.seq);
    }
  }
}

async function printInherited(call: Call, conversation: Conversation): Promise<void> {
  const { origin } = await conversation.head();
  if (origin === null) return;
  const { out } = call.io;
  if (!call.json)
    await out.write(
      `${out.style.dim(`inherited from ${safeLine(origin.source)}, up to ${safeLine(origin.entry)}`)}\n`,
    );
  for (const entry of await conversation.branch({ at: origin.entry })) await print(call, entry, true);
  if (!call.json) await out.write(`${out.style.dim("own entries")}\n`);
}

/** False when it is one that people see only when they ask for everything. */
async function print(call: Call, entry: StoredEntry, inherited: boolean): Promise<boolean> {
  const { out } = call.io;
  // Also for scripts: what does not parse is damage, and not a line to print.
  const decoded = decodeEntry(entry);
  if (call.json) {
    const line = entryLine(entry);
    // A payload that has a member of this name keeps its own.
    const mark = inherited && !membersOf(entry.payload).some((member) => member.name === "inherited");
    await out.write(`${mark ? `${line.slice(0, -1)},"inherited":true}` : line}\n`);
    return true;
  }
  const all = call.flags.has("all");
  if (!all && isMachinery(decoded)) return false;
  await out.write(`${logRow(decoded, { inherited, columns: out.columns, all })}\n`);
  return true;
}

// How a turn was carried out: what a person wants to know of it stands in messages, links and ends that went wrong.
const MACHINERY: ReadonlySet<EntryType> = new Set([
  "turn_start",
  "attempt",
  "attempt_end",
  "update",
  "tool_intent",
  "tool_progress",
  "permission",
  "permission_answer",
  "plan",
  "run_start",
  "run_end",
  "config_change",
  "skill_change",
  "state_change",
  "seed",
]);

/** Whether a person reads the entry only when they ask for everything. */
function isMachinery(entry: Entry): boolean {
  if (entry.type === "turn_end") return endingClause(entry) === null;
  if (entry.type === "steer") return entry.state === "delivered";
  return MACHINERY.has(entry.type);
}

const WORDS: Readonly<Partial<Record<EntryType, string>>> = {
  conversation: "begun",
  model_change: "model",
  branch_summary: "summary",
  upstream_link: "session",
  upstream_end: "session ended",
  turn_end: "turn",
  leaf: "went to",
};

/** An entry's line for people: in their words, or, with everything shown, under the names of the format. */
function logRow(
  entry: Entry,
  options: { readonly inherited: boolean; readonly columns: number; readonly all: boolean },
): string {
  const kind = options.all ? kindOf(entry) : (WORDS[entry.type] ?? kindOf(entry));
  const start = `${options.inherited ? "⑂" : " "}${String(entry.seq).padStart(5)}  ${clockOf(entry.time)}  ${pad(safeLine(kind), 13)} `;
  const text = options.all ? previewOf(entry) : wordsFor(entry);
  return fit(`${start}${text}`, Math.max(options.columns, 60)).trimEnd();
}

function wordsFor(entry: Entry): string {
  switch (entry.type) {
    case "upstream_link":
      return safeLine(`${entry.agent}: ${reasonText(entry.reason)} (${entry.upstream})`);
    case "upstream_end":
      return safeLine(`${reasonText(entry.reason, "it")} (${entry.upstream})`);
    case "turn_end":
      return safeLine(endingClause(entry) ?? "");
    case "reset":
      return safeLine(`${reasonText(entry.reason ?? "")}; nothing above reaches the model`);
    default:
      return previewOf(entry);
  }
}
