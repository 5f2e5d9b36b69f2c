import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { membersOf, objectText } from "#log/json/json-text";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { SpaceStore } from "#store/store";
import type { BlobPiece } from "./importers/blob-lines.ts";
import { BlobAssembly } from "./import-blobs.ts";
import { type Checked, type ImportFile, openImport, pieceOf, textOf } from "./import-check.ts";

const BATCH_ENTRIES = 1_000;
const BATCH_CHARS = 8_388_608; // a batch of large messages must not fill the memory

export interface ImportPlan {
  readonly checked: Checked;
  readonly onEntry: (done: number) => void;
}

/** Writes a checked file into the store, in batches whose keys let a run that was cut off be run again. */
export async function writeImport(
  space: SpaceStore,
  conversation: ConversationId,
  file: ImportFile,
  how: ImportPlan,
): Promise<void> {
  const { checked, onEntry } = how;
  const keyOf = (batch: number | "end"): string => `import/${checked.digest}/${batch}`;
  await refuseStranger(space, conversation, keyOf);
  let [batch, chars, done, number] = [[] as string[], 0, 0, 0];
  const write = async (bodies: readonly string[], key: string): Promise<void> => {
    const prepared = prepare(bodies, systemIdsAndTime, key);
    if (done === 0) await space.create({ conversation, ...prepared });
    else await space.append({ conversation, author: { kind: "once" }, ...prepared, durability: "full" });
    done += bodies.length;
    onEntry(done);
  };
  const flush = async (keep: number): Promise<void> => {
    await write(batch.slice(0, batch.length - keep), keyOf(++number));
    batch = batch.slice(batch.length - keep);
    chars = batch.reduce((sum, body) => sum + body.length, 0);
  };
  const assembly = new BlobAssembly();
  for await (const line of partsOf(file, checked)) {
    if (typeof line !== "string") {
      const bytes = assembly.take(line);
      if (bytes === null) continue;
      // The last entry waits for the blobs: with it the import counts as whole. A blob needs its conversation.
      if (done === 0 && batch.length > 1) await flush(1);
      if (done > 0) await space.putBlob(conversation, bytes);
      continue;
    }
    // A compaction is judged by the entries before it, which must be in the store by then.
    const full =
      batch.length >= BATCH_ENTRIES || chars + line.length > BATCH_CHARS || line.includes('"compaction"');
    if (full && batch.length > 0) await flush(0);
    batch.push(line);
    chars += line.length;
  }
  await write(batch, keyOf("end"));
}

/** The bodies of the entries, then the pieces of the blobs that are whole. */
async function* partsOf(file: ImportFile, checked: Checked): AsyncGenerator<string | BlobPiece> {
  const { format, header, lines } = await openImport(file);
  if (header.root !== null) yield header.root;
  let { origin = null } = header;
  for await (const line of lines) {
    if (checked.unusable.has(line.number)) continue;
    const piece = pieceOf(line, format);
    if (piece === null) yield withOrigin(textOf(line, format).body, origin);
    else if (checked.blobs.has(piece.digest)) yield piece;
    origin = null;
  }
}

/** The first entry says how far the log was inherited, so that what its source paid for is not counted twice. */
function withOrigin(body: string, origin: string | null): string {
  if (origin === null) return body;
  const others = membersOf(body).filter(({ name }) => name !== "forkedFrom");
  return objectText([...others, { name: "forkedFrom", text: origin }]);
}

/** The id may be taken only by an earlier run of this very import that did not come to its end. */
async function refuseStranger(
  space: SpaceStore,
  conversation: ConversationId,
  keyOf: (batch: number | "end") => string,
): Promise<void> {
  try {
    await space.head(conversation);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return;
    throw error;
  }
  const [whole, begun] = [
    await space.findAppend(conversation, keyOf("end")),
    await space.findAppend(conversation, keyOf(1)),
  ];
  if (whole === null && begun !== null) return;
  const why =
    whole === null
      ? `A conversation ${conversation} exists already`
      : `This file was imported as ${conversation} before`;
  throw new LogError(
    "conversation_exists",
    `${why}; nothing was changed. Use --id NEW or --as-new to import it beside that one.`,
    { conversation },
  );
}
