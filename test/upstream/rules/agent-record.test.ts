/** The rule that finds unseen turns, for any history and any split of it. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { ContentBlock, Message } from "#log/message";
import { unseenMessages } from "#upstream/rules/agent-record";
import type { MessageText } from "#upstream/rules/transcript";

interface Native {
  readonly id: number;
  readonly message: Message;
}

interface Turn {
  readonly asked: number;
  readonly steps: readonly { readonly words: boolean; readonly calls: number }[];
  readonly again: number;
}

const someTurn: fc.Arbitrary<Turn> = fc.record({
  asked: fc.integer({ min: 1, max: 2 }),
  steps: fc.array(fc.record({ words: fc.boolean(), calls: fc.integer({ min: 0, max: 2 }) }), {
    maxLength: 3,
  }),
  // How often the prompt failed and was sent again.
  again: fc.constantFrom(0, 0, 0, 1, 2),
});
const someHistory = fc.array(someTurn, { minLength: 1, maxLength: 6 });

const user = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] });
const reply = (content: readonly ContentBlock[]): Message => ({ role: "assistant", content });

/** The messages of one turn: prompts, steps with tools and their results, a last word. Words are never the same. */
function turnMessages(turn: Turn, name: string): readonly Message[] {
  const asked = Array.from({ length: turn.asked }, (_, at) => user(`ask ${name}.${at}`));
  const steps = turn.steps.flatMap(({ words, calls }, step) => {
    const ids = Array.from({ length: calls }, (_, at) => `${name}.${step}.${at}`);
    const text: readonly ContentBlock[] = words ? [{ type: "text", text: `step ${name}.${step} ` }] : [];
    const uses = ids.map((id): ContentBlock => ({ type: "toolCall", id, name: "do", input: {} }));
    const results = ids.map((id): Message => ({ role: "toolResult", toolCallId: id, content: [] }));
    return [reply([...text, ...uses]), ...results];
  });
  return [...asked, ...steps, reply([{ type: "text", text: `done ${name}` }])];
}

function native(messages: readonly Message[]): readonly Native[] {
  return messages.map((message, id) => ({ id, message }));
}

/** What our log has of these, newest first, as it is compared. */
function known(messages: readonly Message[], count: number): readonly MessageText[] {
  const said = messages.flatMap((message): readonly MessageText[] => {
    if (message.role === "toolResult") return [];
    const text = message.content.map((block) => (block.type === "text" ? block.text : "")).join("");
    return text === "" ? [] : [{ role: message.role, text }];
  });
  return said.toReversed().slice(0, count);
}

/** None also where nothing of ours is found. */
function unseenIn(theirs: readonly Native[], ours: readonly MessageText[]): readonly Native[] {
  return unseenMessages(theirs, ours) ?? [];
}

const textsKnown = fc.constantFrom(2, 3, 6, 200);

describe("unseen turns", () => {
  test("are exactly those after ours, wherever the history is split, and none once they were adopted", () => {
    fc.assert(
      fc.property(someHistory, someHistory, textsKnown, (before, after, count) => {
        const ours = before.flatMap((turn, at) => turnMessages(turn, `b${at}`));
        const theirs = after.flatMap((turn, at) => turnMessages(turn, `a${at}`));
        const record = native([...ours, ...theirs]);
        expect(unseenMessages(record, known(ours, count))).toEqual(record.slice(ours.length));
        expect(unseenMessages(record, known([...ours, ...theirs], count))).toEqual([]);
      }),
    );
  });

  test("are whole turns: what is cut off anywhere is left, and taken with its end the next time", () => {
    fc.assert(
      fc.property(someHistory, someHistory, fc.nat(), (before, after, cut) => {
        const ours = before.flatMap((turn, at) => turnMessages(turn, `b${at}`));
        const turns = after.map((turn, at) => turnMessages(turn, `a${at}`));
        const theirs = turns.flat();
        const shown = theirs.slice(0, cut % (theirs.length + 1));
        const record = native([...ours, ...shown]);
        const first = unseenIn(record, known(ours, 6)).map(({ message }) => message);
        // Never an open call at the end, never half a pair.
        const calls = first.flatMap(({ content }) => content.filter((block) => block.type === "toolCall"));
        const results = first.filter(({ role }) => role === "toolResult");
        expect(results).toHaveLength(calls.length);
        expect(first).toEqual(shown.slice(0, first.length));
        expect(first.at(-1)?.role ?? "assistant").toBe("assistant");
        const finished = turns.filter((_, at) => turns.slice(0, at + 1).flat().length <= shown.length).flat();
        expect(first.length).toBeGreaterThanOrEqual(finished.length);
      }),
    );
  });

  test("are never our own, though a prompt failed and was sent again", () => {
    fc.assert(
      fc.property(someHistory, someHistory, textsKnown, (before, after, count) => {
        const ours = before.flatMap((turn, at) => turnMessages(turn, `b${at}`));
        const attempts = before.flatMap((turn, at) => {
          const whole = turnMessages(turn, `b${at}`);
          return [...Array.from({ length: turn.again }, () => whole).flat(), ...whole];
        });
        const theirs = after.flatMap((turn, at) => turnMessages(turn, `a${at}`));
        const record = native([...attempts, ...theirs]);
        const unseen = unseenIn(record, known(ours, count)).map(({ message }) => message);
        expect(unseen.length === 0 || unseen.length === theirs.length).toBe(true);
        expect(unseenIn(native(attempts), known(ours, count))).toEqual([]);
        // A prompt in one message is recognised however often it was sent.
        if (before.every(({ asked }) => asked === 1)) expect(unseen).toEqual(theirs);
      }),
    );
  });

  test("are not looked for in a record that has lost its end, even if old words stand in it again", () => {
    const exchange = (name: string): readonly Message[] => [
      user(name),
      reply([{ type: "text", text: name }]),
    ];
    const ours = ["hello", "a", "hello"].flatMap(exchange);
    expect(unseenMessages(native(["hello", "a"].flatMap(exchange)), known(ours, 6))).toBeNull();
    const between = ["a", "hello", "b", "hello"].flatMap(exchange);
    expect(unseenMessages(native(between), known(["a", "hello"].flatMap(exchange), 6))).toBeNull();
    expect(unseenMessages(native([]), known(ours, 6))).toBeNull();
    expect(unseenMessages(native(ours), [])).toBeNull();
  });

  test("are found behind the preamble of the prompt they follow", () => {
    const told = [user("[restored]\n\nhello"), reply([{ type: "text", text: "hi" }])];
    const more = [user("more"), reply([{ type: "text", text: "yes" }])];
    const unseen = unseenIn(native([...told, ...more]), known([user("hello"), ...told.slice(1)], 6));
    expect(unseen.map(({ message }) => message)).toEqual(more);
  });

  test("do not wait for a result that will not come: the next prompt is made without it", () => {
    const call: ContentBlock = { type: "toolCall", id: "x", name: "do", input: {} };
    const ours = [user("hello"), reply([{ type: "text", text: "hi" }])];
    const stopped = [user("do it"), reply([call])];
    const then = [user("never mind"), reply([{ type: "text", text: "fine" }])];
    const adopt = (theirs: readonly Message[]): number =>
      unseenIn(native([...ours, ...theirs]), known(ours, 6)).length;
    expect([adopt(stopped), adopt([...stopped, ...then])]).toEqual([0, 4]);
  });
});
