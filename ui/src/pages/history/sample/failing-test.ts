import {
  called,
  ended,
  exchange,
  intent,
  link,
  prompt,
  reply,
  result,
  text,
  type Told,
  turn,
} from "./told-entries.ts";

const [FIRST, SECOND, THIRD] = ["sim-session-000021", "sim-session-000025", "sim-session-000031"] as const;
const TEST = { command: "npm test" };
const PARSER_TEST = { command: "npm test -- parser" };
const PARSER = { path: "src/parser.ts" };
const FIX = {
  path: "src/parser.ts",
  old_string: "  const lines = text.split(NEWLINE);\n  return lines.slice(0, -1);\n",
  new_string:
    '  const lines = text.split(NEWLINE);\n  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;\n',
};
const FAILED =
  "\u001B[31mfailed\u001B[0m  parser keeps the last line\n    expected \u001B[32m3\u001B[0m, got \u001B[31m2\u001B[0m";
const PASSED = "\u001B[32mpassed\u001B[0m  14 of 14";
const SOURCE =
  "export function parse(text: string): readonly string[] {\n  const lines = text.split(NEWLINE);\n  return lines.slice(0, -1);\n}";

const failed = (id: string, call: string): Told => ({
  type: "message",
  id,
  message: { role: "toolResult", toolCallId: call, toolName: "bash", content: [text(FAILED)], isError: true },
});

/** The entries that the forks of this story begin at. */
export const DECISION = "a2";
export const FIX_ASKED = "u3";

/** Two ways at one decision, a fix with its diff, a session that was lost, a summary, another model. */
export const FAILING_TEST: readonly Told[] = [
  prompt("u1", "A test fails. Can you have a look?"),
  turn("t1", "u1"),
  link(FIRST, "new"),
  { type: "attempt", turn: "t1", upstream: FIRST, fidelity: "native" },
  reply("a1", [text("I will run the tests."), called("c1", "bash", TEST)], [1_840, 24]),
  intent("c1", "bash", TEST),
  failed("r1", "c1"),
  reply(
    "a2",
    [text("The parser drops the last line. Shall I change the test, or the parser?")],
    [212, 33, 1_840],
  ),
  ended("t1", FIRST, "a2"),
  { type: "label", target: "a2", label: "decision", after: 0 },
  prompt("u2", "Change the test.", { after: 40 }),
  turn("t2", "u2"),
  { type: "attempt", turn: "t2", upstream: FIRST },
  reply(
    "a3",
    [text("Done: the test now expects 2. The last line of a file is still lost, though.")],
    [96, 28, 2_052],
  ),
  ended("t2", FIRST, "a3"),
  prompt("u3", "No, the parser is wrong. Fix that.", { parentId: "a2", after: 70 }),
  turn("t3", "u3"),
  link(SECOND, "lost_transcript"),
  {
    type: "attempt",
    turn: "t3",
    upstream: SECOND,
    fidelity: "preamble",
    priorContext: { messages: 4, leftOut: 0, effects: 1 },
  },
  reply("a4", [called("c2", "read", PARSER), called("c3", "bash", PARSER_TEST)], [2_380, 41]),
  intent("c2", "read", PARSER),
  result("r2", "c2", "read", SOURCE),
  intent("c3", "bash", PARSER_TEST),
  failed("r3", "c3"),
  reply(
    "a5",
    [text("It cuts off the last line whatever it is."), called("c4", "edit", FIX)],
    [640, 118, 2_380],
  ),
  intent("c4", "edit", FIX),
  result("r4", "c4", "edit", "src/parser.ts was changed"),
  reply("a6", [called("c5", "bash", PARSER_TEST)], [180, 22, 3_020]),
  intent("c5", "bash", PARSER_TEST),
  result("r5", "c5", "bash", PASSED),
  reply(
    "a7",
    [text("Fixed: the parser keeps the last line, and drops only an empty one. 14 tests pass.")],
    [121, 35, 3_200],
  ),
  ended("t3", SECOND, "a7"),
  ...exchange(
    "comments",
    SECOND,
    ["Do the same for comments.", "Which ones: those that end a file, or all?"],
    [64, 17, 3_321],
  ),
  prompt("u5", "Do the same for comments and strings that end a file.", { parentId: "a7", after: 50 }),
  turn("t5", "u5"),
  { type: "attempt", turn: "t5", upstream: SECOND },
  reply("a9", [called("c6", "bash", TEST)], [88, 26, 3_321]),
  intent("c6", "bash", TEST),
  result("r6", "c6", "bash", "\u001B[32mpassed\u001B[0m  212 of 212"),
  reply("a10", [text("Both keep their last line now. 212 tests pass.")], [105, 21, 3_409]),
  ended("t5", SECOND, "a10"),
  {
    type: "compaction",
    id: "s1",
    summary:
      "The parser dropped the last line of a file; it keeps it now, also in comments and strings. All tests pass.",
    firstKeptEntryId: "u5",
    tokensBefore: 3_514,
    after: 20,
  },
  { type: "model_change", id: "m1", model: "example-2", after: 8 },
  prompt("u6", "Write the line for the changelog.", { after: 30 }),
  turn("t6", "u6"),
  link(THIRD, "rate_limit"),
  {
    type: "attempt",
    turn: "t6",
    upstream: THIRD,
    fidelity: "preamble",
    priorContext: { messages: 5, leftOut: 9, summary: true, effects: 4 },
  },
  reply(
    "a11",
    [text("> The parser keeps the last line of a file, of a comment and of a string.")],
    [1_260, 19],
    "example-2",
  ),
  ended("t6", THIRD, "a11"),
];

/** What the fork goes on with. */
export const SECOND_TRY: readonly Told[] = [
  prompt("u20", "Neither: write a test that shows which of them is wrong.", { after: 30 }),
  turn("t20", "u20"),
  link("sim-session-000033", "fork"),
  {
    type: "attempt",
    turn: "t20",
    upstream: "sim-session-000033",
    priorContext: { messages: 4, leftOut: 0, effects: 1 },
  },
  reply(
    "a20",
    [text("A file without a newline at its end loses its last line, so the parser is wrong.")],
    [2_140, 30],
  ),
  ended("t20", "sim-session-000033", "a20"),
];

const OTHER_FIX = {
  path: "src/reader.ts",
  old_string: "  end() {\n  }\n",
  new_string: "  end() {\n    if (this.rest) this.emit(this.rest);\n  }\n",
};
const LOOKED_FOR = { pattern: "slice(0, -1)", path: "src" };
const OTHER = "sim-session-000037";

/** Another model is asked for the same fix, and makes another one. */
export const OTHER_MODEL: readonly Told[] = [
  turn("t30", FIX_ASKED),
  link(OTHER, "fork"),
  { type: "attempt", turn: "t30", upstream: OTHER, priorContext: { messages: 5, leftOut: 0, effects: 1 } },
  reply("a30", [called("d1", "read", PARSER), called("d2", "bash", PARSER_TEST)], [2_410, 38], "example-2"),
  intent("d1", "read", PARSER),
  result("r30", "d1", "read", SOURCE),
  intent("d2", "bash", PARSER_TEST),
  failed("r31", "d2"),
  reply(
    "a31",
    [
      text("The reader never gives out its rest."),
      called("d3", "edit", OTHER_FIX),
      called("d4", "grep", LOOKED_FOR),
    ],
    [655, 131, 2_410],
    "example-2",
  ),
  intent("d3", "edit", OTHER_FIX),
  result("r32", "d3", "edit", "src/reader.ts was changed"),
  intent("d4", "grep", LOOKED_FOR),
  result("r33", "d4", "grep", "src/parser.ts:3"),
  reply("a32", [called("d5", "bash", PARSER_TEST)], [190, 20, 3_065], "example-2"),
  intent("d5", "bash", PARSER_TEST),
  result("r34", "d5", "bash", PASSED),
  reply(
    "a33",
    [text("Fixed in the reader, which now gives out what is left when a file ends.")],
    [118, 29, 3_255],
    "example-2",
  ),
  ended("t30", OTHER, "a33"),
];
