/** A conversation with what makes trees and comparisons awkward: forks of forks, rollovers, other scripts, hostile words. */
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import type { ContentBlock } from "#log/message";

const text = (words: string): ContentBlock => ({ type: "text", text: words });

function prompt(id: string, words: string, parentId?: string): EntryBody {
  const message = { role: "user", content: [text(words)] } as const;
  return { type: "message", id, message, ...(parentId === undefined ? {} : { parentId }) };
}

interface Called {
  readonly call: string;
  readonly name: string;
  readonly input: { readonly [member: string]: string };
}

/** An answer with its words and its calls, and what these gave. */
function answer(id: string, words: string, calls: readonly Called[] = [], parentId?: string): EntryBody[] {
  const content = [
    text(words),
    ...calls.map(({ call, name, input }): ContentBlock => ({ type: "toolCall", id: call, name, input })),
  ];
  const usage = { inputTokens: 900, outputTokens: 40, costMicros: 3_300 };
  return [
    {
      type: "message",
      id,
      message: { role: "assistant", model: "example-1", content, usage },
      ...(parentId === undefined ? {} : { parentId }),
    },
    ...calls.map(({ call, name }): EntryBody => ({
      type: "message",
      id: `r-${call}`,
      message: {
        role: "toolResult",
        toolCallId: call,
        toolName: name,
        content: [text(`${name} gave 1 line`)],
      },
    })),
  ];
}

const read = (call: string, path: string): Called => ({ call, name: "read", input: { path } });
const edit = (call: string, path: string, from: string, to: string): Called => ({
  call,
  name: "edit",
  input: { path, old_string: from, new_string: to },
});
const bash = (call: string, command: string): Called => ({ call, name: "bash", input: { command } });

const LONG = "A very long title that nobody would choose, and somebody chose nevertheless; ".repeat(3);

/** `fix-the-test`, its forks `second-try` and `third-try` of that, and nothing else. */
export async function writeBranchyLog(holdfast: Holdfast): Promise<void> {
  const one = await holdfast.create({ id: "fix-the-test", title: "A test fails" });
  await one.append([
    prompt("u1", "A test fails. Can you have a look?"),
    ...answer("a1", "I will run the tests.", [bash("c1", "npm test")]),
    ...answer("a2", "The parser drops the last line. Shall I change the test or the parser?"),
    { type: "label", target: "a2", label: "decision" },
    prompt("u2", "Change the test. <img src=x onerror=alert(1)> \u202Egnp.exe"),
    ...answer("a3", "اختبار: the test now expects 2. テストを直しました。"),
    prompt("u3", "No, the parser is wrong. Fix that.", "a2"),
    ...answer("b1", "I look at the parser.", [
      read("d1", "src/parser.ts"),
      bash("d2", "npm test -- parser"),
      edit("d3", "src/parser.ts", "return lines.slice(0, -1);\nend", "return lines;\nend"),
      bash("d4", "npm run lint"),
      bash("d5", "npm test"),
    ]),
    ...answer("b2", "Fixed: the parser keeps the last line, and all tests pass."),
    { type: "upstream_link", upstream: "s1", agent: "sim", reason: "new" },
    ...answer(
      "x1",
      "I look at the parser first.",
      [
        read("e1", "src/parser.ts"),
        bash("e2", "npm test -- parser"),
        edit("e3", "src/reader.ts", "end() {", "end() {\n  if (this.rest) this.emit(this.rest);"),
        { call: "e4", name: "grep", input: { pattern: "slice(0, -1)", path: "src" } },
        bash("e5", "npm test"),
      ],
      "u3",
    ),
    ...answer("x2", "Fixed in the reader, which now flushes the rest of what it was given at its end."),
    { type: "upstream_link", upstream: "s2", agent: "sim", reason: "rate_limit" },
    prompt("u4", `${LONG}Do the same for comments.`, "b2"),
    {
      type: "compaction",
      id: "s9",
      summary: "The parser was fixed.",
      firstKeptEntryId: "u4",
      tokensBefore: 9_410,
    },
    ...Array.from({ length: 7 }, (_, at) => answer(`m${at}`, `Step ${at} of the way`)).flat(),
    ...answer("a9", "Both keep their last line now."),
  ]);
  const second = await one.fork({ at: "a2", id: "second-try" });
  await second.append([prompt("v1", "Another way"), ...answer("v2", "Another answer")]);
  await (await second.fork({ at: "v2", id: "third-try" })).append([prompt("w1", "A fork of a fork")]);
}

/** Many ways at one prompt, and ways that part from ways that part. */
export async function writeWideLogs(holdfast: Holdfast, siblings: number, levels: number): Promise<void> {
  const wide = await holdfast.create({ id: "wide", title: "Wide" });
  await wide.append([prompt("root", "Which way?")]);
  for (let from = 0; from < siblings; from += 1_000) {
    const count = Math.min(1_000, siblings - from);
    await wide.append(
      Array.from({ length: count }, (_, at) => prompt(`w${from + at}`, `Way ${from + at}`, "root")),
    );
  }
  const deep = await holdfast.create({ id: "deep", title: "Deep" });
  await deep.append([prompt("d0", "Level 0")]);
  const entries = Array.from({ length: levels }, (_, at) => [
    prompt(`d${at + 1}`, `Level ${at + 1}`, `d${at}`),
    prompt(`e${at + 1}`, `Left at ${at + 1}`, `d${at}`),
  ]).flat();
  for (let from = 0; from < entries.length; from += 1_000)
    await deep.append(entries.slice(from, from + 1_000));
  await deep.goTo("e1");
}
