/** What a session shows of itself, compared with the turns it carried. */
import { describe, expect, test } from "vitest";
import type { EntryId } from "#log/ids";
import { withPreamble } from "#upstream/rules/preamble";
import { NO_PRIOR_CONTEXT } from "#upstream/rules/prior-context";
import { type SessionTurn, compareTurns, type MessageText } from "#upstream/rules/transcript";

const id = (word: string): EntryId => word;
const user = (text: string, ...parts: readonly string[]): MessageText =>
  parts.length === 0
    ? { role: "user", text }
    : { role: "user", text: [text, ...parts].join(""), parts: [text, ...parts] };
const agent = (text: string): MessageText => ({ role: "assistant", text });

/** A prompt as it is sent to a session that is told these messages. */
const preamble = (text: string, ...told: readonly string[]): MessageText => {
  const messages = told.map((words) => ({ role: "user", text: words, entryId: id(words) }) as const);
  return user(withPreamble({ ...NO_PRIOR_CONTEXT, messages }, text));
};

/** A turn by its words; what did not end is given no answer. */
const turn = (
  asked: string | MessageText,
  answered: string | null,
  more: Partial<SessionTurn> = {},
): SessionTurn => {
  const said = typeof asked === "string" ? user(asked) : asked;
  const name = said.text.slice(0, 4);
  return {
    prompt: id(`${name}?`),
    node: id(answered === null ? `${name}…` : `${name}!`),
    request: said,
    answered,
    knownUpTo: null,
    hasContext: false,
    quoted: null,
    retold: false,
    inherited: false,
    forgot: false,
    ...more,
  };
};

const compare = (
  shown: readonly MessageText[],
  ...oldestFirst: readonly SessionTurn[]
): readonly [whole: boolean, held: string | null] => {
  const { whole, knownUpTo: held } = compareTurns(shown, oldestFirst.toReversed());
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
    expect(compare([...ONE, user("two")], done, turn("two", null, { knownUpTo: id("two…") }))).toEqual([
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
    const first = turn("one", null, { hasContext: true });
    const told = user("[Earlier conversation, restored from its log]\n> zero\n\none");
    expect(compare([told], first)).toEqual([true, "one?"]);
    expect(compare([user("one")], first)).toEqual([true, null]);
    expect(compare([told, user("one")], first, turn("one", null))).toEqual([true, "one?"]);
    expect(compare([user("one")], turn("one", null), turn("one", null))).toEqual([true, null]);
  });

  test("has lost something when a turn it was taken to hold by itself is not there any more", () => {
    const [done, stopped] = [turn("one", "Uno."), turn("stop", null, { knownUpTo: id("stop…") })];
    const after = [user("two"), agent("Due.")];
    expect(
      compare([...ONE, user("stop"), agent("No"), ...after], done, stopped, turn("two", "Due.")),
    ).toEqual([true, "two!"]);
    expect(compare([...ONE, user("stop"), ...after], done, stopped, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    expect(compare([...ONE, ...after], done, stopped, turn("two", "Due."))).toEqual([false, null]);
    const retold = turn("stop", null, { retold: true });
    expect(compare([...ONE, ...after], done, retold, turn("two", "Due."))).toEqual([true, "two!"]);
  });

  test("holds nothing for certain where a turn that broke off is gone and what followed was not told it again", () => {
    const [done, broken] = [turn("one", "Uno."), turn("stop", null)];
    expect(compare([...ONE, user("stop"), ...TWO], done, broken, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    expect(compare([...ONE, ...TWO], done, broken, turn("two", "Due."))).toEqual([true, null]);
    const told = turn("stop", null, { hasContext: true });
    expect(compare([...ONE, user("stop"), ...TWO], done, told, turn("two", "Due."))).toEqual([true, null]);
    expect(compare([...ONE, preamble("stop", "zero"), ...TWO], done, told, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
  });

  test("holds nothing for certain where a turn it answered is there without what was told with it", () => {
    const [first, second] = [turn("one", "Uno.", { hasContext: true, quoted: 2 }), turn("two", "Due.")];
    const told = preamble("one", "zero", "nought");
    expect(compare([told, agent("Uno."), ...TWO], first, second)).toEqual([true, "two!"]);
    // The first sending of it was refused or broke off, the second was not told again.
    expect(compare([told, user("one"), agent("Uno."), ...TWO], first, second)).toEqual([true, "two!"]);
    expect(compare([told, agent("U"), ...ONE, ...TWO], first, second)).toEqual([true, "two!"]);
    expect(compare([...ONE, ...TWO], first, second)).toEqual([true, null]);
    expect(compare([preamble("one", "zero"), agent("Uno."), ...TWO], first, second)).toEqual([true, null]);
    const again = turn("two", "Due.", { hasContext: true, quoted: 3 });
    const all = preamble("two", "zero", "nought", "one");
    expect(compare([...ONE, all, agent("Due.")], { ...first, retold: true }, again)).toEqual([true, "two!"]);
  });

  test("holds nothing for certain where the remains of a turn that broke off could be another of the same words", () => {
    const [done, broken] = [
      turn("one", "Uno.", { hasContext: true, quoted: 1 }),
      turn("one", null, { hasContext: true, quoted: 1 }),
    ];
    expect(compare([preamble("one", "other"), agent("Uno.")], done, broken)).toEqual([true, null]);
    expect(compare([preamble("one", "zero"), agent("Uno.")], done, { ...broken, quoted: 2 })).toEqual([
      true,
      "one!",
    ]);
  });

  test("holds what it was made with only if that is there, in front of the turns it carried", () => {
    const made = turn("one", "Uno.", { inherited: true });
    const open = turn("open", null, { inherited: true });
    const steered = turn("also", "", { inherited: true });
    expect(compare([...ONE, ...TWO], made, turn("two", "Due."))).toEqual([true, "two!"]);
    expect(compare(TWO, made, turn("two", "Due."))).toEqual([true, null]);
    expect(compare([...TWO, ...ONE], made, turn("two", "Due."))).toEqual([false, null]);
    expect(compare([...ONE, user("open"), ...TWO], made, open, turn("two", "Due."))).toEqual([true, "two!"]);
    expect(compare([...ONE, ...TWO], made, open, turn("two", "Due."))).toEqual([true, null]);
    expect(compare([user("also\none"), agent("Uno."), ...TWO], steered, made, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    const [asked, then] = [user("also"), user("and")];
    const unanswered = turn("and", "", { inherited: true });
    expect(compare([asked, then, ...ONE, ...TWO], steered, unanswered, made, turn("two", "Due."))).toEqual([
      true,
      "two!",
    ]);
    // The turn it carried is gone, and the same words that it was made with stand in its place.
    expect(compare(ONE, made, turn("one", "Uno."))).toEqual([true, null]);
    expect(compare([...ONE, ...ONE], made, turn("one", "Uno."))).toEqual([true, "one!"]);
    // Nothing was sent to it yet.
    expect(compare([...ONE, ...TWO], made, { ...turn("two", "Due."), inherited: true })).toEqual([
      true,
      "two!",
    ]);
    expect(compare(TWO, made, { ...turn("two", "Due."), inherited: true })).toEqual([true, null]);
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
