import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { EntryBody } from "#log/entry";
import type { Author } from "#log/batch";
import { parseSpaceId } from "#log/ids";
import { conv, Rig, user } from "#store/contract/rig";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { GroupCommand } from "#stores/sqlite/thread/messages";
import { createFile } from "#stores/sqlite/files";
import { sqliteStore, type SqliteStoreOptions } from "#stores/sqlite/index";
import { Writer } from "#stores/sqlite/write/writer";

const SPACE = parseSpaceId("default");

export function rigOn(path: string, options: Partial<SqliteStoreOptions> = {}): Rig {
  return new Rig({ open: (nowMs) => sqliteStore({ path, nowMs, ...options }) });
}

/** Every file of a folder with its bytes. */
export function snapshot(folder: string): ReadonlyMap<string, string> {
  return new Map(
    readdirSync(folder).map((name) => [name, readFileSync(join(folder, name)).toString("base64")]),
  );
}

/** A store with one message in it. */
export async function writeOne(path: string): Promise<void> {
  await using rig = rigOn(path);
  await rig.create(await rig.space(), "a", [user("kept")]);
}

/** A writer without a thread, as another process would have one. */
export function writerOn(path: string): Writer & Disposable {
  const writer = new Writer({ path: createFile(path), busyMs: 0, bytesMax: null });
  return Object.assign(writer, { [Symbol.dispose]: () => writer.connection.close() });
}

/** An append as it reaches the writer. */
export function appendOf(
  id: string,
  bodies: readonly EntryBody[],
  author: Author = { kind: "once" },
): Extract<GroupCommand, { kind: "append" }> {
  const request = {
    conversation: conv(id),
    author,
    durability: "full" as const,
    ...prepare(bodies, systemIdsAndTime),
  };
  return { kind: "append", space: SPACE, durability: "full", nowMs: 0, request };
}

export function acquireOf(id: string, writer: string, nowMs: number): GroupCommand {
  const request = { conversation: conv(id), writer, leaseMs: 60_000 };
  return { kind: "acquire", space: SPACE, durability: "full", nowMs, request };
}

/** A new conversation as it reaches the writer. */
export function createOf(id: string, bodies: readonly EntryBody[]): GroupCommand {
  const root: EntryBody = { type: "conversation", id: `${id}-root` };
  const request = { conversation: conv(id), ...prepare([root, ...bodies], systemIdsAndTime) };
  return { kind: "create", space: SPACE, durability: "full", request };
}
