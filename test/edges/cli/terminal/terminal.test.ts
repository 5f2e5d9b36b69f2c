import { afterAll, describe, expect, test } from "vitest";
import type { Io, Sink } from "#edges/cli/command";
import { run } from "#edges/cli/run-command";
import { failureOf } from "#edges/cli/exit";
import {
  counted,
  fit,
  safeJson,
  safeLine,
  safeText,
  styleFor,
  widthOf,
  wrap,
} from "#edges/cli/terminal/terminal";
import { LogError } from "#log/errors";
import { nearest } from "#edges/cli/commands";
import { shortIds } from "#edges/cli/address";
import { readLines } from "#transfer/bundles/read-lines";
import { runHere } from "../cli-here.ts";
import { said, someStores } from "../cli-run.ts";

const ATTACKS: readonly (readonly [string, string])[] = [
  ["clipboard (OSC 52)", "\u001B]52;c;cm0gLXJm\u0007"],
  ["links (OSC 8)", "\u001B]8;;http://evil.example\u001B\\click\u001B]8;;\u001B\\"],
  ["window title", "\u001B]0;owned\u0007"],
  ["clear screen", "\u001B[2J\u001B[H"],
  ["mouse mode", "\u001B[?1000h"],
  ["C1 CSI", "\u009B31m"],
  ["carriage return", "harmless\rrm -rf /"],
  ["backspace and DEL", "safe\b\b\b\b\u007F"],
  ["right-to-left override", "user\u202Egnp.exe"],
  ["isolates", "a\u2066b\u2069"],
  ["zero width", "pass\u200Bword\uFEFF"],
  ["tags", "hi\u{E0041}\u{E0042}"],
  ["fillers and blanks", "a\u3164b\u034Fc\u115Fd\u2800e\u17B4f\uFFA0g"],
  ["variation selectors", "a\uFE01b\uFE0Fc\u{E0101}d"],
];

const FORBIDDEN = /[^\P{Cc}\n\t]|[\p{Default_Ignorable_Code_Point}\u2800]/u;

describe("stored text on its way to a terminal", () => {
  test.each(ATTACKS)("cannot use %s", (_what, text) => {
    expect(safeText(text)).not.toMatch(FORBIDDEN);
  });

  test("keeps words, line breaks, tabs and emoji, and shows what cannot be seen", () => {
    expect(safeText("Grüße\r\n\t你好 👩‍💻")).toBe("Grüße\n\t你好 👩‍💻");
    expect(safeText("❤\uFE0F 1\uFE0F\u20E3")).toBe("❤\uFE0F 1\uFE0F\u20E3");
    expect(safeText("a\u202Eb")).toBe("a‹U+202E›b");
    expect(safeText("a\u{E0101}b")).toBe("a‹U+E0101›b");
    expect(safeText("half \uD800")).toBe("half \uFFFD");
    expect(safeLine("one\ntwo\t three ")).toBe("one two three");
    expect(safeLine("\u001B[1;32mbuilt\u001B[0m 14 \u001B[2Jpages")).toBe("built 14 [2Jpages");
  });

  test("has no colour without a terminal, or when none is wanted", () => {
    expect(styleFor(false, {}).red("x")).toBe("x");
    expect(styleFor(true, { NO_COLOR: "1" }).red("x")).toBe("x");
    expect(styleFor(true, {}).red("x")).not.toBe("x");
  });

  test("is cut and wrapped by the columns it takes", () => {
    expect(widthOf("你好 a")).toBe(6);
    expect(fit("你好世界", 5)).toBe("你好…");
    expect(wrap("one two three", 7)).toEqual(["one two", "three"]);
    expect(wrap("abcdefgh", 3)).toEqual(["abc", "def", "gh"]);
    expect(wrap("x".repeat(1_000_000), 80)).toHaveLength(12_500); // measured anew for each line, it would take minutes
  });
});

test("the doctor is recommended for a damaged store, and not for a file that was to be imported", () => {
  expect(failureOf(new LogError("damaged", "a conversation")).next).not.toBe("");
  expect(failureOf(new LogError("diverged", "a conversation"))).toMatchObject({
    status: 6,
    code: "diverged",
  });
  expect(failureOf(new LogError("damaged", "a file", { file: "chat.jsonl" })).next).toBe("");
});

test("one is not counted as many", () => {
  expect([counted(1, "line"), counted(0, "line"), counted(2, "entry", "entries")]).toEqual([
    "1 line",
    "0 lines",
    "2 entries",
  ]);
});

describe("over a store full of hostile text", () => {
  const stores = someStores();
  afterAll(() => stores[Symbol.dispose]());
  const store = stores.addresses[1] ?? "";
  const nasty = ATTACKS.map(([, text]) => text).join(" ");

  test("every command that people read prints it harmless, and JSON prints it as it is", async () => {
    const call = { type: "toolCall", id: "c1", name: nasty, input: { [nasty]: nasty } };
    const reply = {
      type: "message",
      message: { role: "assistant", model: nasty, content: [{ type: "text", text: nasty }, call] },
    };
    const result = {
      type: "message",
      message: {
        role: "toolResult",
        toolCallId: "c1",
        toolName: nasty,
        isError: true,
        content: [{ type: "text", text: nasty }],
      },
    };
    const link = { type: "upstream_link", upstream: `u ${nasty}`, agent: nasty, reason: nasty };
    await runHere(store, ["new", "--id", "nasty"]);
    await runHere(
      store,
      ["append", "nasty"],
      [
        said("user", `findme ${nasty}`, { id: "m1" }),
        ...[reply, result, link].map((body) => JSON.stringify(body)),
      ].join("\n"),
    );
    await runHere(
      store,
      ["append", "nasty", "--outside"],
      [
        JSON.stringify({ type: "label", target: "m1", label: nasty }),
        JSON.stringify({ type: "title", title: nasty }),
      ].join("\n"),
    );
    const calls = [
      ["show", "nasty"],
      ["log", "nasty"],
      ["context", "nasty"],
      ["tree", "nasty"],
      ["chain", "nasty"],
      ["ls"],
      ["search", "findme"],
      ["doctor"],
      ["log", nasty.slice(0, 40)],
      [nasty],
    ];
    for (const { out, err } of await Promise.all(calls.map((args) => runHere(store, args))))
      expect(`${out}${err}`).not.toMatch(FORBIDDEN);
    expect((await runHere(store, ["log", "nasty", "--json"])).out).toContain(JSON.stringify(nasty));
  });
});

test("JSON on a terminal means the same and holds nothing the terminal would obey", async () => {
  const hostile = JSON.stringify({ text: ATTACKS.map(([, text]) => text).join(" ") });
  expect(safeJson(hostile)).not.toMatch(FORBIDDEN);
  expect(JSON.parse(safeJson(hostile))).toEqual(JSON.parse(hostile));

  using stores = someStores();
  const [store = ""] = stores.addresses;
  await runHere(store, ["new", "--id", "c"]);
  await runHere(store, ["append", "c"], said("user", "findme \u009B31m \u007F \u202E", { id: "m1" }));
  const seen: string[] = [];
  const screen: Sink = {
    isTerminal: true,
    columns: 80,
    style: styleFor(false, {}),
    write: async (text) => void seen.push(text),
    writeBytes: async () => undefined,
  };
  const io: Io = {
    stdin: (async function* () {})(),
    stdinIsTerminal: false,
    out: screen,
    err: screen,
    env: { HOLDFAST_STORE: store },
    catchInterrupt: () => new AbortController().signal,
  };
  for (const args of [
    ["log", "c", "--json"],
    ["context", "c", "--json"],
    ["show", "c", "--json"],
    ["tree", "c", "--json"],
    ["search", "findme", "--json"],
    ["show", "\u009Bc", "--json"],
    ["export", "c"],
  ])
    await run(args, io);
  expect(seen.join("")).toContain("findme");
  expect(seen.join("")).not.toMatch(FORBIDDEN);
});

describe("small parts", () => {
  test("names the command that was probably meant", () => {
    expect([
      nearest("contxt", ["context", "fork"]),
      nearest("lgo", ["log", "goto"]),
      nearest("zebra", ["log"]),
    ]).toEqual(["context", "log", null]);
  });

  test("shortens ids as far as they stay apart", () => {
    expect([...shortIds(["aaaa-1", "aaaa-2", "b"]).values()]).toEqual(["aaaa-1", "aaaa-2", "b"]);
  });

  test("splits bytes into lines across chunks, with numbers and positions", async () => {
    const bytes = new TextEncoder().encode("\uFEFFeins\nzwölf\n\nlast");
    const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
    const lines = await Array.fromAsync(
      readLines(
        (async function* () {
          yield* chunks;
        })(),
      ),
    );
    expect(
      lines.map((line) => ["text" in line ? line.text : null, line.number, line.offset, line.whole]),
    ).toEqual([
      ["eins", 1, 0, true],
      ["zwölf", 2, 8, true],
      ["", 3, 15, true],
      ["last", 4, 16, false],
    ]);
  });
});
