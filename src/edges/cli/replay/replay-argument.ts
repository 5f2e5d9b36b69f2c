import { stat } from "node:fs/promises";
import type { ReplayTarget } from "#agent/replay/replay-source";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { ImportFile } from "#transfer/bundles/open-import";
import { importBundle } from "#transfer/bundles/import-bundle";
import { findAddress, findConversation } from "#edges/cli/address";
import { isUrl } from "#edges/cli/bundles/remote-address";

/** What is to be replayed; of a file, once it is imported. */
export type ReplayArgument = ReplayTarget | { readonly file: string } | { readonly url: string };

/** An address of a server, an exact run id, else a conversation or an entry of one, else a file. `within`: where the run is, if several have its id. */
export async function replayArgument(
  holdfast: Holdfast,
  text: string,
  within: string | undefined,
): Promise<ReplayArgument> {
  if (isUrl(text)) return { url: text };
  const where = within === undefined ? {} : { conversation: (await findConversation(holdfast, within)).id };
  const run = await holdfast.run(text, where);
  if (run !== null) return { run: text, conversation: run.conversation };
  if (within !== undefined)
    throw new LogError("run_not_found", `There is no run ${text} in ${within}`, { run: text });
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

/**
 * Imports a file under new ids. Of several conversations the one is replayed that no other of the file was forked from; where
 * that does not say which, nothing is written.
 */
export async function importFile(holdfast: Holdfast, file: ImportFile): Promise<string> {
  const { name: path } = file;
  const { conversations: all } = await importBundle(holdfast, file, { asNew: true, dryRun: true });
  const sources = new Set(all.map(({ source }) => source));
  const [only, other] = all.filter(({ conversation }) => !sources.has(conversation));
  if (only === undefined || other !== undefined)
    throw new LogError(
      "invalid_request",
      `${path} has several conversations: ${all.map(({ from }) => from).join(", ")}. Nothing was written; import it, then name the one to be replayed`,
      { file: path },
    );
  const { conversations } = await importBundle(holdfast, file, { asNew: true });
  const imported = conversations.find(({ from }) => from === only.from);
  if (imported === undefined)
    throw new LogError("damaged", `${path} has changed while it was read`, { file: path });
  return imported.conversation;
}
