import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { membersOf, objectText } from "#log/json/json-text";
import { type ImportBatch, type Importer, oneBody } from "#transfer/importers/importer";
import { BlobAssembly } from "./import-blobs.ts";
import type { Checked } from "./import-check.ts";
import { type ImportFile, openImport } from "./open-import.ts";

const BATCH_ENTRIES = 1_000;
const BATCH_CHARS = 8_388_608; // a batch of large messages must not fill the memory

export interface ImportPlan {
  readonly checked: Checked;
  readonly onEntry: (done: number) => void;
  /** The shapes it was looked for among, where they are not the usual ones. */
  readonly importers?: readonly Importer[];
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
  await refuseStranger(conversation, keyOf);
  let [batch, chars, done, number] = [[] as string[], 0, 0, 0];
  const write = async (bodies: readonly string[], key: string): Promise<void> => {
    if (done === 0) await holdfast.createFrom(id, bodies, key);
    else await conversation.append(bodies, { key });
    done += bodies.length;
    onEntry(done);
  };
  const flush = async (keep: number): Promise<void> => {
    await write(batch.slice(0, batch.length - keep), keyOf(++number));
    batch = batch.slice(batch.length - keep);
    chars = batch.reduce((sum, body) => sum + body.length, 0);
  };
  const assembly = new BlobAssembly();
  for await (const { bodies, blob } of batchesOf(file, how)) {
    const bytes = blob === undefined ? null : assembly.take(blob);
    if (bytes !== null) {
      // The last entry waits for the blobs: with it the import counts as whole. A blob needs its conversation.
      if (done === 0 && batch.length > 1) await flush(1);
      if (done > 0) await conversation.putBlob(bytes);
    }
    const more = bodies.reduce((sum, { body }) => sum + body.length, 0);
    // A compaction is judged by the entries before it, which must be in the store by then.
    const full =
      batch.length >= BATCH_ENTRIES ||
      chars + more > BATCH_CHARS ||
      bodies.some(({ body }) => body.includes('"compaction"'));
    if (full && batch.length > 0) await flush(0);
    batch.push(...bodies.map(({ body }) => body));
    chars += more;
  }
  await write(batch, keyOf("end"));
  return conversation;
}

/** What comes along: the entries, then the pieces of the blobs that are whole. */
async function* batchesOf(file: ImportFile, { checked, importers }: ImportPlan): AsyncGenerator<ImportBatch> {
  const { header, steps } = await openImport(file, importers);
  if (header.root !== null) yield oneBody(header.root);
  let { origin = null } = header;
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

/** The first entry says how far the log was inherited, so that what its source paid for is not counted twice. */
function withOrigin(body: string, origin: string): string {
  const others = membersOf(body).filter(({ name }) => name !== "forkedFrom");
  return objectText([...others, { name: "forkedFrom", text: origin }]);
}

/** The id may be taken only by an earlier run of this very import that did not come to its end. */
async function refuseStranger(
  conversation: Conversation,
  keyOf: (batch: number | "end") => string,
): Promise<void> {
  const { id } = conversation;
  try {
    await conversation.head();
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return;
    throw error;
  }
  const whole = await conversation.findAppend(keyOf("end"));
  const begun = await conversation.findAppend(keyOf(1));
  if (whole === null && begun !== null) return;
  const why =
    whole === null ? `A conversation ${id} exists already` : `This file was imported as ${id} before`;
  throw new LogError(
    "conversation_exists",
    `${why}; nothing was changed. Use --id NEW or --as-new to import it beside that one.`,
    { conversation: id },
  );
}
