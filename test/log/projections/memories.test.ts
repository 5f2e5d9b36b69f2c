import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry, EntryOf } from "#log/entry";
import { parseBody } from "#log/body";
import { memoriesOf, MemoryReader } from "#log/projections/memories";
import { secretsIn } from "#log/secrets";
import type { MemoryChange } from "#log/table/memory-change";

let seq = 0;
function fact(change: MemoryChange): EntryOf<"memory"> {
  seq++;
  const time = new Date(Date.UTC(2026, 0, 1) + seq * 1_000).toISOString();
  return { v: 2, id: `m${seq}`, seq, parentId: null, time, type: "memory", payload: "", ...change };
}
const save = (key: string, content = "x", by = "person"): EntryOf<"memory"> =>
  fact({ change: "saved", key, title: key, content, by });

test("the last change of a key counts, and what is removed can come back", () => {
  const first = save("a", "old");
  const read = memoriesOf([first, save("b"), save("a", "new"), fact({ change: "removed", key: "b" })]);
  expect([...read.live.values()].map(({ key, content, createdAt }) => [key, content, createdAt])).toEqual([
    ["a", "new", first.time],
  ]);
  expect([...read.removed.keys()]).toEqual(["b"]);
  read.add(fact({ change: "restored", key: "b" }));
  read.add(fact({ change: "restored", key: "never" }));
  expect([...read.live.keys()]).toEqual(["a", "b"]);
  expect(read.removed.size).toBe(0);
});

test("what a person saved stays a person's, until it is removed", () => {
  const read = memoriesOf([
    save("a"),
    save("a", "y", "model"),
    save("b", "x", "model"),
    save("b", "y", "person"),
  ]);
  expect([...read.live.values()].map(({ by }) => by)).toEqual(["person", "person"]);
  read.add(fact({ change: "removed", key: "a" }));
  read.add(save("a", "z", "model"));
  expect(read.live.get("a")?.by).toBe("model");
});

test("of each conversation the newest summary counts; behind an erasing nothing does", () => {
  const point = (conversation: string, entry: string): Entry =>
    fact({ change: "summarised", conversation, entry });
  const read = memoriesOf([point("c", "e1"), point("d", "e2"), point("c", "e3"), save("a"), save("b")]);
  expect(read.summaries.map(({ conversation, entry }) => [conversation, entry])).toEqual([
    ["d", "e2"],
    ["c", "e3"],
  ]);
  const end = fact({ change: "erasing", keys: ["a"] });
  for (const entry of [end, save("a"), save("c"), fact({ change: "erasing", keys: ["b"] })]) read.add(entry);
  expect([...read.live.keys()]).toEqual(["b"]);
  expect(read.erasing?.seq).toBe(end.seq);
});

test("a million facts are read in bounded memory, and how many were too many is told", () => {
  const read = new MemoryReader();
  for (let n = 0; n < 1_000_000; n++)
    read.add({ ...SAVED, id: `i${n}`, seq: n + 1, key: n % 2 === 0 ? `k${n % 1_000}` : `n${n}` });
  expect(read.live.size).toBe(2_000);
  expect(read.leftOut).toBeGreaterThan(490_000);
  expect([...read.live.keys()].at(-1)).toBe("n999999");
});
const SAVED = save("a");

test("read in parts or as a whole, the same is remembered", () => {
  const keys = fc.constantFrom("a", "b", "c");
  const change: fc.Arbitrary<MemoryChange> = fc.oneof(
    fc.record({
      change: fc.constant("saved" as const),
      key: keys,
      title: keys,
      content: fc.string({ minLength: 1 }),
      by: fc.constantFrom("person", "model"),
    }),
    fc.record({ change: fc.constantFrom("removed" as const, "restored" as const), key: keys }),
    fc.record({ change: fc.constant("summarised" as const), conversation: keys, entry: keys }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), (changes) => {
      const facts = changes.map(fact);
      const read = memoriesOf(facts);
      // By a plain rule: the last save of a key, and whether it was removed since.
      for (const key of ["a", "b", "c"]) {
        let state: "none" | "live" | "removed" = "none";
        for (const entry of facts.filter((one) => one.key === key && one.change !== "summarised"))
          if (entry.change === "saved") state = "live";
          else if (entry.change === "removed" && state === "live") state = "removed";
          else if (entry.change === "restored" && state === "removed") state = "live";
        expect([read.live.has(key), read.removed.has(key)]).toEqual([state === "live", state === "removed"]);
        const last = facts.findLast((one) => one.key === key && one.change === "saved");
        const known = read.live.get(key) ?? read.removed.get(key);
        if (state !== "none") expect(known?.content).toBe(last?.content);
      }
    }),
  );
});

test("a memory that says too little, too much or something unknown is refused at the door", () => {
  const bodies: readonly object[] = [
    { change: "saved", key: "a", title: "t" },
    { change: "saved", key: " ", title: "t", content: "c" },
    { change: "saved", key: "a", title: "t", content: "c".repeat(33_000) },
    { change: "saved", key: "a", title: "t", content: "c", tags: [1] },
    { change: "removed" },
    { change: "summarised", conversation: "c" },
    { change: "erasing", keys: "a" },
    { change: "toString" },
    {},
  ];
  for (const body of bodies)
    expect(() => parseBody(JSON.stringify({ type: "memory", ...body }))).toThrow(
      expect.objectContaining({ code: "invalid_entry" }),
    );
});

test("keys, tokens and passwords are known, and plain words about them are not taken for them", () => {
  const secrets = [
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "AKIAIOSFODNN7EXAMPLE",
    `ghp_${"a1".repeat(18)}`,
    "xoxb-123456789012-abcdef",
    `sk-ant-api03-${"x".repeat(24)}`,
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl",
    "Authorization: Bearer abcdefghijklmnopqrstuvwxyz",
    "postgres://app:hunter2@localhost/db",
    "password = hunter2hunter2",
    'API_KEY="a1b2c3d4e5"',
    "密码是abc12345",
    "パスワードは hunter2hunter2",
  ];
  for (const text of secrets)
    expect([text, secretsIn(`see: ${text} there`).length > 0]).toEqual([text, true]);
  const plain = [
    "The password: required in the form",
    "token: src/auth/token.ts holds the rule",
    "Ask for the API key in the vault",
    "https://example.org:8080/path@2",
    "skip-the-long-hyphenated-name-please",
    "git@example.org:team/app.git",
    "secret santa is on Friday 2026-12-18",
  ];
  for (const text of plain) expect([text, secretsIn(text)]).toEqual([text, []]);
});
