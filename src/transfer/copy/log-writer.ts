import { BATCH_ENTRIES_MAX } from "#log/batch";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { parseBody } from "#log/body";
import { bodyLine, decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { ForkPoint } from "#log/lineage/head";
import type { Durability } from "#log/plans/durability";
import { originBody } from "#log/plans/plan-start";
import { type Prepared, prepare, systemIdsAndTime } from "#store/prepare";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { Conversation } from "#conversation/conversation";
import { readLog } from "#conversation/read-log";
import type { LogBatch } from "#transfer/lines/export-batches";
import { blobOf } from "#transfer/lines/export-blobs";
import { diverged } from "./shared-prefix.ts";

export interface WriterOptions {
  readonly from: SpaceStore;
  readonly to: SpaceStore;
  /** So many entries more are in the target. */
  readonly onEntries: (entries: number) => void;
}

/** Writes batches of one log into the target, and the blobs that they name. */
export class LogWriter {
  readonly #options: WriterOptions;
  readonly #head: HeadView;
  readonly #looked: Set<string> = new Set();
  blobs: number = 0;
  /** The images that are named and cannot be had. */
  readonly missing: Set<string> = new Set();

  constructor(options: WriterOptions, head: HeadView) {
    this.#options = options;
    this.#head = head;
  }

  /** The next batch. Its key makes it happen once, whoever copies it and however often. */
  async write({ entries, end }: LogBatch, durability: Durability): Promise<void> {
    const [first, ...others] = entries;
    if (first === undefined) return;
    const { origin } = this.#head;
    if (first.seq > 1) await this.#append({ entries, end }, durability);
    else if (origin === null) await this.#create(entries);
    else {
      await this.#fork(first, origin);
      if (others.length > 0) await this.#append({ entries: others, end }, durability);
    }
    this.#options.onEntries(entries.length);
  }

  /** A log is there before the blobs of its first batch are: a copy that was cut off in between brings them now. */
  async finishFirst(after: number): Promise<void> {
    const { conversation, origin } = this.#head;
    if (origin !== null || after > BATCH_ENTRIES_MAX) return;
    const { from } = this.#options;
    const [end] = await from.batchEnds({ conversation, after: 0, limit: 1 });
    if (end !== undefined && end.seq < after) return;
    for await (const entry of readLog(from, conversation, { upTo: after })) await this.#putBlobs([entry]);
  }

  async #create(entries: readonly StoredEntry[]): Promise<void> {
    const { conversation } = this.#head;
    const { differs } = await this.#options.to.create({ conversation, ...prepared(entries) });
    if (differs) throw diverged(conversation, 1);
    await this.#putBlobs(entries);
  }

  async #fork(first: StoredEntry, origin: ForkPoint): Promise<void> {
    const { conversation, headSeq } = this.#head;
    const { cwd, title = null } = decodeEntry(first) as { readonly cwd?: string; readonly title?: string };
    const { source, entry, head } = origin;
    const { id, time, payload } = first;
    if (parseBody(originBody(origin, { cwd, title })).payload !== payload)
      throw new LogError(
        "invalid_request",
        `The fork ${conversation} does not begin as forks are made here; nothing of it was copied`,
        { conversation, headSeq },
      );
    const key = copiedKey(first);
    const within = cwd === undefined ? { title } : { cwd, title };
    await this.#options.to.fork({ source, entry, head, conversation, ...within, time, id, key });
  }

  async #append({ entries, end }: LogBatch, durability: Durability): Promise<void> {
    const { conversation } = this.#head;
    // Before what names them: what is in the target can be read there.
    await this.#putBlobs(entries);
    const { fromSeq, differs } = await this.#options.to.append({
      conversation,
      author: end?.byOwner === false ? { kind: "outside" } : { kind: "once" },
      ...prepared(entries),
      durability,
    });
    const seq = entries[0]?.seq ?? 0;
    if (differs || fromSeq !== seq) throw diverged(conversation, Math.min(fromSeq, seq));
  }

  async #putBlobs(entries: readonly StoredEntry[]): Promise<void> {
    for (const entry of entries) {
      const images = new Set(contentBlobs(decodeEntry(entry)));
      for (const digest of [...images, ...possibleBlobs(entry.payload)]) {
        if (this.#looked.has(digest)) continue;
        this.#looked.add(digest);
        if (!(await this.#putBlob(digest)) && images.has(digest)) this.missing.add(digest);
      }
    }
  }

  /** Whether the target has it now. */
  async #putBlob(digest: string): Promise<boolean> {
    const { from, to } = this.#options;
    const { conversation } = this.#head;
    const bytes = await blobOf(handle(from, conversation), digest);
    if (bytes === null) return false;
    if ((await blobOf(handle(to, conversation), digest)) !== null) return true;
    await to.putBlob(conversation, bytes);
    this.blobs++;
    return true;
  }
}

function handle(space: SpaceStore, conversation: ConversationId): Conversation {
  return new Conversation(conversation, space, systemIdsAndTime);
}

function prepared(entries: readonly StoredEntry[]): Prepared {
  const [first] = entries;
  return prepare(
    entries.map((entry) => bodyLine(entry)),
    systemIdsAndTime,
    first === undefined ? null : copiedKey(first),
  );
}

/** Named by the entry, which is the same wherever it is copied from. */
export function copiedKey({ id }: StoredEntry): string {
  return `copied/${id}`;
}
