import { resolve } from "node:path";
import type { Conversation } from "../../../conversation/conversation.ts";
import { decodeEntry, entryLine } from "../../../log/codec.ts";
import { membersOf } from "../../../log/json-text.ts";
import type { StoredEntry } from "../../../log/entry.ts";
import { isLogError } from "../../../log/errors.ts";
import { parseSpaceId } from "../../../log/ids.ts";
import { findConversation } from "../address.ts";
import type { Call, Command } from "../command.ts";
import { kindOf, previewOf } from "../view/preview.ts";
import { clockOf } from "../view/time.ts";
import { fit, pad, safeLine } from "../terminal.ts";

export const log: Command = {
  name: "log",
  summary: "Prints every entry in order, and follows new ones with -f",
  usage: ["ID [-f] [--after SEQ]"],
  about: `The whole log: every branch, every fact. A fork's log begins with the branch it inherited,
marked as such; then come its own entries, counted from 1.

  -f, --follow  stay and print entries as they become durable, from any process
  --after SEQ   only the conversation's own entries after this seq
  --json        the entries themselves, one per line, payloads exactly as they were given;
                an inherited one ends in "inherited":true`,
  examples: [
    "holdfast log ID",
    "holdfast log ID --json | jq -c .type",
    "holdfast log ID -f --after 120 --json",
  ],
  options: { follow: { type: "boolean", short: "f" }, after: { type: "string" } },
  arity: [1, 1],
  async run(call) {
    const { flags } = call;
    const follow = flags.has("follow");
    const signal = follow ? call.io.catchInterrupt() : undefined;
    const { hold } = await call.open({ readOnly: true });
    const conversation = await findConversation(hold, call.args[0] ?? "");
    const after = flags.count("after");
    let seen = after ?? 0;
    try {
      if (after === undefined) await printInherited(call, conversation);
      const entries =
        signal === undefined ? conversation.log({ after: seen }) : conversation.tail({ after: seen, signal });
      for await (const entry of entries) {
        await print(call, entry, false);
        seen = entry.seq;
      }
    } catch (error) {
      if (isLogError(error, "damaged")) await printReadable(call, conversation, seen);
      throw error;
    }
  },
};

/** What stands before the damage is shown; the error that follows says where the rest is. */
async function printReadable(call: Call, conversation: Conversation, after: number): Promise<void> {
  const [, dir] = /^jsonl:(.+)$/.exec(call.store) ?? [];
  if (dir === undefined) return;
  const { readableEntries } = await import("../../../stores/jsonl/salvage.ts");
  const space = parseSpaceId(call.space);
  const entries = await readableEntries({ dir: resolve(dir), space, conversation: conversation.id });
  for (const entry of entries) if (entry.seq > after) await print(call, entry, false);
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

async function print(call: Call, entry: StoredEntry, inherited: boolean): Promise<void> {
  const { out } = call.io;
  // Also for scripts: what does not parse is damage, and not a line to print.
  const decoded = decodeEntry(entry);
  if (call.json) {
    const line = entryLine(entry);
    // A payload that has a member of this name keeps its own.
    const mark = inherited && !membersOf(entry.payload).some((member) => member.name === "inherited");
    return out.write(`${mark ? `${line.slice(0, -1)},"inherited":true}` : line}\n`);
  }
  const start = `${inherited ? "⑂" : " "}${String(entry.seq).padStart(5)}  ${clockOf(entry.time)}  ${pad(safeLine(kindOf(decoded)), 13)} `;
  return out.write(`${fit(`${start}${previewOf(decoded)}`, Math.max(out.columns, 60)).trimEnd()}\n`);
}
