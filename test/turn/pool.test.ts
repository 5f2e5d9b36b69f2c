/** Holding things between uses: made once, never taken from under whoever uses them, given back in the background. */
import { expect, test } from "vitest";
import { parseConversationId } from "#log/ids";
import { Pool, type PoolOptions } from "#turn/pool";
import { type Pooled, PoolPart } from "#turn/pool-part";
import { PoolClock, settled } from "./pool-clock.ts";

class Thing implements Pooled {
  readonly name: string;
  readonly log: string[];
  messages: number = 1;
  readonly closing = Promise.withResolvers<void>();

  constructor(name: string, log: string[]) {
    this.name = name;
    this.log = log;
    this.closing.resolve();
  }

  weight(): { messages: number; processes: number } {
    return { messages: this.messages, processes: 1 };
  }

  async letGo(): Promise<void> {
    this.log.push(`-${this.name}`);
    await this.closing.promise;
  }
}

function rig(options: PoolOptions, make?: (name: string, log: string[]) => Promise<Thing>) {
  const clock = new PoolClock();
  const log: string[] = [];
  const pool = new Pool({ clock, ...options });
  const part = new PoolPart<Thing>(pool, async (id) => {
    log.push(`+${id}`);
    return make === undefined ? new Thing(id, log) : make(id, log);
  });
  const use = (id: string, work: (thing: Thing) => Promise<void> = async () => undefined) =>
    part.use(parseConversationId(id), work);
  return { clock, log, pool, part, use };
}

test("what is held is used again; the least recently used goes when there are too many", async () => {
  const { log, use, pool } = rig({ conversations: 2 });
  await use("a");
  await use("b");
  await use("a");
  await use("c");
  expect(log).toEqual(["+a", "+b", "+c", "-b"]);
  expect(pool.use()).toEqual({ conversations: 2, messages: 2, processes: 2, inUse: 0 });
});

test("rebuild holds nothing after a call; live holds everything", async () => {
  const rebuild = rig({ mode: "rebuild" });
  await rebuild.use("a");
  await rebuild.use("a");
  expect(rebuild.log).toEqual(["+a", "-a", "+a", "-a"]);
  const live = rig({ mode: "live" });
  for (let n = 0; n < 1_000; n++) await live.use(`c${n}`);
  await live.clock.advance(10 ** 12);
  expect(live.pool.use().conversations).toBe(1_000);
});

test("many who ask at once get the same one, made once, and another conversation is not waited for", async () => {
  const ready = Promise.withResolvers<void>();
  const { log, use } = rig({}, async (name, out) => {
    if (name === "slow") await ready.promise;
    return new Thing(name, out);
  });
  const seen: Thing[] = [];
  const slow = Promise.all(
    Array.from({ length: 5 }, () => use("slow", async (thing) => void seen.push(thing))),
  );
  await use("quick");
  expect(seen).toEqual([]);
  ready.resolve();
  await slow;
  expect(new Set(seen).size).toBe(1);
  expect(log).toEqual(["+slow", "+quick"]);
});

test("one that cannot be made leaves nothing behind; the next who asks has it made", async () => {
  let fails = true;
  const { use, pool, log } = rig({}, async (name, out) => {
    if (fails) throw new Error("no");
    return new Thing(name, out);
  });
  const asked = await Promise.allSettled([use("a"), use("a")]);
  expect(asked.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(pool.use()).toEqual({ conversations: 0, messages: 0, processes: 0, inUse: 0 });
  fails = false;
  await use("a");
  expect(log).toEqual(["+a", "+a"]);
});

test("what is in use stays, whatever the limits and the clock say, and goes when it is used no more", async () => {
  const { log, use, pool, clock } = rig({ conversations: 1, idleMs: 1_000 });
  const done = Promise.withResolvers<void>();
  const long = use("long", () => done.promise);
  await use("other");
  await clock.advance(60_000);
  expect(log).toEqual(["+long", "+other", "-other"]);
  expect(pool.use()).toMatchObject({ conversations: 1, inUse: 1 });
  done.resolve();
  await long;
  expect(log).not.toContain("-long");
  await clock.advance(1_000);
  expect(log).toContain("-long");
});

test("what nobody uses goes by itself after its time, and not before", async () => {
  const { log, use, clock } = rig({ idleMs: 1_000 });
  await use("a");
  await clock.advance(600);
  await use("b");
  await clock.advance(399);
  expect(log).toEqual(["+a", "+b"]);
  await clock.advance(1);
  expect(log).toEqual(["+a", "+b", "-a"]);
  await clock.advance(600);
  expect(log).toEqual(["+a", "+b", "-a", "-b"]);
});

test("one that grew over the limit of weight goes; the caller does not wait for it, who needs it again does", async () => {
  const closing = Promise.withResolvers<void>();
  const { log, use } = rig({ messages: 10 });
  await use("a", async (thing) => {
    thing.messages = 11;
    Object.assign(thing, { closing });
  });
  expect(log).toEqual(["+a", "-a"]);
  const again = use("a");
  await settled();
  expect(log).toEqual(["+a", "-a"]);
  closing.resolve();
  await again;
  expect(log).toEqual(["+a", "-a", "+a"]);
});

test("two users of one pool share its limits, and not what they hold", async () => {
  const clock = new PoolClock();
  const log: string[] = [];
  const pool = new Pool({ clock, processes: 1 });
  const [one, other] = ["one", "other"].map(
    (name) => new PoolPart<Thing>(pool, (id) => new Thing(`${name}/${id}`, log)),
  );
  const id = parseConversationId("c");
  await one?.use(id, async () => undefined);
  await other?.use(id, async () => undefined);
  expect(log).toEqual(["-one/c"]);
  expect(other?.get(id)?.name).toBe("other/c");
});

test("what is let go of by name goes at once, or after the work with it", async () => {
  const { log, use, part } = rig({});
  const id = parseConversationId("a");
  await use("a", async () => {
    await part.letGo(id);
    expect(log).toEqual(["+a"]);
    expect(part.get(id)).not.toBeNull();
  });
  expect(log).toEqual(["+a", "-a"]);
  await use("a");
  await part.letGo(id);
  expect(log).toEqual(["+a", "-a", "+a", "-a"]);
});

test("a pool that is closed gives everything back, and holds nothing more; what fails to go does not keep it open", async () => {
  const { log, use, pool } = rig({});
  await use(
    "a",
    async (thing) => Object.assign(thing, { letGo: () => Promise.reject(new Error("stuck")) }) as never,
  );
  await use("b");
  await pool.close();
  expect(log).toEqual(["+a", "+b", "-b"]);
  await use("c");
  expect(pool.use()).toMatchObject({ conversations: 0 });
});

test.each([
  [{ mode: "warm" }, "mode"],
  [{ conversations: -1 }, "conversations"],
  [{ processes: Number.NaN }, "processes"],
  [{ messages: "many" }, "messages"],
  [{ address: "" }, "address"],
  [{ address: "x".repeat(1_025) }, "address"],
])("%j is the caller's mistake, and is named", (options, name) => {
  expect(() => new Pool(options as PoolOptions)).toThrow(
    expect.objectContaining({ code: "invalid_request", details: { name } }),
  );
});

test("limits may be given in every mode: they count in hybrid, and every combination serves one turn after another", async () => {
  const limits = ["conversations", "messages", "processes", "idleMs"] as const;
  for (const mode of ["live", "rebuild", "hybrid", undefined] as const)
    for (const name of limits)
      for (const limit of [0, 1, Number.POSITIVE_INFINITY]) {
        const { use, pool, log } = rig({ ...(mode === undefined ? {} : { mode }), [name]: limit });
        for (const id of ["a", "b", "a"]) await use(id);
        const made = log.filter((line) => line.startsWith("+")).length;
        if (mode === "live") expect([made, pool.use().conversations], name).toEqual([2, 2]);
        if (mode === "rebuild") expect([made, pool.use().conversations], name).toEqual([3, 0]);
        await pool.close();
      }
});
