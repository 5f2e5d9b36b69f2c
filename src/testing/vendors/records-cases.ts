import assert from "node:assert/strict";
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { Holdfast } from "#conversation/holdfast";
import { type Fields, parseFields } from "#log/json/json-fields";
import { adoptedNode } from "#upstream/sessions/adopt-turns";
import { systemIdsAndTime } from "#store/prepare";
import { inMemoryStore } from "#stores/in-memory/index";
import type { NativeStore } from "#vendors/native-store";
import type { VendorRecords } from "#vendors/vendor";
import type { ContentBlock } from "#log/message";
import type { NativeMessage } from "#upstream/upstream";

/** A file that an agent itself wrote, and what it holds. */
export interface GoldenRecord {
  /** The vendor's name. */
  readonly vendor: string;
  /** The session, as its agent names it. */
  readonly id: string;
  /** Its file: the path below the records' folder, with slashes, and the text. */
  readonly file: readonly [path: string, text: string];
  readonly cwd: string;
  readonly title: string;
  /** How many messages it holds. */
  readonly messages: number;
  /** The first of them, with who says it: `user: Catch the bird`. Of a text the first 40 characters. */
  readonly first: string;
  /** The last of them, in the same way: `assistant: Caught.` */
  readonly last: string;
}

interface RecordsSubject {
  readonly records: VendorRecords;
  readonly golden: GoldenRecord;
  /** An empty folder for the case to fill: a new one for each. */
  readonly folder: string;
}

export interface RecordsCase {
  readonly name: string;
  run(subject: RecordsSubject): Promise<void>;
}

/** The records' folder lies one below the one given: what a path that climbs would reach is the test's as well. */
async function homeWith({ records, golden, folder }: RecordsSubject): Promise<RecordsHome> {
  const home = join(folder, "home");
  const put = async (path: string, bytes: string | Uint8Array): Promise<string> => {
    const full = join(home, path);
    await mkdir(dirname(full), { recursive: true });
    await writeFile(full, bytes);
    return full;
  };
  const path = await put(...golden.file);
  return { path, put, store: records.open(home) };
}

interface RecordsHome {
  /** Of the golden file. */
  readonly path: string;
  readonly store: NativeStore;
  readonly put: (path: string, bytes: string | Uint8Array) => Promise<string>;
}

function recordsIn({ file: [, text] }: GoldenRecord): readonly Fields[] {
  return text
    .split("\n")
    .map(parseFields)
    .filter((record) => record !== null);
}

/** Another session's id of the same shape, and the path of its file. */
function otherSession({ id, file: [path] }: GoldenRecord): { readonly id: string; readonly path: string } {
  const other = `${id.slice(0, -1)}${id.endsWith("b") ? "c" : "b"}`;
  const named = path.replaceAll(id, other);
  return { id: other, path: named === path ? join(dirname(path), `other-${basename(path)}`) : named };
}

/** Ids that are paths to the file: of its name and of its session, from each folder above it, down and up again. */
function pathsTo({ id, file: [path] }: GoldenRecord, outside: string): readonly string[] {
  const folders = path.split("/").slice(0, -1);
  const name = basename(path);
  const stem = name.replace(/\.[^.]*$/, "");
  const down = folders.map((_, at) => `${folders.slice(at).join("/")}/`);
  const around = down.map((folder, at) => `${"../".repeat(folders.length - at)}${folder}`);
  const out = ["", ...folders].map((_, at) => `${"../".repeat(at + 1)}${outside}/`);
  const ways = ["./", "/", "x/../", ...down, ...around, ...out];
  return [id, stem, name].flatMap((last) => ways.map((way) => `${way}${last}`));
}

const sessionOf = ({ id, cwd, title }: GoldenRecord): Fields => ({ id, cwd, title });

async function listed(store: NativeStore): Promise<readonly Fields[]> {
  return (await store.list()).map(({ id, cwd, title }) => ({ id, cwd, title }));
}

async function assertNothingAt(store: NativeStore, id: string): Promise<void> {
  assert.equal(await store.read(id), null, id);
  assert.equal(await store.stamp(id), null, id);
  await store.remove?.(id);
  if (store.move !== undefined) assert.equal(await store.move(id, "/elsewhere"), "missing", id);
}

// Empty, no text, no JSON, no objects, objects of nobody, a line that was never finished.
const GARBAGE: readonly (string | Uint8Array)[] = [
  "",
  Uint8Array.from({ length: 300 }, (_, at) => (at * 7) % 256),
  "no record at all\n",
  'null\n[]\n42\n"text"\n',
  "{}\n{}\n",
  '{"type":',
];

const READING: readonly RecordsCase[] = [
  {
    name: "lists what its agent wrote",
    run: async (subject) => {
      const { store } = await homeWith(subject);
      assert.deepEqual(await listed(store), [sessionOf(subject.golden)]);
    },
  },
  {
    name: "reads what its agent wrote",
    run: async (subject) => {
      const { golden } = subject;
      const { store } = await homeWith(subject);
      const messages = briefMessages(await store.read(golden.id));
      assert.deepEqual(
        [messages.length, messages[0], messages.at(-1)],
        [golden.messages, golden.first, golden.last],
      );
      assert.notEqual(await store.stamp(golden.id), null);
    },
  },
  {
    name: "knows its files by their first line, and reads them record by record",
    run: async (subject) => {
      const { records, golden } = subject;
      const { store } = await homeWith(subject);
      const [first = {}] = recordsIn(golden);
      assert.ok(records.isRecord(first));
      assert.ok(!records.isRecord({}));
      const reader = records.reader();
      for (const record of recordsIn(golden)) reader.add(record);
      assert.deepEqual(reader.messages(), await store.read(golden.id));
    },
  },
  {
    name: "gives messages that the log takes as they are",
    run: async (subject) => {
      const { vendor, id, cwd } = subject.golden;
      const read = (await (await homeWith(subject)).store.read(id)) ?? [];
      const memory = inMemoryStore();
      await using holdfast = new Holdfast(memory, "default", systemIdsAndTime, () => memory.close());
      const chat = await holdfast.create({
        cwd,
        entries: read.map((native, at) => adoptedNode(native, vendor, `node-${at}`)),
      });
      const { messages } = await chat.context();
      // A call whose outcome nobody recorded is given one.
      assert.ok(messages.length >= read.length);
    },
  },
  {
    name: "finds nothing if the folder is missing",
    run: async ({ records, golden, folder }) => {
      const store = records.open(join(folder, "missing"));
      assert.deepEqual(await store.list(), []);
      await assertNothingAt(store, golden.id);
    },
  },
];

const UNSAFE: readonly RecordsCase[] = [
  {
    name: "finds nothing for invalid ids",
    run: async (subject) => {
      const { golden } = subject;
      const { store } = await homeWith(subject);
      for (const id of ["", ".", "..", "../x", "a/b", "\0", `${golden.id}\0`, ".*", "*", golden.file[0]]) {
        await assertNothingAt(store, id);
      }
      assert.notEqual(await store.stamp(golden.id), null);
    },
  },
  {
    name: "finds, moves and removes nothing by an id that is a path, wherever it leads",
    run: async (subject) => {
      const { golden, folder } = subject;
      const { path, store } = await homeWith(subject);
      const outside = join(folder, "outside", basename(path));
      await mkdir(dirname(outside));
      await copyFile(path, outside);
      for (const id of [...pathsTo(golden, "outside"), path, outside]) await assertNothingAt(store, id);
      assert.deepEqual(await readFile(outside), await readFile(path));
      assert.deepEqual(await listed(store), [sessionOf(golden)]);
    },
  },
  {
    name: "passes over a last line that is not whole",
    run: async (subject) => {
      const { golden } = subject;
      const { put, store } = await homeWith(subject);
      const whole = await store.read(golden.id);
      const text = golden.file[1].trimEnd();
      const last = Buffer.from(text.slice(text.lastIndexOf("\n") + 1));
      for (const length of [1, Math.floor(last.length / 2), last.length - 1]) {
        await put(golden.file[0], Buffer.concat([Buffer.from(`${text}\n`), last.subarray(0, length)]));
        assert.deepEqual(await store.read(golden.id), whole);
        assert.deepEqual(await listed(store), [sessionOf(golden)]);
        await put(golden.file[0], Buffer.from(text).subarray(0, length - last.length));
        assert.ok(((await store.read(golden.id)) ?? []).length <= golden.messages);
        assert.equal((await store.list()).length, 1);
      }
    },
  },
  {
    name: "passes over files that hold no session, and folders that are named like one",
    run: async (subject) => {
      const { golden } = subject;
      const { put, store } = await homeWith(subject);
      const whole = await store.read(golden.id);
      const other = otherSession(golden);
      const assertOnlyGolden = async (): Promise<void> => {
        assert.deepEqual(await listed(store), [sessionOf(golden)]);
        assert.equal(await store.read(other.id), null);
        assert.deepEqual(await store.read(golden.id), whole);
      };
      for (const bytes of GARBAGE) {
        await put(other.path, bytes);
        await assertOnlyGolden();
      }
      await rm(await put(other.path, ""));
      await put(`${other.path}/inside`, "");
      await assertOnlyGolden();
    },
  },
];

const CHANGING: readonly RecordsCase[] = [
  {
    name: "changes the stamp of a session when its file grows",
    run: async (subject) => {
      const { id, file } = subject.golden;
      const { put, store } = await homeWith(subject);
      const stamp = await store.stamp(id);
      assert.equal(await store.stamp(id), stamp);
      await put(file[0], `${file[1]}\n{}\n`);
      assert.notEqual(await store.stamp(id), stamp);
    },
  },
  {
    name: "removes only the requested session, if it supports removal",
    run: async (subject) => {
      const { golden } = subject;
      const { put, store } = await homeWith(subject);
      if (store.remove === undefined) return;
      const other = otherSession(golden);
      await put(other.path, golden.file[1].replaceAll(golden.id, other.id));
      await store.remove(other.id);
      assert.deepEqual(await listed(store), [sessionOf(golden)]);
      await store.remove(golden.id);
      await store.remove(golden.id);
      assert.deepEqual(await store.list(), []);
      await assertNothingAt(store, golden.id);
    },
  },
  {
    name: "reads what it writes, if it supports writing, and keeps existing sessions",
    run: async (subject) => {
      const { golden } = subject;
      const { store } = await homeWith(subject);
      if (store.write === undefined) return;
      let made = 0;
      const newId = (): string => `00000000-0000-4000-8000-${(++made).toString(16).padStart(12, "0")}`;
      const copyOf = async (from: string): Promise<string> => {
        const messages = ((await store.read(from)) ?? []).map(({ message }) => message);
        return (await store.write?.({ cwd: golden.cwd, messages, newId, nowMs: 1_800_000_000_000 })) ?? "";
      };
      const stamp = await store.stamp(golden.id);
      const copy = await copyOf(golden.id);
      const again = await copyOf(copy);
      assert.equal(new Set([golden.id, copy, again]).size, 3);
      // Results may stand in another order than they came in; nothing is missing and nothing is added.
      const [original, read] = await Promise.all([golden.id, copy].map((id) => store.read(id)));
      assert.deepEqual(briefMessages(read ?? null).toSorted(), briefMessages(original ?? null).toSorted());
      const [once, twice] = await Promise.all([copy, again].map((id) => store.read(id)));
      const contents = (messages: typeof once): unknown => (messages ?? []).map(({ message }) => message);
      assert.deepEqual(contents(twice), contents(once));
      assert.equal(await store.stamp(golden.id), stamp);
    },
  },
];

/** Every promise of a vendor's records. A case throws where one is broken. */
export const recordsContract: readonly RecordsCase[] = [...READING, ...UNSAFE, ...CHANGING];

/** One line per message: who said what. */
export function briefMessages(messages: readonly NativeMessage[] | null): readonly string[] {
  return (messages ?? []).map(({ message }) => {
    const text = message.content.map(briefBlock).join(" + ");
    if (message.role !== "toolResult") return `${message.role}: ${text}`;
    return `${message.isError === true ? "error" : "result"} of ${message.toolCallId}: ${text}`;
  });
}

function briefBlock(block: ContentBlock): string {
  if (block.type === "text") return block.text.slice(0, 40);
  if (block.type === "thinking") return `(${block.thinking})`;
  if (block.type === "toolCall") return `${block.name} ${block.id}`;
  return block.type === "image" ? block.mediaType : `[${block.type}]`;
}
