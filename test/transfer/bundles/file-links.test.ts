/**
 * Goal: a file proves what it carries. Whatever happens to it is found before anything is written, with the last entry that
 * counts, and under its own id a conversation comes out with the very links it had.
 * Method: a log of an owner's batches, one from outside, a compaction and an image, taken from every store into every
 * other; its file spoilt at every byte and line.
 */
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import type { BatchEndAt } from "#log/batch-links";
import type { EntryBody } from "#log/entry";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { jsonlStore } from "#stores/jsonl/index";
import type { LogReport } from "#transfer/bundles/log-check";
import { type ImportReport, checkImport } from "#transfer/bundles/import-check";
import { importTargets } from "#transfer/bundles/import-targets";
import { writeImport } from "#transfer/bundles/import-write";
import { user } from "../../support/a-log.ts";
import { bring, bundleText, fileOfText } from "../../support/bundle-text.ts";
import { type NamedSubject, subjects } from "../../support/subjects.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { spaceOf } from "#conversation/on-space";

const GOLDEN = join(import.meta.dirname, "../../compat/golden");

async function fill(holdfast: Holdfast): Promise<Conversation> {
  const chat = await holdfast.create({ id: "chat", title: "T" });
  const digest = await spaceOf(holdfast).putBlob(chat.id, Buffer.from("an image"));
  await chat.append([user("one", "u1"), user("two", "u2")]);
  await chat.label("u1", "here");
  const image: EntryBody = {
    type: "message",
    id: "u3",
    message: { role: "user", content: [{ type: "image", mediaType: "image/png", blob: digest }] },
  };
  await chat.append(image);
  await chat.append([
    '{"type":"custom","id":"odd","customType":"note","data":{"b":1,"a":12345678901234567890,"b":1.50,"u":"\\ud83d"}}',
    { type: "compaction", id: "k1", summary: "So far.", firstKeptEntryId: "u2" },
  ]);
  return chat;
}

function fileOf(
  conversation: Conversation,
  onUnproven?: (wrong: string, soundSeq: number) => void,
): Promise<string> {
  return bundleText([conversation], onUnproven === undefined ? {} : { onUnproven });
}

type CheckedFile = ImportReport & LogReport;

/** A file of one conversation. */
async function check(bytes: Uint8Array | string): Promise<CheckedFile> {
  const checked = await checkImport(fileOfText(bytes), () => undefined);
  const [log] = checked.logs;
  if (log === undefined) throw new Error("no conversation");
  const { linked, soundSeq, unprovenSeq } = log.links;
  return { ...checked, ...log, links: { linked, soundSeq, unprovenSeq } as LogReport["links"] };
}

function endsOf(conversation: Conversation): Promise<readonly BatchEndAt[]> {
  return conversation.batchEnds({ after: 0, limit: 1_000 });
}

async function inMemory(): Promise<{ chat: Conversation; file: string }> {
  const store = inMemoryStore();
  const chat = await fill(new Holdfast(store, "s"));
  return { chat, file: await fileOf(chat) };
}

async function refusal(text: Uint8Array | string): Promise<CheckedFile["problems"][number] | "not read"> {
  try {
    const { problems, missing } = await check(text);
    if (problems[0] !== undefined) return problems[0];
    return { line: 0, byte: 0, code: missing.length > 0 ? "missing" : "taken", message: "" };
  } catch {
    return "not read";
  }
}

async function onStore<T>(subject: NamedSubject, work: (store: Store) => Promise<T>): Promise<T> {
  using made = subject.make();
  await using store = await made.open(Date.now);
  return await work(store);
}

test("a byte that was flipped anywhere in a file is found before anything is written", async () => {
  const bytes = Buffer.from((await inMemory()).file);
  const taken: number[] = [];
  for (let at = 0; at < bytes.length; at++) {
    const spoilt = Buffer.from(bytes);
    spoilt[at] = (bytes[at] ?? 0) ^ (1 << (at % 7));
    const found = await refusal(spoilt);
    if (found !== "not read" && found.code === "taken") taken.push(at);
  }
  expect(taken.map((at) => bytes.toString("utf8", at - 30, at + 10))).toEqual([]);
});

test("a line that was lost, doubled or swapped, and a tail that was cut off, are found", async () => {
  const lines = (await inMemory()).file.trimEnd().split("\n");
  const isBlob = (line: string | undefined): boolean => line?.startsWith('{"type":"blob"') === true;
  for (const [at, line] of lines.entries()) {
    const [before, after] = [lines.slice(0, at), lines.slice(at + 1)];
    const spoilt = {
      lost: [...before, ...after],
      cut: before,
      doubled: [...before, line, line, ...after],
      swapped: [...before, ...after.slice(0, 1), line, ...after.slice(1)],
    };
    for (const [how, left] of Object.entries(spoilt)) {
      const found = await refusal(left.join("\n"));
      const code = found === "not read" ? found : found.code;
      const harmless =
        (isBlob(line) && how !== "cut") ||
        (how === "swapped" && (after.length === 0 || isBlob(after[0]))) ||
        (how === "doubled" && after.length === 0);
      if (!harmless) expect([at, how, code]).not.toEqual([at, how, "taken"]);
      // Only the line of an image may be lost: the entries are whole, and the image is told of.
      if (code === "missing") expect([isBlob(line), how]).toEqual([true, "lost"]);
    }
  }
});

test("what is wrong is told with its line and the last entry that counts", async () => {
  const { file } = await inMemory();
  const { problems, links } = await check(file.replace('"b":1.50', '"b":1.51'));
  const line = file.split("\n").findIndex((text) => text.includes('"id":"odd"')) + 1;
  expect(problems.map((problem) => [problem.line, problem.code])).toEqual([[line, "damaged"]]);
  expect(links).toEqual({ linked: true, soundSeq: 6, unprovenSeq: 0 });
});

test.each(subjects)("a file of the $name store brings the same links into every store", async (from) => {
  const { file, ends, head } = await onStore(from, async (store) => {
    const chat = await fill(new Holdfast(store, "s"));
    return { file: await fileOf(chat), ends: await endsOf(chat), head: await chat.head() };
  });
  expect(ends.map(({ seq, byOwner }) => [seq, byOwner])).toEqual([
    [2, true],
    [4, true],
    [5, false],
    [6, true],
    [8, true],
  ]);
  for (const to of subjects)
    await onStore(to, async (store) => {
      const holdfast = new Holdfast(store, "s");
      const chat = await bring(holdfast, file);
      expect(await endsOf(chat)).toEqual(ends);
      const { link, ownerLink, headSeq } = await chat.head();
      expect([link, ownerLink, headSeq]).toEqual([head.link, head.ownerLink, head.headSeq]);
      const copy = await bring(holdfast, file, { id: "copy" });
      expect((await copy.head()).link).not.toBe(head.link);
      expect(await holdfast.check({ repair: false })).toEqual([]);
      expect(await fileOf(chat)).toBe(file);
    });
});

test.each(subjects)("$name: a fork's file is a log of its own, and proves that", async (subject) => {
  await onStore(subject, async (store) => {
    const holdfast = new Holdfast(store, "s");
    const chat = await fill(holdfast);
    const fork = await chat.fork({ id: "fork", at: "u2" });
    await fork.append([user("mine", "f1"), user("more", "f2")]);
    await fork.label("f1", "there");
    const file = await fileOf(fork);
    const checked = await check(file);
    expect([checked.problems, checked.links.unprovenSeq]).toEqual([[], 4]);
    const other = new Holdfast(store, "other");
    const flat = await bring(other, file);
    const lines = file.split("\n").filter((line) => line.startsWith('{"type":"batch"'));
    expect((await endsOf(flat)).map(({ link }) => link)).toEqual(
      lines.map((line) => (JSON.parse(line) as { link: string }).link),
    );
    expect(await other.check({ repair: false })).toEqual([]);
  });
});

test.each(subjects)(
  "$name: what is not as its link says is not exported as if it were whole",
  async (subject) => {
    await onStore(subject, async (store) => {
      const chat = await fill(new Holdfast(store, "s"));
      const space = spaceOf(chat);
      const lying = Object.assign(Object.create(space) as typeof space, {
        read: async (request: Parameters<typeof space.read>[0]) => {
          const entries = [...(await space.read(request))];
          const at = entries.findIndex(({ id }) => id === "u2");
          const entry = entries[at];
          if (entry !== undefined) entries[at] = { ...entry, payload: entry.payload.replace("two", "twp") };
          return entries;
        },
      });
      const spoilt = await new Holdfast({ ...store, space: () => lying }, "s").conversation("chat");
      await expect(fileOf(spoilt)).rejects.toMatchObject({ code: "damaged", details: { reachableSeq: 2 } });
      const unproven: number[] = [];
      const salvaged = await fileOf(spoilt, (_, soundSeq) => unproven.push(soundSeq));
      expect([unproven, salvaged.includes("twp")]).toEqual([[2], true]);
      const checked = await check(salvaged);
      const { headSeq } = await spoilt.head();
      expect([checked.problems, checked.entries, checked.links.unprovenSeq]).toEqual([[], headSeq, headSeq]);
    });
  },
);

test.each(subjects)(
  "$name: the golden export of version 2 imports to the links it was written with",
  async (to) => {
    using dir = tempDir();
    cpSync(join(GOLDEN, "v2", "jsonl"), dir.path, { recursive: true });
    await using golden = jsonlStore({ dir: dir.path });
    const ends = await endsOf(await new Holdfast(golden, "default").conversation("chat"));
    await onStore(to, async (store) => {
      const chat = await bring(
        new Holdfast(store, "s"),
        readFileSync(join(GOLDEN, "v2", "export.jsonl"), "utf8"),
      );
      expect(await endsOf(chat)).toEqual(ends);
    });
  },
);

test("a file of before has no links: it is taken, and what it holds is unproven", async () => {
  const { links, entries, problems } = await check(readFileSync(join(GOLDEN, "v1", "export.jsonl")));
  expect([problems, links]).toEqual([[], { linked: false, soundSeq: 0, unprovenSeq: entries }]);
});

test("a log that was begun before there were links is exported as one that has them, and says up to where it had none", async () => {
  using dir = tempDir();
  cpSync(join(GOLDEN, "v1", "jsonl"), dir.path, { recursive: true });
  await using old = jsonlStore({ dir: dir.path });
  const chat = await new Holdfast(old, "default").conversation("chat");
  const { headSeq } = await chat.head();
  await chat.append([user("on"), user("and on")]);
  await chat.title("Written on");
  const file = await fileOf(chat);
  expect((await check(file)).links).toEqual({ linked: true, soundSeq: headSeq + 3, unprovenSeq: headSeq });
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "s");
  const brought = await bring(holdfast, file);
  expect((await endsOf(brought)).slice(-2).map(({ seq, byOwner }) => [seq, byOwner])).toEqual([
    [headSeq + 2, true],
    [headSeq + 3, false],
  ]);
  expect(await holdfast.check({ repair: false })).toEqual([]);
});

test("an import that ended before its images goes on, and one that is whole is not made twice", async () => {
  const { file } = await inMemory();
  await using store = inMemoryStore();
  const holdfast = new Holdfast(store, "s");
  const checked = await checkImport(fileOfText(file), () => undefined);
  const targets = await importTargets(holdfast, checked, ["chat"]);
  const cut = fileOfText(file.replace(/^\{"type":"blob".*\n/m, ""));
  const plan = { checked, targets, onEntry: () => undefined };
  await expect(writeImport(holdfast, cut, plan)).rejects.toMatchObject({ code: "damaged" });
  const chat = await holdfast.conversation("chat");
  const [digest = ""] = checked.logs[0]?.blobs ?? [];
  await expect(chat.getBlob(digest)).rejects.toMatchObject({ code: "blob_not_found" });
  await bring(holdfast, file);
  expect(Buffer.from(await chat.getBlob(digest)).toString()).toBe("an image");
  await bring(holdfast, file);
  expect((await chat.head()).headSeq).toBe(8);
});
