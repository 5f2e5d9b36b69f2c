/** Whatever is used, let go of, failed and waited for in whichever order: the pool keeps its promises. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { parseConversationId } from "#log/ids";
import { Pool, type PoolLimits } from "#turn/pool";
import { type Pooled, PoolPart } from "#turn/pool-part";
import { PoolClock, settled } from "./pool-clock.ts";

type Move =
  /** `messages`: what it weighs after; `slow`: it is given back only when told. */
  | { readonly do: "use"; readonly id: string; readonly messages: number; readonly slow: boolean }
  | { readonly do: "end"; readonly nth: number }
  | { readonly do: "release"; readonly id: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "fail" }
  | { readonly do: "gone" };

const id = fc.constantFrom("a", "b", "c", "d");
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("use" as const),
      id,
      messages: fc.nat({ max: 6 }),
      slow: fc.boolean(),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("end" as const), nth: fc.nat({ max: 5 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("release" as const), id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.nat({ max: 1_500 }) }) },
  { weight: 1, arbitrary: fc.constant({ do: "fail" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "gone" as const }) },
);
const limits = fc.record({
  conversations: fc.nat({ max: 4 }),
  messages: fc.nat({ max: 12 }),
  processes: fc.nat({ max: 3 }),
  idleMs: fc.constantFrom(500, 1_000),
});

/** What is there of a conversation: nothing, one, or one that is given back. */
class Watched implements Pooled {
  users: number = 0;
  messages: number = 0;
  lastMs: number = 0;
  state: "held" | "leaving" | "gone" = "held";
  readonly given = Promise.withResolvers<void>();
  readonly wrong: string[];

  constructor(wrong: string[]) {
    this.wrong = wrong;
  }

  weight(): { messages: number; processes: number } {
    return { messages: this.messages, processes: 1 };
  }

  async letGo(): Promise<void> {
    if (this.users > 0 || this.state !== "held") this.wrong.push(`let go of while ${this.users} use it`);
    this.state = "leaving";
    await this.given.promise;
    this.state = "gone";
  }
}

async function run(given: PoolLimits, moves: readonly Move[]): Promise<void> {
  const clock = new PoolClock();
  const pool = new Pool({ ...given, clock });
  const made: { readonly id: string; readonly thing: Watched }[] = [];
  const fail = { next: false };
  const wrong: string[] = [];
  const all: Promise<unknown>[] = [];
  const part = new PoolPart<Watched>(pool, async (of) => {
    // One at a time: another is made when the one before was given back.
    if (made.some(({ id: other, thing }) => other === of && thing.state !== "gone"))
      wrong.push("two at once");
    if (fail.next) {
      fail.next = false;
      throw new Error("cannot be made");
    }
    const thing = new Watched(wrong);
    made.push({ id: of, thing });
    return thing;
  });
  const running: PromiseWithResolvers<void>[] = [];
  const use = (asked: Extract<Move, { do: "use" }>): void => {
    const over = Promise.withResolvers<void>();
    const done = part.use(parseConversationId(asked.id), async (thing) => {
      thing.users++;
      if (thing.state !== "held") wrong.push("given to a user after it was let go of");
      if (!asked.slow) thing.given.resolve();
      await over.promise;
      thing.messages = asked.messages;
      thing.lastMs = clock.nowMs();
      thing.users--;
    });
    running.push(over);
    all.push(done.catch((error: Error) => expect(error.message).toBe("cannot be made")));
  };
  const giveBack = (): void => {
    for (const { thing } of made) if (thing.state === "leaving") thing.given.resolve();
  };
  const check = (): void => {
    const held = made.filter(({ thing }) => thing.state === "held");
    const now = pool.use();
    if (now.inUse > 0) return;
    // What is held is what is counted, and within every limit; nothing of it was left for too long.
    expect(now.conversations).toBe(held.length);
    expect(now.messages).toBe(held.reduce((sum, { thing }) => sum + thing.messages, 0));
    expect(now.conversations).toBeLessThanOrEqual(given.conversations);
    expect(now.messages).toBeLessThanOrEqual(given.messages);
    expect(now.processes).toBeLessThanOrEqual(given.processes);
    for (const { thing } of held) expect(clock.nowMs() - thing.lastMs).toBeLessThan(given.idleMs);
  };
  for (const asked of moves) {
    if (asked.do === "use") use(asked);
    else if (asked.do === "end") running.splice(asked.nth % (running.length || 1), 1)[0]?.resolve();
    else if (asked.do === "release") void part.letGo(parseConversationId(asked.id));
    else if (asked.do === "wait") await clock.advance(asked.ms);
    else if (asked.do === "fail") fail.next = true;
    else giveBack();
    await settled();
    check();
  }
  for (const over of running) over.resolve();
  for (let rest = 0; rest < moves.length; rest++) {
    giveBack();
    await settled();
  }
  await Promise.all(all);
  expect(wrong).toEqual([]);
  check();
  const closing = pool.close();
  await settled();
  giveBack();
  await closing;
  expect(pool.use()).toEqual({ conversations: 0, messages: 0, processes: 0, inUse: 0 });
  expect(made.filter(({ thing }) => thing.state !== "gone")).toEqual([]);
}

test("nothing goes while it is used, one is there at a time, limits hold when nothing is in use, failures leave nothing", () =>
  fc.assert(
    fc.asyncProperty(limits, fc.array(move, { maxLength: 40 }), (given, moves) => run(given, moves)),
    { numRuns: 150 },
  ));
