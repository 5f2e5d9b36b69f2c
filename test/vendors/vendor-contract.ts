/** What every vendor keeps to, as data. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { type Fields, parseFields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { classifyEnd, type EndSigns } from "#sending/rules/classify";
import { adoptedNode } from "#sending/record/adopt";
import { openHoldfast } from "../../src/index.ts";
import { COMMON_ENDINGS } from "#vendors/endings/shared-endings";
import type { NativeStore } from "#vendors/records/native-store";
import type { EndingExample, Vendor, VendorRecords } from "#vendors/vendor";
import type { Golden } from "./golden.ts";
import { brief, countedIds } from "./homes.ts";

export interface VendorCase {
  readonly name: string;
  run(vendor: Vendor): void;
}

export interface RecordsCase {
  readonly name: string;
  run(at: {
    readonly records: VendorRecords;
    readonly golden: Golden;
    /** The records in a folder that holds the golden file and nothing else. */
    readonly store: NativeStore;
  }): Promise<void>;
}

function endOf([, message, code = -32603, data = null]: EndingExample): EndSigns {
  return { stopReason: null, error: { code, message, data }, exited: false };
}

const SHARED = new Set(COMMON_ENDINGS);

const someFields = fc.dictionary(
  fc.constantFrom("_meta", "codex", "claudeCode", "error", "type", "message", "content", "status"),
  fc.jsonValue(),
) as fc.Arbitrary<{ readonly [name: string]: Json }>;

export const VENDOR_CASES: readonly VendorCase[] = [
  {
    name: "has a name that a command line can give",
    run: ({ name }) => assert.match(name, /^[a-z0-9][a-z0-9._-]*$/),
  },
  {
    name: "means by each of its examples what it says",
    run: ({ endings, examples }) => {
      for (const example of examples)
        assert.equal(classifyEnd(endings, endOf(example)).class, example[0], JSON.stringify(example));
    },
  },
  {
    name: "shows by an example how it says that a limit is reached, and that a session is gone",
    run: ({ examples }) => {
      const meant = new Set(examples.map(([means]) => means));
      assert.ok(meant.has("limit"));
      assert.ok(meant.has("lost") || meant.has("expired"));
    },
  },
  {
    name: "has an example for every rule of its own",
    run: ({ endings, examples }) => {
      for (const rule of endings.filter((one) => !SHARED.has(one))) {
        const probe = { ...rule, class: "completed" } as const;
        const fits = examples.some((example) => classifyEnd([probe], endOf(example)).class === "completed");
        assert.ok(fits, `${JSON.stringify(rule)} ${rule.on === "text" ? rule.like.source : ""}`);
      }
    },
  },
  {
    name: "has a dialect with sane figures",
    run: ({ dialect }) => {
      assert.ok(dialect.windowTokens >= 8_000);
      assert.ok(dialect.reloadAfterMs >= 0);
      assert.ok(dialect.clears.every((command) => !command.startsWith("/")));
      if (dialect.programMessages !== null) JSON.parse(dialect.programMessages.ask.text);
    },
  },
  {
    name: "reads whatever an agent says without failing",
    run: ({ dialect }) => {
      fc.assert(
        fc.property(someFields, someFields, (inner, outer) => {
          const said = { ...outer, _meta: { ...inner, codex: inner, claudeCode: inner } };
          dialect.failureIn(said);
          dialect.failureIn(outer);
          dialect.toolName(inner);
          dialect.programMessages?.meaning(said);
        }),
        { numRuns: 200 },
      );
    },
  },
];

function recordsIn({ file: [, text] }: Golden): readonly Fields[] {
  return text
    .split("\n")
    .map(parseFields)
    .filter((record) => record !== null);
}

export const RECORDS_CASES: readonly RecordsCase[] = [
  {
    name: "lists what its agent wrote",
    run: async ({ store, golden: { id, cwd, title } }) => {
      const sessions = await store.list();
      assert.deepEqual(
        sessions.map((session) => ({ id: session.id, cwd: session.cwd, title: session.title })),
        [{ id, cwd, title }],
      );
    },
  },
  {
    name: "reads what its agent wrote",
    run: async ({ store, golden }) => {
      const said = brief(await store.read(golden.id));
      assert.deepEqual([said.length, said[0], said.at(-1)], [golden.messages, golden.first, golden.last]);
      assert.notEqual(await store.stamp(golden.id), null);
    },
  },
  {
    name: "knows its files by their first line, and reads them record by record",
    run: async ({ records, store, golden }) => {
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
    run: async ({ store, golden: { vendor, id, cwd } }) => {
      const read = (await store.read(id)) ?? [];
      await using holdfast = await openHoldfast({ store: "memory:" });
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
    name: "finds nothing under ids that are none",
    run: async ({ store, golden }) => {
      for (const id of ["", "..", "../x", "a/b", "\0", `${golden.id}\0`, ".*", golden.file[0]]) {
        assert.equal(await store.read(id), null);
        assert.equal(await store.stamp(id), null);
        await store.remove?.(id);
      }
      assert.notEqual(await store.stamp(golden.id), null);
    },
  },
  {
    name: "reads again what it writes, where it writes, and leaves what was there alone",
    run: async ({ store, golden }) => {
      if (store.write === undefined) return;
      const newId = countedIds();
      const copyOf = async (from: string): Promise<string> => {
        const messages = ((await store.read(from)) ?? []).map(({ message }) => message);
        return (await store.write?.({ cwd: golden.cwd, messages, newId, nowMs: 1_800_000_000_000 })) ?? "";
      };
      const stamp = await store.stamp(golden.id);
      const copy = await copyOf(golden.id);
      const again = await copyOf(copy);
      assert.equal(new Set([golden.id, copy, again]).size, 3);
      // Results may stand in another order than they came in; nothing is missing and nothing is added.
      const [given, read] = await Promise.all([golden.id, copy].map((id) => store.read(id)));
      assert.deepEqual(brief(read ?? null).toSorted(), brief(given ?? null).toSorted());
      const [once, twice] = await Promise.all([copy, again].map((id) => store.read(id)));
      const said = (messages: typeof once): unknown => (messages ?? []).map(({ message }) => message);
      assert.deepEqual(said(twice), said(once));
      assert.equal(await store.stamp(golden.id), stamp);
    },
  },
];
