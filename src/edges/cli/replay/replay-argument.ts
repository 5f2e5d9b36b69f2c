import { stat } from "node:fs/promises";
import type { ReplayWhat } from "#agent/replay/replay-source";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { findAddress } from "#edges/cli/address";
import type { Call, Sink } from "#edges/cli/command";

/** What is to be replayed; of a file, once it is imported. */
export type ReplayArgument = ReplayWhat | { readonly file: string };

/** An exact run id, else a conversation or an entry of one, else a file. */
export async function replayArgument(holdfast: Holdfast, text: string): Promise<ReplayArgument> {
  const run = await holdfast.run(text);
  if (run !== null) return { run: text };
  try {
    const { conversation, entry } = await findAddress(holdfast, text);
    return { conversation: conversation.id, ...(entry === null ? {} : { at: entry }) };
  } catch (error) {
    if (!isLogError(error, "conversation_not_found") && !isLogError(error, "invalid_id")) throw error;
  }
  const found = await stat(text).catch(() => null);
  if (found !== null && !found.isDirectory()) return { file: text };
  throw new LogError(
    "conversation_not_found",
    `There is no run, no conversation and no file ${text} here. Nothing was sent or written`,
    { argument: text },
  );
}

/** Imports a file under this id, as `import --id` does; gives the status of what was refused, and told by then. */
export async function importFile(call: Call, file: string, id: string): Promise<number> {
  const out: Sink = { ...call.io.out, write: async () => undefined }; // the replay tells what it is about
  const where = ["--store", call.store, "--space", call.space, ...(call.json ? ["--json"] : [])];
  return call.run(["import", file, "--id", id, ...where], { ...call.io, out });
}
