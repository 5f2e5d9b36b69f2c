import { LogError } from "#log/errors";
import { redactAddress } from "#stores/redact-address";
import { answer, type Command } from "#edges/cli/command";
import { progressOn } from "#edges/cli/terminal/output";
import { counted, safeLine } from "#edges/cli/terminal/terminal";

const KIND = /^(sqlite|jsonl|memory):/;

export const backup: Command = {
  name: "backup",
  summary: "Copies the whole store while it is in use, into one that opens like it",
  usage: ["TO"],
  about: `Every conversation of every space, as acknowledged up to now; others may go on writing. The copy
is a store of the same kind: a file for sqlite, a folder for jsonl, readable by you alone. It
appears under its name whole, checked and on the disk, or not at all, and replaces nothing.

Copying the .db file of a store in use is no backup: what was written last is in the log beside it.`,
  examples: [
    "holdfast backup ~/backups/holdfast-monday.db",
    "holdfast --store jsonl:chats backup /mnt/disk/chats",
    "holdfast --store sqlite:holdfast-monday.db doctor",
  ],
  options: {},
  arity: [1, 1],
  async run(call) {
    const to = placeOf(call.args[0] ?? "", call.store);
    const holdfast = await call.open({ readOnly: true, mustExist: true });
    const progress = progressOn(call.io.err, "copying the store");
    const result = await holdfast.backup(to, { onProgress: progress.step });
    progress.end();
    const { bytes, conversations } = result;
    await answer(
      call,
      { store: redactAddress(call.store), to: result.to, bytes, conversations },
      () => `Backed up ${counted(conversations, "conversation")} (${bytes} bytes) to ${safeLine(result.to)}`,
    );
  },
};

/** People write an address where a place is wanted; one of another kind is a mistake. */
function placeOf(text: string, store: string): string {
  const [address, kind] = KIND.exec(text) ?? [];
  if (address === undefined) return text;
  if (store.startsWith(address)) return text.slice(address.length);
  throw new LogError(
    "invalid_request",
    `A backup is a store of the same kind, and ${redactAddress(store)} is not ${kind}; \`export\` and \`import\` carry conversations over`,
    { to: text },
  );
}
