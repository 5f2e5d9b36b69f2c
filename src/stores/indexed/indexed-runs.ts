import { decodeEntry } from "#log/codec";
import { SUMMARY_TYPES } from "#log/entry-types";
import { isLogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import type { RunPage, RunsRequest } from "#store/requests";
import { pageOfRuns } from "#store/run-pages";
import { openWhole, settled } from "./indexed-lineage.ts";
import type { IndexedLog, IndexedLogs } from "./indexed-log.ts";

const ENTRIES_STEP = 256; // bodies held at once
const FACTS_AND_SETTINGS = SUMMARY_TYPES.filter((type) => type !== "message");

interface RunFold {
  readonly folder: RunFolder;
  upTo: number;
}

/** A page of the runs of a space. A log is folded once, later only its new entries. */
export class IndexedRuns {
  readonly #logs: IndexedLogs;
  readonly #space: SpaceId;
  readonly #folded = new WeakMap<IndexedLog, RunFold>();

  constructor(logs: IndexedLogs, space: SpaceId) {
    this.#logs = logs;
    this.#space = space;
  }

  async page(request: RunsRequest): Promise<RunPage> {
    const { conversation } = request;
    if (conversation !== undefined) return pageOfRuns(await this.#runsIn(conversation), request);
    const all: Run[] = [];
    for (const listed of await this.#logs.list(this.#space)) {
      // A list knows without reading a log whether it ever had a run.
      if (listed.erased || listed.summary?.run === null) continue;
      try {
        all.push(...(await this.#runsIn(listed.conversation)));
      } catch (error) {
        if (!isLogError(error)) throw error;
        // Erased since it was listed, or damaged: that is for the doctor, and hides no run of another.
        if (error.code !== "conversation_not_found" && error.group !== "damaged") throw error;
      }
    }
    return pageOfRuns(all, request);
  }

  #runsIn(conversation: ConversationId): Promise<readonly Run[]> {
    return settled(async () => this.#fold(await openWhole(this.#logs, this.#space, conversation)));
  }

  async #fold(log: IndexedLog): Promise<readonly Run[]> {
    const folded = this.#folded.get(log) ?? { folder: new RunFolder(), upTo: 0 };
    this.#folded.set(log, folded);
    for (;;) {
      const { headSeq } = log.index.head;
      const seqs = toFold(log, folded.upTo);
      if (seqs.length === 0) return folded.folder.rows(log.conversation, headSeq);
      // Another call may have folded the same entries meanwhile.
      for (const stored of await log.fetch(seqs))
        if (stored.seq > folded.upTo) {
          folded.folder.add(decodeEntry(stored));
          folded.upTo = stored.seq;
        }
      await new Promise((resolve) => setImmediate(resolve)); // a whole log may take its time, the event loop may not
    }
  }
}

/** The next entries that a row of a run may depend on: messages only from the first run on. */
function toFold({ index }: IndexedLog, after: number): readonly number[] {
  const [first] = index.seqs({ types: ["run_start"], limit: 1 });
  const facts = index.seqs({ types: FACTS_AND_SETTINGS, after, limit: ENTRIES_STEP });
  const messages =
    first === undefined
      ? []
      : index.seqs({ types: ["message"], after: Math.max(after, first), limit: ENTRIES_STEP });
  return [...facts, ...messages].toSorted((a, b) => a - b).slice(0, ENTRIES_STEP);
}
