import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { FORMAT_VERSION } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { type ImportBatch, type Importer, oneBody } from "#transfer/importers/importer";
import { BatchSize } from "#transfer/lines/batch-lines";
import { blobOf } from "#transfer/lines/export-lines";
import { withOrigin } from "#transfer/lines/forked-from";
import { BlobAssembly } from "./import-blobs.ts";
import type { Checked } from "./import-check.ts";
import { type ImportFile, openImport } from "./open-import.ts";

export interface ImportPlan {
  readonly checked: Checked;
  readonly onEntry: (done: number) => void;
  /** The shapes it was looked for among, where they are not the usual ones. */
  readonly importers?: readonly Importer[];
}

/** Whether the conversation gets the very links that the file has: the same batches by the same authors, nothing left out. */
export function keepsLinks({ header, links, problems }: Checked, id: ConversationId): boolean {
  const same = header.conversation === id && header.v === FORMAT_VERSION;
  return links.linked && same && problems.length === 0;
}

/** Writes a checked file as a conversation, in batches whose keys let a run that was cut off be run again. */
export async function writeImport(
  holdfast: Holdfast,
  id: ConversationId,
  file: ImportFile,
  how: ImportPlan,
): Promise<Conversation> {
  const { checked, onEntry } = how;
  const conversation = holdfast.unopened(id);
  const keyOf = (batch: number | "end"): string => `import/${checked.digest}/${batch}`;
  await refuseStranger(conversation, checked, keyOf);
  const kept = keepsLinks(checked, id);
  let [done, number] = [0, 0];
  const write = async ({ bodies, byOwner }: Append, key: string): Promise<void> => {
    // With the last batch all are on the disk; until then a run can be run again.
    const durability = kept && key !== keyOf("end") ? "relaxed" : "full";
    if (done === 0) await holdfast.createFrom(id, bodies, key);
    else if (byOwner) await conversation.append(bodies, { key, durability });
    else await conversation.appendOutside(bodies, { key });
    done += bodies.length;
    onEntry(done);
  };
  let last: Append | null = null;
  for await (const append of appendsOf(batchesOf(file, how), kept)) {
    if (last !== null) await write(last, keyOf(++number));
    last = append;
  }
  if (last !== null) await write(last, keyOf("end"));
  await putBlobs(conversation, file, how);
  return conversation;
}

interface Append {
  readonly bodies: readonly string[];
  readonly byOwner: boolean;
}

/** What is appended at once: the batches of the file, or as much as goes into one. */
async function* appendsOf(batches: AsyncIterable<ImportBatch>, kept: boolean): AsyncGenerator<Append> {
  const size = new BatchSize();
  let bodies: string[] = [];
  for await (const { bodies: more, batchEnd } of batches) {
    const chars = more.reduce((sum, { body }) => sum + body.length, 0);
    const compaction = more.some(({ body }) => body.includes('"compaction"'));
    if (!kept && !size.fits({ chars, compaction })) {
      yield { bodies, byOwner: true };
      bodies = [];
      size.clear();
    }
    bodies.push(...more.map(({ body }) => body));
    size.add(chars, more.length);
    if (!kept || batchEnd === undefined) continue;
    yield { bodies, byOwner: batchEnd.byOwner };
    bodies = [];
  }
  if (bodies.length > 0) yield { bodies, byOwner: true };
}

/** What comes along: the entries, then the pieces of the blobs that are whole. */
async function* batchesOf(file: ImportFile, { checked, importers }: ImportPlan): AsyncGenerator<ImportBatch> {
  const { header, steps } = await openImport(file, importers);
  if (header.root !== null) yield oneBody(header.root);
  // Where there are links the first entry says it, or the file would prove another one than is written.
  let origin = checked.links.linked ? null : (header.origin ?? null);
  for await (const step of steps) {
    if ("error" in step || checked.unusable.has(step.line.number)) continue;
    const { bodies, blob } = step.batch;
    if (blob !== undefined && !checked.blobs.has(blob.digest)) continue;
    const [first, ...others] = bodies;
    if (first === undefined || origin === null) yield step.batch;
    else yield { bodies: [{ ...first, body: withOrigin(first.body, origin) }, ...others] };
    if (first !== undefined) origin = null;
  }
}

/** A blob needs its conversation, so they come last; with them the import counts as whole. */
async function putBlobs(conversation: Conversation, file: ImportFile, how: ImportPlan): Promise<void> {
  if (how.checked.blobs.size === 0) return;
  const assembly = new BlobAssembly();
  for await (const { blob } of batchesOf(file, how)) {
    const bytes = blob === undefined ? null : assembly.add(blob);
    if (bytes !== null) await conversation.putBlob(bytes);
  }
}

/** The id may be taken only by an earlier run of this very import that did not come to its end. */
async function refuseStranger(
  conversation: Conversation,
  { blobs }: Checked,
  keyOf: (batch: number | "end") => string,
): Promise<void> {
  const { id } = conversation;
  try {
    await conversation.head();
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return;
    throw error;
  }
  const ended = await conversation.findAppend(keyOf("end"));
  const begun = ended ?? (await conversation.findAppend(keyOf(1)));
  if (begun !== null && (ended === null || !(await hasAll(conversation, blobs)))) return;
  const why =
    ended === null ? `A conversation ${id} exists already` : `This file was imported as ${id} before`;
  throw new LogError(
    "conversation_exists",
    `${why}; nothing was changed. Use --id NEW or --as-new to import it beside that one.`,
    { conversation: id },
  );
}

async function hasAll(conversation: Conversation, blobs: ReadonlySet<string>): Promise<boolean> {
  for (const digest of blobs) if ((await blobOf(conversation, digest)) === null) return false;
  return true;
}
