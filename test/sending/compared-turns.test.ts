/** What a session shows of itself, compared with the turns it carried. */
import { describe, expect, test } from "vitest";
import type { EntryId } from "#log/ids";
import { type CarriedTurn, compareTurns, type Said } from "#sending/rules/transcript";

const id = (word: string): EntryId => word;
const user = (text: string, ...parts: readonly string[]): Said =>
  parts.length === 0
    ? { role: "user", text }
    : { role: "user", text: [text, ...parts].join(""), parts: [text, ...parts] };
const agent = (text: string): Said => ({ role: "assistant", text });

/** A turn by its words; what did not end is given no answer. */
const turn = (
  asked: string | Said,
  answered: string | null,
  more: Partial<CarriedTurn> = {},
): CarriedTurn => {
  const said = typeof asked === "string" ? user(asked) : asked;
  const name = said.text.slice(0, 4);
  return {
    prompt: id(`${name}?`),
    node: id(answered === null ? `${name}…` : `${name}!`),
    asked: said,
    answered,
    kept: null,
    told: false,
    forgot: false,
    ...more,
  };
};

const compare = (
  shown: readonly Said[],
  ...oldestFirst: readonly CarriedTurn[]
): readonly [whole: boolean, held: string | null] => {
  const { whole, held } = compareTurns(shown, oldestFirst.toReversed());
  return [whole, held];
};

const ONE = [user("one"), agent("Uno.")];
const TWO = [user("two"), agent("Due.")];

describe("a session that shows its history", () => {
  test("is whole when every turn it answered is there, in order", () => {
    expect(compare([...ONE, ...TWO], turn("one", "Uno."), turn("two", "Due."))).toEqual([true, "two!"]);
    expect(compare(TWO, turn("one", "Uno."), turn("two", "Due."))).toEqual([false, null]);
    expect(compare(ONE, turn("one", "Uno."), turn("two", "Due."))).toEqual([false, null]);
    expect(compare([...TWO, ...ONE], turn("one", "Uno."), turn("two", "Due."))).toEqual([false, null]);
    expect(compare([], turn("one", "Uno."))).toEqual([false, null]);
  });

  test("is not whole when someone has answered behind what we know; a prompt without an answer says nothing", () => {
    expect(compare([...ONE, ...TWO], turn("one", "Uno."))).toEqual([false, null]);
    expect(compare([...ONE, user("two")], turn("one", "Uno."))).toEqual([true, "one!"]);
  });

  test("may hold turns we know from elsewhere in a preamble, prompts that failed, and commands", () => {
    const told = user("[Earlier conversation]\n> other\n\ntwo");
    expect(
      compare([...ONE, user("failed"), told, agent("Due.")], turn("one", "Uno."), turn("two", "Due.")),
    ).toEqual([true, "two!"]);
    const command = turn("/cost", "Total: $0.01");
    expect(compare([...ONE, ...TWO], turn("one", "Uno."), command, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    expect(
      compare(
        [...ONE, user("/cost"), agent("$0"), ...TWO],
        turn("one", "Uno."),
        command,
        turn("two", "Due."),
      ),
    ).toEqual([true, "two!"]);
    expect(compare(ONE, turn("one", "Uno."), command)).toEqual([true, "/cos!"]);
  });

  test("has a file or a link in a prompt in a form of its own", () => {
    const asked = user("read ", "file:///a.ts\nconst a = 1;\n", " please");
    const claude =
      'read [@a.ts](file:///a.ts) please\n<context ref="file:///a.ts">\nconst a = 1;\n\n</context>';
    const only = user("", "file:///a.ts\nconst a = 1;");
    const [there, known] = [[user(claude), agent("Uno.")], turn(asked, "Uno.")];
    expect(compare(there, known)).toEqual([true, "read!"]);
    expect(compare(there, turn(only, "Uno."))).toEqual([true, "file!"]);
    expect(compare([user("something else"), agent("Uno.")], known)).toEqual([false, null]);
  });

  test("holds a turn that broke off as far as its prompt, and one that it stopped itself to its end", () => {
    const done = turn("one", "Uno.");
    expect(compare([...ONE, user("two")], done, turn("two", null))).toEqual([true, "two?"]);
    expect(compare([...ONE, user("two"), agent("Du")], done, turn("two", null))).toEqual([true, "two?"]);
    expect(compare([...ONE, user("two")], done, turn("two", null, { kept: id("two…") }))).toEqual([
      true,
      "two…",
    ]);
    expect(compare(ONE, done, turn("two", null))).toEqual([true, "one!"]);
    expect(compare([...ONE, user("two")], done, turn("two", null), turn("three", null))).toEqual([
      true,
      "two?",
    ]);
    expect(compare([...ONE, user("thre")], done, turn("two", null), turn("thre", null))).toEqual([
      true,
      "one!",
    ]);
    expect(compare([user("two")], turn("two", null))).toEqual([true, "two?"]);
    expect(compare([], turn("two", null))).toEqual([true, null]);
  });

  test("that was told everything with a prompt holds it only if that is there too, and not the same words sent later", () => {
    const first = turn("one", null, { told: true });
    const told = user("[Earlier conversation, restored from its log]\n> zero\n\none");
    expect(compare([told], first)).toEqual([true, "one?"]);
    expect(compare([user("one")], first)).toEqual([true, null]);
    expect(compare([told, user("one")], first, turn("one", null))).toEqual([true, "one?"]);
    expect(compare([user("one")], turn("one", null), turn("one", null))).toEqual([true, null]);
  });

  test("has lost something when a turn it was taken to hold by itself is not there any more", () => {
    const [done, stopped] = [turn("one", "Uno."), turn("stop", null, { kept: id("stop…") })];
    const after = [user("two"), agent("Due.")];
    expect(
      compare([...ONE, user("stop"), agent("No"), ...after], done, stopped, turn("two", "Due.")),
    ).toEqual([true, "two!"]);
    expect(compare([...ONE, user("stop"), ...after], done, stopped, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    expect(compare([...ONE, ...after], done, stopped, turn("two", "Due."))).toEqual([false, null]);
    expect(compare([...ONE, ...after], done, turn("stop", null), turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
  });

  test("holds nothing for certain once it has made a summary, until it was told again", () => {
    const [done, forgot] = [turn("one", "Uno."), turn("sum", null, { forgot: true })];
    expect(compare([...ONE, user("sum"), agent("Ok.")], done, forgot)).toEqual([true, null]);
    expect(compare([...ONE, user("sum"), agent("Ok."), ...TWO], done, forgot, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
  });

  test("has learnt nothing from a command that was sent without what it lacked", () => {
    expect(compare(ONE, turn("one", "Uno."), turn("/cost", null))).toEqual([true, "one!"]);
    expect(compare(ONE, turn("one", "Uno."), turn("/cost", "$1"))).toEqual([true, "/cos!"]);
  });

  test("may have answered with tools alone", () => {
    expect(compare([user("one"), ...TWO], turn("one", ""), turn("two", "Due."))).toEqual([true, "two!"]);
    expect(compare([...TWO, user("one")], turn("two", "Due."), turn("one", ""))).toEqual([true, "one!"]);
  });
});
