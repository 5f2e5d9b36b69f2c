import { isLogError, LogError } from "../../../log/errors.ts";
import type { ConversationId } from "../../../log/ids.ts";
import { prepare, systemMint } from "../../../store/prepare.ts";
import type { SpaceStore } from "../../../store/store.ts";
import { type Checked, type ImportFile, openImport, textOf } from "./import-check.ts";

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
  const flush = async (last: boolean): Promise<void> => {
    const key = keyOf(last ? "end" : ++number);
    const prepared = prepare(batch, systemMint, key);
    if (done === 0) await space.create({ conversation, ...prepared });
    else await space.append({ conversation, author: { kind: "once" }, ...prepared, durability: "full" });
    done += batch.length;
    [batch, chars] = [[], 0];
    onEntry(done);
  };
  for await (const body of bodiesOf(file, checked)) {
    // A compaction is judged by the entries before it, which must be in the store by then.
    const full =
      batch.length >= BATCH_ENTRIES || chars + body.length > BATCH_CHARS || body.includes('"compaction"');
    if (full && batch.length > 0) await flush(false);
    batch.push(body);
    chars += body.length;
  }
  await flush(true);
}

async function* bodiesOf(file: ImportFile, { unusable }: Checked): AsyncGenerator<string> {
  const { format, header, lines } = await openImport(file);
  if (header.root !== null) yield header.root;
  for await (const line of lines) if (!unusable.has(line.number)) yield textOf(line, format).body;
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
