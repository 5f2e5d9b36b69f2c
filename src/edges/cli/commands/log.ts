import type { Conversation } from "../../../conversation/conversation.ts";
import { decodeEntry, entryLine } from "../../../log/codec.ts";
import type { StoredEntry } from "../../../log/entry.ts";
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
                inherited ones carry "inherited":true`,
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
    if (after === undefined) await printInherited(call, conversation);
    const entries =
      signal === undefined
        ? conversation.log({ after: after ?? 0 })
        : conversation.tail({ after: after ?? 0, signal });
    for await (const entry of entries) await print(call, entry, false);
  },
};

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
  if (call.json) {
    const line = entryLine(entry);
    return out.write(`${inherited ? `${line.slice(0, -1)},"inherited":true}` : line}\n`);
  }
  const decoded = decodeEntry(entry);
  const start = `${inherited ? "⑂" : " "}${String(entry.seq).padStart(5)}  ${clockOf(entry.time)}  ${pad(safeLine(kindOf(decoded)), 13)} `;
  return out.write(`${fit(`${start}${previewOf(decoded)}`, Math.max(out.columns, 60)).trimEnd()}\n`);
}
