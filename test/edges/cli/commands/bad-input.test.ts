import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openHoldfast } from "#open";
import { runHere } from "../cli-here.ts";
import { type Input, jsonLines, type Ran, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

function failure(ran: Ran): {
  readonly status: number | null;
  readonly code: unknown;
  readonly line: unknown;
} {
  expect(ran.out).toBe("");
  const { error } = jsonLines(ran.err)[0] as { error: { code: string; details: { line?: number } } };
  return { status: ran.status, code: error.code, line: error.details.line };
}

function* hugeLine(): Generator<string> {
  yield `${said("user", "fine")}\n{"type":"custom","customType":"note","data":"`;
  for (let mebibytes = 0; mebibytes < 100; mebibytes++) yield "x".repeat(1_048_576);
  yield '"}\n';
}

const BAD_LINES: readonly (readonly [string, Input, { code: string; line?: number }])[] = [
  ["malformed JSON", `${said("user", "fine")}\n{"type":`, { code: "invalid_entry", line: 2 }],
  ["an unknown type", '\n{"type":"telegram"}', { code: "invalid_entry", line: 2 }],
  ["a body without its payload", '{"type":"message"}', { code: "invalid_entry", line: 1 }],
  ["a missing parent", said("user", "x", { parentId: "nobody" }), { code: "unknown_parent" }],
  [
    "a cycle",
    `${said("user", "x", { id: "x", parentId: "y" })}\n${said("user", "y", { id: "y", parentId: "x" })}`,
    { code: "unknown_parent" },
  ],
  ["an id that exists", said("user", "x", { id: "m1" }), { code: "duplicate_id" }],
  [
    "an id twice in the batch",
    `${said("user", "x", { id: "d" })}\n${said("user", "y", { id: "d" })}`,
    { code: "duplicate_id" },
  ],
  [
    "an id with path characters",
    said("user", "x", { id: "../../etc/passwd" }),
    { code: "invalid_id", line: 1 },
  ],
  ["a raw NUL", '{"type":"title","title":"a\0b"}', { code: "invalid_entry", line: 1 }],
  [
    "bytes that are no UTF-8",
    Uint8Array.from([...Buffer.from('{"type":"title","title":"'), 0xed, 0xa0, 0x80, ...Buffer.from('"}')]),
    { code: "invalid_entry", line: 1 },
  ],
  ["a line of 100 MB", { [Symbol.iterator]: hugeLine }, { code: "too_large", line: 2 }],
  ["a seq of one's own", '{"type":"title","title":"a","seq":9}', { code: "invalid_entry", line: 1 }],
  [
    "a compaction that keeps what is not there",
    '{"type":"compaction","summary":"s","firstKeptEntryId":"nobody"}',
    { code: "invalid_boundary" },
  ],
  ["nothing", "\n\n", { code: "invalid_request" }],
];

describe.each(stores.addresses)("over %s", (store) => {
  const run = (args: readonly string[], input: Input = ""): Promise<Ran> => runHere(store, args, input);
  beforeAll(async () => {
    await run(["new", "--id", "chat"]);
    await run(["append", "chat"], said("user", "first", { id: "m1" }));
    await run(["new", "--id", "chat-two"]);
    await run(["new", "--id", "chat-three"]);
  });

  test.each(BAD_LINES)("refuses %s, with its code", async (_what, input, wanted) => {
    expect(failure(await run(["append", "chat", "--json"], input))).toMatchObject({ status: 2, ...wanted });
  });

  test("wrote nothing of all that", async () => {
    expect(jsonLines((await run(["log", "chat", "--json"])).out)).toHaveLength(2);
  });

  test("answers an unknown id with 3, an ambiguous one with 2 and its matches", async () => {
    expect(failure(await run(["log", "nobody", "--json"]))).toMatchObject({
      status: 3,
      code: "conversation_not_found",
    });
    expect(failure(await run(["show", "chat@nobody", "--json"]))).toMatchObject({
      status: 3,
      code: "entry_not_found",
    });
    const ambiguous = await run(["log", "chat-t", "--json"]);
    expect(ambiguous.status).toBe(2);
    const { error } = jsonLines(ambiguous.err)[0] as {
      error: { code: string; details: { matches: string[] } };
    };
    expect({ code: error.code, matches: error.details.matches.toSorted() }).toEqual({
      code: "ambiguous_id",
      matches: ["chat-three", "chat-two"],
    });
    expect((await run(["log", "chat"])).status).toBe(0);
  });

  test("answers ids with path characters, and bad spaces and stores, with 2", async () => {
    const calls = [
      ["new", "--id", "../up"],
      ["log", "../../etc/passwd"],
      ["new", "--space", "a/b"],
      ["ls", "--store", "ftp:somewhere"],
      ["new", "--id", "-x"],
    ];
    for (const { status } of await Promise.all(calls.map((args) => run(args)))) expect(status).toBe(2);
  });

  test("refuses a writer that expects another end of the log, and one while a turn is being written", async () => {
    expect(
      failure(await run(["append", "chat", "--expect", "1", "--json"], said("user", "late"))),
    ).toMatchObject({ status: 4, code: "head_moved" });
    await using holdfast = await openHoldfast({ store });
    await using owner = await (
      await holdfast.conversation("chat")
    ).own({ writer: "the agent", leaseMs: 60_000 });
    expect(failure(await run(["append", "chat", "--json"], said("user", "me too")))).toMatchObject({
      status: 5,
      code: "busy",
    });
    expect((await run(["label", "chat@m1", "seen"])).status).toBe(0);
    expect((await owner.append({ type: "model_change", model: "example-1" })).toSeq).toBe(4);
  });
});
