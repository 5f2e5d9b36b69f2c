import { LogError } from "#log/errors";
import { redactAddress } from "#stores/redact-address";
import { answer, type Command } from "#edges/cli/command";
import { progressOn } from "#edges/cli/terminal/output";
import { counted, safeLine } from "#edges/cli/terminal/terminal";

const KIND = /^(sqlite|jsonl|memory):/;

export const backup: Command = {
  name: "backup",
  summary: "Back up the whole store (safe while in use)",
  forms: ["TO"],
  about: `Use it for a copy of everything on this machine. The backup has every conversation of every space
and opens like the store itself: a file for sqlite, a folder for jsonl, readable by you alone.
TO must not exist; it appears when the copy is complete and checked.

Copying the .db file of a store in use isn't a backup: the latest writes are in the log beside it.`,
  examples: [
    "holdfast backup ~/backups/holdfast-monday.db",
    "holdfast --store jsonl:chats backup /mnt/disk/chats",
    "holdfast --store sqlite:holdfast-monday.db doctor",
  ],
  options: {},
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
