import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { StampedDraft } from "#log/batch";
import { entryDigest } from "#log/batch-links";
import { parseBody } from "#log/body";
import { isLogError, LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseConversationId, parseSpaceId } from "#log/ids";
import { originBody } from "#log/plans/plan-start";
import type { SpaceStore } from "#store/facets";
import { prepare, systemIdsAndTime } from "#store/prepare";
import { sha256 } from "#store/sha256";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { BatchSize } from "./bundle-lines.ts";

/** A store for the time of a check. */
export async function trialStore(
  inMemory: boolean,
): Promise<{ readonly space: SpaceStore } & AsyncDisposable> {
  const folder = inMemory ? null : await mkdtemp(join(tmpdir(), "holdfast-check-"));
  const removed = async (): Promise<void> => {
    if (folder !== null) await rm(folder, { recursive: true, force: true });
  };
  try {
    const store: Store = folder === null ? inMemoryStore() : await onDisk(folder);
    return {
      space: store.space(parseSpaceId("import")),
      async [Symbol.asyncDispose]() {
        try {
          await store.close();
        } finally {
          await removed();
        }
      },
    };
  } catch (error) {
    await removed();
    throw error;
  }
}

async function onDisk(folder: string): Promise<Store> {
  const { sqliteStore } = await import("#stores/sqlite/index");
  return sqliteStore({ path: join(folder, "check.db") });
}

/** A fork that is written by its own entries: where it grows from. */
export interface TrialOrigin<P> {
  readonly trial: TrialLog<P>;
  readonly entry: EntryId;
  readonly head: number;
}

/** Why an entry may not stand where it stands. */
export interface Refusal<P> {
  readonly place: P;
  readonly error: LogError;
}

interface PendingDraft<P> {
  readonly stamped: StampedDraft;
  readonly place: P;
}

/** A log that is written to find out whether it may be: the rules that judge it are the ones every append goes through. */
export class TrialLog<P> {
  readonly #space: SpaceStore;
  readonly #id: ConversationId;
  readonly #onRefused: (refusal: Refusal<P>) => void;
  readonly #size = new BatchSize();
  #pending: PendingDraft<P>[] = [];
  /** How many it has, those that wait not counted. */
  entries: number = 0;

  constructor(space: SpaceStore, number: number, onRefused: (refusal: Refusal<P>) => void) {
    this.#space = space;
    this.#id = parseConversationId(`log-${number}`);
    this.#onRefused = onRefused;
  }

  /** The next entry, parsed; whether it may stand there is told by when it is flushed. */
  async add(body: string, place: P): Promise<StampedDraft> {
    const stamped = this.parse(body);
    const { type, payload } = stamped.draft;
    const weight = { chars: payload.length, compaction: type === "compaction" };
    if (!this.#size.fits(weight)) await this.flush();
    this.#size.add(payload.length);
    this.#pending.push({ stamped, place });
    return stamped;
  }

  parse(body: string): StampedDraft {
    const [stamped] = prepare([body], systemIdsAndTime).drafts;
    if (stamped === undefined) throw new LogError("invalid_entry", "The line contains no entry");
    return stamped;
  }

  /** Starts the log as a fork and returns the digest before its first hash. */
  async fork(stamped: StampedDraft, origin: TrialOrigin<P>): Promise<string> {
    const { draft, id, time } = stamped;
    const { entry, head, trial } = origin;
    await trial.flush();
    const { cwd, title = null } = draft.body as { readonly cwd?: string; readonly title?: string };
    const forkHead = await this.#space.fork({
      source: trial.#id,
      entry,
      head,
      conversation: this.#id,
      ...(cwd === undefined ? {} : { cwd }),
      title,
      time,
      id,
      key: null,
    });
    this.entries = 1;
    const source = (draft.body["origin"] as { readonly conversation: ConversationId }).conversation;
    if (
      forkHead.origin !== null &&
      draft.payload !== forkPayload({ ...forkHead.origin, source }, { cwd, title })
    )
      throw new LogError("invalid_entry", "The first entry of the fork is invalid");
    return entryDigest(sha256, await this.#space.entry(this.#id, entry));
  }

  /** Writes what waits; what may not be written is told and left out. */
  async flush(): Promise<void> {
    let pending = this.#pending;
    this.#pending = [];
    this.#size.clear();
    while (pending.length > 0) {
      const refused = await this.#append(pending.map(({ stamped }) => stamped));
      if (refused === null) return;
      const index = Math.min(indexIn(refused), pending.length - 1);
      const before = pending.slice(0, index);
      if (before.length > 0) await this.#append(before.map(({ stamped }) => stamped));
      const rejected = pending[index];
      if (rejected !== undefined) this.#onRefused({ place: rejected.place, error: refused });
      pending = pending.slice(index + 1);
    }
  }

  async #append(drafts: readonly StampedDraft[]): Promise<LogError | null> {
    const batch = { conversation: this.#id, drafts, key: null, digest: "" };
    try {
      if (this.entries === 0) await this.#space.create(batch);
      else await this.#space.append({ ...batch, author: { kind: "once" }, durability: "relaxed" });
    } catch (error) {
      if (isLogError(error) && error.group === "caller") return error;
      throw error;
    }
    this.entries += drafts.length;
    return null;
  }
}

/** How the first entry of a fork is written. */
function forkPayload(...parts: Parameters<typeof originBody>): string {
  return parseBody(originBody(...parts)).payload;
}

/** The place in its batch of the entry that an error is about; the first where it does not say. */
function indexIn({ details }: LogError): number {
  const { index } = details;
  return typeof index === "number" ? index : 0;
}
