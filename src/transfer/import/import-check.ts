import { createHash } from "node:crypto";
import type { StampedDraft } from "#log/batch";
import { isLogError } from "#log/errors";
import { parseConversationId, parseSpaceId } from "#log/ids";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { contentBlobs } from "#log/blob-names";
import type { Importer, ImportHeader } from "#transfer/importers/importer";
import { FileLinksCheck, type WrongLink } from "./file-links-check.ts";
import { BlobCheck } from "./import-blobs.ts";
import { type ImportFile, openImport } from "./open-import.ts";

const TRIAL = parseConversationId("trial");

interface Problem {
  readonly line: number;
  readonly byte: number;
  readonly code: string;
  readonly message: string;
}

/** What a file holds and what is wrong with it, learned without writing anything. */
export interface Checked {
  /** The name of its shape. */
  readonly format: string;
  readonly header: ImportHeader;
  readonly digest: string;
  readonly entries: number;
  readonly problems: readonly Problem[];
  /** The numbers of the lines that cannot come along. */
  readonly unusable: ReadonlySet<number>;
  /** The digests of the blobs that come along. */
  readonly blobs: ReadonlySet<string>;
  /** Those that entries name and the file does not have: nothing is wrong with the entries themselves. */
  readonly missing: readonly string[];
  readonly links: CheckedLinks;
}

interface CheckedLinks {
  /** Its batches have links. */
  readonly linked: boolean;
  /** The last entry that its links hold, all before it among them. */
  readonly soundSeq: number;
  /** The last entry that nothing proved where the file was written; the last of all where it has no links. */
  readonly unprovenSeq: number;
}

/** Imports the file into memory, batch by batch: the rules that judge it are the ones every append goes through. */
export async function checkImport(
  file: ImportFile,
  onLine: (line: number) => void,
  importers?: readonly Importer[],
): Promise<Checked> {
  const hash = createHash("sha256");
  const hashing = { name: file.name, chunks: () => hashed(file.chunks(), hash) };
  const { format, header, steps } = await openImport(hashing, importers);
  await using store = inMemoryStore();
  const trial = new Trial(store.space(parseSpaceId("import")));
  if (header.root !== null) await trial.append([header.root]);
  const problems: Problem[] = [];
  const unusable = new Set<number>();
  const blobs = new BlobCheck();
  const links = new FileLinksCheck(header);
  // What comes after the first thing that is wrong cannot be proven.
  const wrongLink = (wrong: WrongLink | null): void => {
    if (wrong !== null && problems.length === 0) problems.push({ ...wrong, code: "damaged" });
  };
  let expected: number | null = 1;
  for await (const step of steps) {
    const { number, offset, whole } = step.line;
    const place = { line: number, byte: offset };
    if (number > 0) onLine(number);
    try {
      if ("error" in step) throw step.error;
      const { bodies, blob, batchEnd, fileEnd = false } = step.batch;
      if (blob !== undefined) blobs.add(blob);
      if (batchEnd !== undefined && problems.length === 0) wrongLink(links.batchEnd(batchEnd, place));
      if (fileEnd) links.fileEnd();
      for (const { seq } of bodies) {
        if (seq !== null && expected !== null && seq !== expected)
          problems.push({ ...place, code: "damaged", message: jump(expected, seq) });
        expected = seq === null ? null : seq + 1;
      }
      const drafts = await trial.append(bodies.map(({ body }) => body));
      for (const [at, draft] of drafts.entries()) {
        if (problems.length === 0) links.entry(draft, bodies[at]?.seq ?? null, place);
        for (const digest of contentBlobs(draft.draft.body)) blobs.named.add(digest);
      }
    } catch (error) {
      if (!isLogError(error)) throw error;
      const torn = whole ? "" : "The file was cut off in this line. ";
      problems.push({ ...place, code: error.code, message: `${torn}${error.message}` });
      unusable.add(number);
      // How many entries a bad line stood for is not known, so the count starts anew behind it.
      if (("error" in step && step.unread) || error.code === "invalid_entry") expected = null;
    }
  }
  problems.push(...cutOffBlob(blobs));
  if (problems.length === 0) problems.push(...fewerEntries(header, expected));
  if (problems.length === 0) wrongLink(links.end());
  const { entries } = trial;
  const { whole, missing } = blobs;
  const { linked, soundSeq, unprovenSeq } = links;
  return {
    format,
    header,
    digest: hash.digest("hex"),
    entries,
    problems,
    unusable,
    blobs: whole,
    missing,
    links: { linked, soundSeq, unprovenSeq: linked ? unprovenSeq : entries },
  };
}

/** Whether as many entries came as the header says. `expected`: the number of the one that would come next, if known. */
function fewerEntries({ entries }: ImportHeader, expected: number | null): readonly Problem[] {
  if (entries === null || expected === null || expected - 1 === entries) return [];
  const message = `The file ends after entry ${expected - 1} of ${entries}`;
  return [{ line: 0, byte: 0, code: "damaged", message }];
}

function cutOffBlob(blobs: BlobCheck): readonly Problem[] {
  try {
    blobs.end();
    return [];
  } catch (error) {
    if (!isLogError(error)) throw error;
    return [{ line: 0, byte: 0, code: error.code, message: error.message }];
  }
}

function jump(expected: number, seq: number): string {
  if (seq < expected) return `Entry ${seq} stands here where entry ${expected} belongs`;
  return seq === expected + 1
    ? `Entry ${expected} is missing before this line`
    : `Entries ${expected} to ${seq - 1} are missing before this line`;
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

/** A log in memory that takes one batch at a time. */
class Trial {
  readonly #space: SpaceStore;
  entries: number = 0;

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  async append(bodies: readonly string[]): Promise<readonly StampedDraft[]> {
    if (bodies.length === 0) return [];
    const prepared = prepare(bodies, systemIdsAndTime);
    if (this.entries === 0) await this.#space.create({ conversation: TRIAL, ...prepared });
    else
      await this.#space.append({
        conversation: TRIAL,
        author: { kind: "once" },
        ...prepared,
        durability: "relaxed",
      });
    this.entries += bodies.length;
    return prepared.drafts;
  }
}
