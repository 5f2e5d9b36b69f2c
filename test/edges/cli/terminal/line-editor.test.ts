/** What a person types: keys, pasted text and lines that nobody sees yet, without a terminal. */
import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import { TypeaheadBuffer, type KeyPiece, KeyPieces, LineEditor } from "#edges/cli/terminal/line-editor";

const PASTE = (text: string): string => `\u001B[200~${text}\u001B[201~`;

describe("what a terminal sends", () => {
  test("is parted into keys and pasted text, wherever it was cut", () => {
    const whole = `ab\r${PASTE("one\r\ntwo\nthree\r")}c\u001B\rd\ne\u001B[D`;
    for (let cut = 0; cut <= whole.length; cut++) {
      const pieces = new KeyPieces();
      const found: KeyPiece[] = [...pieces.split(whole.slice(0, cut)), ...pieces.split(whole.slice(cut))];
      const keys = found.map((piece) => ("keys" in piece ? piece.keys : `[${piece.pastedText}]`)).join("");
      // An Escape alone is a key.
      if ([whole.indexOf("\u001B\r"), whole.indexOf("\u001B")].includes(cut - 1)) continue;
      expect(keys).toBe(`ab\r[one␤two␤three␤]c␤d␤e\u001B[D`);
    }
  });

  test("typed ahead: lines are whole at Enter, mistakes can be taken back, keys that move do nothing", () => {
    const blind = new TypeaheadBuffer();
    const add = (keys: string) => [...blind.add({ keys })];
    expect(add("helo\u007Flo\u001B[D\u001BOA\r")).toEqual([{ type: "line", text: "hello" }]);
    expect(add("one two\u0017")).toEqual([]);
    expect(blind.drain()).toBe("one ");
    expect(add("\u0003")).toEqual([{ type: "interrupt" }]);
    expect(add("\u0004")).toEqual([{ type: "end" }]);
    expect(add("x\u0004\u0015")).toEqual([]);
    expect(blind.drain()).toBe("");
  });
});

function editor() {
  const input = Object.assign(new PassThrough(), { setRawMode: () => undefined });
  const output = Object.assign(new PassThrough(), { columns: 80, isTTY: true });
  output.resume();
  const lines: string[] = [];
  const others: string[] = [];
  const made = new LineEditor(
    { input, output },
    {
      line: (text) => void lines.push(text),
      interrupt: (had) => void others.push(had ? "cleared" : "interrupt"),
      end: () => void others.push("end"),
    },
  );
  const type = (text: string | Buffer): void =>
    void input.emit("data", typeof text === "string" ? Buffer.from(text) : text);
  return { made, type, lines, others };
}

describe("a line that is edited", () => {
  test("has arrow keys, and earlier lines with the arrow up, the ones with several lines too", () => {
    const { made, type, lines } = editor();
    made.remember(["oldest", "two\nlines"]);
    made.show("> ");
    type("helo\u001B[Dl\r");
    made.show("> ");
    type("\u001B[A\u001B[A\r");
    made.show("> ");
    type("\u001B[A\u001B[A\u001B[A!\r");
    expect(lines).toEqual(["hello", "two\nlines", "oldest!"]);
  });

  test("takes several lines: pasted, behind a backslash, with Alt-Enter and Ctrl-J; and as long a line as there is", () => {
    const { made, type, lines } = editor();
    for (const keys of [
      PASTE("a\n  b\r\nc"),
      "one\\\rtwo\\\rthree",
      "x\u001B\ry\nz",
      "ends in \\\\",
      "w".repeat(100_000),
    ]) {
      made.show("> ");
      type(`${keys}\r`);
    }
    expect(lines.slice(0, 4)).toEqual(["a\n  b\nc", "one\ntwo\nthree", "x\ny\nz", "ends in \\\\"]);
    expect(lines[4]).toHaveLength(100_000);
  });

  test("typed while nobody asks, it waits: whole lines are told, half of one stands in the next prompt, none answers a question", () => {
    const { made, type, lines } = editor();
    made.show("> ");
    type("first\rsecond\rhalf ");
    expect(lines).toEqual(["first", "second"]);
    made.show("Allow it? ", "answer");
    type("y\r");
    expect(lines).toEqual(["first", "second", "y"]);
    made.show("> ");
    type("a line\r");
    expect(lines.at(-1)).toBe("half a line");
  });

  test("Ctrl-C says whether something was typed, Ctrl-D ends, and letters cut in two are whole", () => {
    const { made, type, lines, others } = editor();
    made.show("> ");
    type("half\u0003");
    made.show("> ");
    type("\u0003");
    made.show("> ");
    const bytes = Buffer.from("Grüße 👩‍💻\r");
    for (const byte of bytes) type(Buffer.from([byte]));
    expect(lines).toEqual(["Grüße 👩‍💻"]);
    made.show("> ");
    type("\u0004");
    expect(others).toEqual(["cleared", "interrupt", "end"]);
    made.show("> "); // nothing comes of it any more
    type("x\r");
    expect(lines).toHaveLength(1);
  });
});
