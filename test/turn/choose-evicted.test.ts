/** Which of the held things go: the rule alone. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseEvicted, type PoolLimits } from "#turn/pool";

const NONE = Number.POSITIVE_INFINITY;
const limits = (given: Partial<PoolLimits>): PoolLimits => ({
  conversations: NONE,
  messages: NONE,
  processes: NONE,
  idleMs: NONE,
  ...given,
});
const thing = (
  name: string,
  more: { usedAtMs?: number; messages?: number; processes?: number; inUse?: boolean } = {},
) => {
  const { usedAtMs = 0, messages = 1, processes = 0, inUse = false } = more;
  return { name, usedAtMs, inUse, weight: { messages, processes } };
};
const gone = (held: readonly ReturnType<typeof thing>[], given: Partial<PoolLimits>, nowMs = 0) =>
  chooseEvicted(held, limits(given), nowMs).map(({ name }) => name);

test("the least recently used go first, and only as many as must", () => {
  const held = [thing("a"), thing("b"), thing("c")];
  expect(gone(held, { conversations: 2 })).toEqual(["a"]);
  expect(gone(held, { conversations: 0 })).toEqual(["a", "b", "c"]);
  expect(gone(held, {})).toEqual([]);
});

test("what is in use counts and stays", () => {
  const held = [thing("a", { inUse: true }), thing("b"), thing("c")];
  expect(gone(held, { conversations: 1 })).toEqual(["b", "c"]);
  expect(gone([thing("a", { inUse: true })], { conversations: 0, messages: 0, idleMs: 0 }, 9)).toEqual([]);
});

test("by weight: one that does not count towards the limit that is passed stays", () => {
  const held = [thing("text", { messages: 5 }), thing("agent", { messages: 0, processes: 1 }), thing("b")];
  expect(gone(held, { processes: 0 })).toEqual(["agent"]);
  expect(gone(held, { messages: 1 })).toEqual(["text"]);
});

test("what nobody used for so long goes, whatever room there is", () => {
  const held = [thing("old", { usedAtMs: 0 }), thing("new", { usedAtMs: 60 })];
  expect(gone(held, { idleMs: 100 }, 99)).toEqual([]);
  expect(gone(held, { idleMs: 100 }, 100)).toEqual(["old"]);
});

const arbitrary = fc.record({
  usedAtMs: fc.nat({ max: 100 }),
  messages: fc.nat({ max: 20 }),
  processes: fc.nat({ max: 3 }),
  inUse: fc.boolean(),
});
const limit = fc.oneof(fc.nat({ max: 30 }), fc.constant(NONE));

test("after it nothing idle is left, no limit is passed but by what is in use, and no more went than had to", () =>
  fc.assert(
    fc.property(
      fc.array(arbitrary, { maxLength: 12 }),
      fc.record({ conversations: limit, messages: limit, processes: limit, idleMs: limit }),
      (given, most) => {
        const held = given
          .toSorted((one, other) => one.usedAtMs - other.usedAtMs)
          .map((one, n) => thing(String(n), one));
        const went = new Set(chooseEvicted(held, most, 100));
        const stay = held.filter((one) => !went.has(one));
        const idle = (one: (typeof held)[number]): boolean => 100 - one.usedAtMs >= most.idleMs;
        const total = (of: typeof held) => ({
          conversations: of.length,
          messages: of.reduce((sum, { weight }) => sum + weight.messages, 0),
          processes: of.reduce((sum, { weight }) => sum + weight.processes, 0),
        });
        const passed = (of: typeof held): boolean => {
          const { conversations, messages, processes } = total(of);
          return conversations > most.conversations || messages > most.messages || processes > most.processes;
        };
        expect([...went].filter(({ inUse }) => inUse)).toEqual([]);
        expect(stay.filter((one) => !one.inUse && idle(one))).toEqual([]);
        // Whatever is over is in use, or weighs nothing of what is too much.
        const over = total(stay);
        for (const name of ["messages", "processes"] as const)
          if (over[name] > most[name])
            expect(stay.filter((one) => !one.inUse && one.weight[name] > 0)).toEqual([]);
        if (over.conversations > most.conversations) expect(stay.filter(({ inUse }) => !inUse)).toEqual([]);
        // The most recently used of those that went for their weight would pass a limit if it stayed.
        for (const one of went)
          if (!idle(one))
            expect(
              passed(
                [...stay, ...went].filter(
                  (other) => other === one || stay.includes(other) || held.indexOf(other) > held.indexOf(one),
                ),
              ),
            ).toBe(true);
      },
    ),
  ));
