import type { AppendResult } from "#log/batch";
import { type Digest, parseDigest, type SpaceId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import type { Command } from "./thread/messages.ts";
import type { ReadConnection } from "./read/read-connection.ts";
import type { ReadThread } from "./read/thread.ts";
import { tailEntries, type Watcher } from "./read/watcher.ts";

export type Send = (command: Command) => Promise<unknown>;
type WriteVerb = "create" | "fork" | "append" | "acquire" | "renew" | "putBlob" | "erase";
type ReadVerbs = Omit<SpaceStore, WriteVerb | "check">;

export function writeVerbs(input: {
  space: SpaceId;
  send: Send;
  nowMs: () => number;
}): Pick<SpaceStore, WriteVerb> {
  const { space, send, nowMs } = input;
  return {
    async create(request) {
      return (await send({ kind: "create", space, durability: "full", request })) as AppendResult;
    },
    async fork(request) {
      return (await send({
        kind: "fork",
        space,
        durability: "full",
        nowMs: nowMs(),
        request,
      })) as HeadView & {
        readonly deduped: boolean;
      };
    },
    async append(request) {
      const { durability } = request;
      return (await send({
        kind: "append",
        space,
        durability,
        nowMs: nowMs(),
        request,
      })) as AppendResult;
    },
    // An epoch that a power cut takes back could be given out twice.
    async acquire(request) {
      return (await send({
        kind: "acquire",
        space,
        durability: "full",
        nowMs: nowMs(),
        request,
      })) as HeadView;
    },
    async renew(request) {
      return (await send({
        kind: "renew",
        space,
        durability: "relaxed",
        nowMs: nowMs(),
        request,
      })) as HeadView;
    },
    async putBlob(conversation, bytes) {
      // Copied at once: the caller may use its buffer again before the bytes have travelled.
      return (await send({
        kind: "blob",
        space,
        durability: "full",
        request: { conversation, bytes: bytes.slice() },
      })) as Digest;
    },
    async erase(conversation) {
      await send({ kind: "erase", space, request: { conversation } });
    },
  };
}

export function readVerbs(input: {
  space: SpaceId;
  reads: ReadConnection;
  /** For what no window bounds. */
  thread: ReadThread;
  watcher: Watcher;
  send: Send;
  nowMs: () => number;
}): ReadVerbs {
  const { space, reads, thread, watcher, send, nowMs } = input;
  return {
    head: (conversation) => reads.read((reader) => reader.head(space, conversation, nowMs())),
    findAppend: (conversation, key) => reads.read((reader) => reader.findAppend(space, conversation, key)),
    entry: (conversation, id) => reads.read((reader) => reader.entry(space, conversation, id)),
    ids: (request) =>
      request.suffix === undefined
        ? reads.read((reader) => reader.ids(space, request))
        : thread.ids(space, request),
    labelled: (request) => reads.read((reader) => reader.labelled(space, request)),
    window: (request) => reads.readSnapshot((reader) => reader.window(space, request, nowMs())),
    page: (request) =>
      request.scan === true
        ? thread.page(space, request)
        : reads.read((reader) => reader.page(space, request)),
    read: (request) =>
      request.scan === true
        ? thread.read(space, request)
        : reads.read((reader) => reader.read(space, request)),
    batchEnds: (request) => reads.read((reader) => reader.batchEnds(space, request)),
    tail: (request) => tailEntries(reads, watcher, space, request),
    list: (request) => reads.read((reader) => reader.list(space, request)),
    runs: (request) => reads.readSnapshot((reader) => reader.runs(space, request)),
    async search(request) {
      await catchUp(send);
      return thread.search(space, request);
    },
    async getBlob(conversation, digest) {
      return reads.read((reader) => reader.blob(space, conversation, parseDigest(digest)));
    },
  };
}

/** Brings the index up to date, a stretch at a time so that writes come in between. */
async function catchUp(send: Send): Promise<void> {
  try {
    while ((await send({ kind: "index" })) !== true);
  } catch {
    // The search reads unindexed entries directly: slower, and just as correct.
  }
}
