import { join } from "node:path";
import { isSessionId, titleFrom } from "#vendors/records/naming";
import { eachRecord, entriesIn, readEdges, readFirst, stampOf } from "#vendors/records/record-files";
import type { NativeSession, NativeStore } from "#vendors/records/native-store";
import type { RecordReader } from "#vendors/vendor";
import { rolloutReader } from "./rollout.ts";
import { countIn, type Fields, fieldsIn, textIn } from "#log/json/json-fields";

const ROLLOUT = /^rollout-.*-([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.jsonl$/i;

interface Rollout {
  readonly id: string;
  readonly path: string;
}

/** A rollout up to a record of it. */
interface Part {
  readonly path: string;
  readonly before: number;
  /** The forks that go on from here: files that name each other must not be followed for ever. */
  readonly later: ReadonlySet<string>;
}

/** The rollouts of Codex: one file per session, in a folder per day. Read only: their format changes too often. */
export function codexStore({ home }: { readonly home: string }): NativeStore {
  const paths = new Map<string, string>();

  const find = async (id: string): Promise<string | null> => {
    if (!isSessionId(id)) return null;
    const path = paths.get(id);
    if (path !== undefined && (await stampOf(path)) !== null) return path;
    paths.delete(id);
    for await (const rollout of rolloutsIn(join(home, "sessions"))) {
      if (rollout.id !== id.toLowerCase()) continue;
      paths.set(id, rollout.path);
      return rollout.path;
    }
    return null;
  };

  /** A fork's rollout begins where the fork was made; what came before stands in the one it was made from. */
  const readInto = async (reader: RecordReader, { path, before, later }: Part): Promise<void> => {
    const base = fieldsIn(fieldsIn((await readFirst(path))?.["payload"])?.["history_base"]);
    const from = await find(textIn(base?.["thread_id"]) ?? "");
    const all = new Set(later).add(path);
    if (from !== null && !all.has(from)) {
      const end = countIn(base?.["end_ordinal_exclusive"]) ?? Infinity;
      await readInto(reader, { path: from, before: Math.min(end, before), later: all });
    }
    await eachRecord(path, (record) => {
      if ((countIn(record["ordinal"]) ?? 0) < before) reader.add(record);
    });
  };

  return {
    list: () => listIn(home),
    read: async (id) => {
      const path = await find(id);
      if (path === null) return null;
      const reader = rolloutReader();
      // What was read until it failed is what there is: the file may be gone since it was found.
      await readInto(reader, { path, before: Infinity, later: new Set() }).catch(() => undefined);
      const messages = reader.messages();
      return messages.length === 0 ? null : messages;
    },
    stamp: async (id) => {
      const path = await find(id);
      return path === null ? null : stampOf(path);
    },
  };
}

/** Newest day first: a session that is asked for is mostly a recent one. */
async function* rolloutsIn(folder: string, depth = 3): AsyncGenerator<Rollout> {
  const entries = (await entriesIn(folder)).toSorted((one, other) => (one.name < other.name ? 1 : -1));
  for (const entry of entries) {
    const path = join(folder, entry.name);
    const id = ROLLOUT.exec(entry.name)?.[1];
    if (depth > 0 && entry.isDirectory()) yield* rolloutsIn(path, depth - 1);
    if (depth === 0 && entry.isFile() && id !== undefined) yield { id: id.toLowerCase(), path };
  }
}

async function listIn(home: string): Promise<readonly NativeSession[]> {
  const titles = await titlesIn(join(home, "session_index.jsonl"));
  const sessions: NativeSession[] = [];
  for await (const rollout of rolloutsIn(join(home, "sessions"))) {
    const session = await describeRollout(rollout, titles);
    if (session !== null) sessions.push(session);
  }
  return sessions.toSorted((one, other) => (one.updatedAt < other.updatedAt ? 1 : -1));
}

async function titlesIn(path: string): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  await eachRecord(path, (record) => {
    const [id, title] = [textIn(record["id"]), textIn(record["thread_name"])];
    if (id !== null && title !== null && title !== "") titles.set(id, title);
  }).catch(() => undefined);
  return titles;
}

async function describeRollout(
  { id, path }: Rollout,
  titles: ReadonlyMap<string, string>,
): Promise<NativeSession | null> {
  const first = await readFirst(path);
  const edges = await readEdges(path);
  const meta = first?.["type"] === "session_meta" ? fieldsIn(first["payload"]) : null;
  // A sub-agent's rollout has its parent for a source; no person began it.
  if (meta === null || edges === null || fieldsIn(meta["source"]) !== null) return null;
  const title = titleFrom(titles.get(id) ?? firstPrompt(edges.head));
  return { id, cwd: textIn(meta["cwd"]), title, updatedAt: edges.updatedAt };
}

function firstPrompt(records: readonly Fields[]): string | null {
  const reader = rolloutReader();
  for (const record of records) reader.add(record);
  const prompt = reader.messages().find(({ message }) => message.role === "user")?.message;
  const text = prompt?.content.find((block) => block.type === "text");
  return text === undefined ? null : text.text;
}
