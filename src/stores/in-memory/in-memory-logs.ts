import type { ConversationId, SpaceId } from "#log/ids";
import type { KeptForForks, ListedLog, IndexedLogs } from "#stores/indexed/indexed-log";
import { relink } from "#log/batch-links";
import { checkLinks, firstLinkStart } from "#stores/indexed/check-links";
import { sha256 } from "#store/sha256";
import type { Finding } from "#store/requests";
import { TailWaiters } from "#store/tail-waiters";
import { InMemoryLog } from "./in-memory-log.ts";

/** What a memory store keeps; hand the same one to a new store to reopen it. */
export interface InMemoryBacking {
  readonly spaces: Map<SpaceId, Map<ConversationId, InMemoryLog>>;
  /** The last writer in line per conversation: handles on one backing take turns. */
  readonly lines: Map<string, Promise<unknown>>;
}

export function inMemoryBacking(): InMemoryBacking {
  return { spaces: new Map(), lines: new Map() };
}

export function inMemoryLogs(backing: InMemoryBacking): IndexedLogs {
  const waiters = new TailWaiters<null>();
  let tails = 0;
  const spaceOf = (space: SpaceId): Map<ConversationId, InMemoryLog> =>
    backing.spaces.get(space) ?? new Map<ConversationId, InMemoryLog>();
  return {
    spaces: async () =>
      [...backing.spaces]
        .filter(([, logs]) => [...logs.values()].some((log) => !log.erased))
        .map(([space]) => space),
    open: async (space, conversation) => spaceOf(space).get(conversation) ?? null,
    async create(space, conversation, first, index) {
      const log = new InMemoryLog(conversation, index);
      await log.write(first);
      const logs = spaceOf(space);
      logs.set(conversation, log);
      backing.spaces.set(space, logs);
    },
    async locked(space, conversation, work) {
      const name = `${space} ${conversation}`;
      const before = backing.lines.get(name) ?? Promise.resolve();
      const run = before.then(work, work);
      backing.lines.set(
        name,
        run.catch(() => undefined),
      );
      return run;
    },
    async list(space, prefix = "") {
      const all = [...spaceOf(space).values()];
      return all.filter((log) => log.conversation.startsWith(prefix)).map(listedOf);
    },
    async listOne(space, conversation) {
      const log = spaceOf(space).get(conversation);
      return log === undefined ? null : listedOf(log);
    },
    async trim(space, conversation, keptForForks) {
      const log = spaceOf(space).get(conversation);
      if (log === undefined) return;
      if (keptForForks === null) spaceOf(space).delete(conversation);
      else spaceOf(space).set(conversation, keptLog(log, keptForForks));
      log.wake();
    },
    async changed(space, seen, seq, signal) {
      const log = spaceOf(space).get(seen.conversation);
      if (log !== seen || log.index.head.headSeq > seq) return;
      const name = String(++tails);
      const wake = (): void => waiters.wake(name);
      log.listeners.add(wake);
      await waiters.wait(name, null, signal);
      log.listeners.delete(wake);
    },
    get closed() {
      return waiters.closed;
    },
    async check(space) {
      const findings: Finding[] = [];
      for (const log of spaceOf(space).values()) {
        const start = await firstLinkStart(log, async (source) => spaceOf(space).get(source) ?? null);
        findings.push(...(await checkLinks(log, start)));
      }
      return findings;
    },
    async close() {
      waiters.close();
    },
  };
}

function listedOf({ index: { head }, erased }: InMemoryLog): ListedLog {
  return {
    conversation: head.conversation,
    title: head.title,
    cwd: head.cwd,
    createdAt: head.createdAt,
    updatedAt: head.updatedAt,
    headSeq: head.headSeq,
    leaf: head.leaf.id,
    origin: head.origin === null ? null : { conversation: head.origin.source, entry: head.origin.entry },
    summary: head.summary,
    damage: null,
    erased,
  };
}

/**
 * What forks still need of an erased conversation. The index is the same one: the forks' own indexes name places in it.
 */
function keptLog(log: InMemoryLog, keptForForks: KeptForForks): InMemoryLog {
  const left = new InMemoryLog(log.conversation, log.index);
  left.erased = true;
  for (const row of keptForForks.entries) left.rows.set(row.seq, row);
  left.index.trim(new Set(left.rows.keys()), keptForForks.origin);
  for (const { entries, link } of relink(sha256, keptForForks.entries)) {
    const last = entries.at(-1);
    if (last === undefined || link === null) continue;
    left.batchEnds.set(last.seq, { link, byOwner: true, position: null });
    left.index.setLinks({ link, ownerLink: link });
  }
  for (const [digest, bytes] of log.bytes) if (keptForForks.blobs.has(digest)) left.bytes.set(digest, bytes);
  return left;
}
