/**
 * Several hosts with one log and a pool each, in any order of prompts, slow answers, takeovers, evictions, waits and reads that
 * fail: every answer was given to what the log said, every prompt that was answered is in it once, one turn at a time.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentResult } from "#agent/agent-options";
import { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { ContextMessage } from "#log/projections/pairs";
import { decorateStore } from "#store/decorate";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { Pool, type PoolOptions } from "#turn/pool";
import { PoolClock, settled } from "../turn/pool-clock.ts";
import { ScriptedModel } from "./scripted-model.ts";

type Move =
  /** `via`: through the pool's queue, or straight to the agent. */
  | {
      readonly do: "send";
      readonly host: number;
      readonly id: string;
      readonly slow: boolean;
      readonly via: "pool" | "agent";
    }
  | { readonly do: "answer"; readonly nth: number }
  | { readonly do: "append" | "title"; readonly host: number; readonly id: string }
  | { readonly do: "look" | "release"; readonly host: number; readonly id: string }
  | { readonly do: "wait"; readonly ms: number }
  | { readonly do: "fail"; readonly host: number };

const host = fc.nat({ max: 1 });
const id = fc.constantFrom("a", "b", "c");
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("send" as const),
      host,
      id,
      slow: fc.boolean(),
      via: fc.constantFrom("pool" as const, "agent" as const),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer" as const), nth: fc.nat({ max: 4 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("append" as const, "title" as const), host, id }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("look" as const, "release" as const), host, id }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("wait" as const), ms: fc.constantFrom(400, 1_500) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("fail" as const), host }) },
);
const pools: fc.Arbitrary<PoolOptions> = fc.oneof(
  fc.constant({ mode: "live" } as const),
  fc.constant({ mode: "rebuild" } as const),
  fc.record({ conversations: fc.nat({ max: 3 }), messages: fc.nat({ max: 12 }), idleMs: fc.constant(1_000) }),
);

const userTexts = (messages: readonly Pick<ContextMessage, "role" | "content">[]): readonly string[] =>
  messages.flatMap(({ role, content }) =>
    role === "user" ? content.flatMap((block) => (block.type === "text" ? [block.text] : [])) : [],
  );

interface Gate {
  readonly open: () => void;
}

function hostOn(backing: ReturnType<typeof inMemoryBacking>, clock: PoolClock, options: PoolOptions) {
  const fail = { next: false };
  const store = decorateStore(inMemoryStore({ backing }), {
    verbs: (space) => ({
      window: (request) => {
        if (!fail.next || request.limit === 0) return space.window(request);
        fail.next = false;
        return Promise.reject(new LogError("store_failed", "The disk is away for a moment"));
      },
    }),
  });
  const holdfast = new Holdfast(store, "default");
  const gates: Gate[] = [];
  const slow = { next: false };
  // It answers with the words it was sent, so that an answer to something older shows.
  const answer = (asked: {
    readonly prompt: readonly { readonly role: string; readonly content: unknown }[];
  }) => {
    const sent = asked.prompt.flatMap(({ role, content }) =>
      role === "user" ? (content as readonly { readonly text?: string }[]).map(({ text = "" }) => text) : [],
    );
    const text = sent.filter((words) => words.startsWith("say ")).join("|");
    if (!slow.next) return { text };
    slow.next = false;
    const until = Promise.withResolvers<void>();
    gates.push({ open: until.resolve });
    return { text, until: until.promise };
  };
  const model = new ScriptedModel(Array.from({ length: 200 }, () => answer));
  const pool = new Pool({ ...options, clock });
  const agent = new Agent(holdfast, { model, pool, instructions: false, isDead: async () => true });
  return { agent, pool, gates, slow, fail };
}

/** What may become of a prompt that is not answered: none of it is acknowledged. */
const REFUSED = new Set(["busy", "fenced", "head_moved", "store_failed"]);

async function run(options: PoolOptions, moves: readonly Move[]): Promise<void> {
  const backing = inMemoryBacking();
  const clock = new PoolClock();
  const plain = new Holdfast(inMemoryStore({ backing }), "default");
  for (const name of ["a", "b", "c"]) await plain.create({ id: name });
  const hosts = [hostOn(backing, clock, options), hostOn(backing, clock, options)] as const;
  const at = (n: number): (typeof hosts)[number] => (n === 0 ? hosts[0] : hosts[1]);
  const answered: { readonly id: string; readonly text: string }[] = [];
  const wrong: string[] = [];
  const pending: Promise<void>[] = [];
  const inWork = new Set<string>();
  let count = 0;

  const check = async (name: string, said: string, result: AgentResult): Promise<void> => {
    if (result.outcome !== "completed") return;
    answered.push({ id: name, text: said });
    const { messages } = await (await plain.conversation(name)).context({ at: result.prompt });
    if (result.text !== userTexts(messages).join("|"))
      wrong.push(`${said} was answered from what was not said`);
  };
  const send = async (asked: Extract<Move, { do: "send" }>): Promise<void> => {
    const { agent, slow } = at(asked.host);
    const said = `say ${++count}`;
    slow.next ||= asked.slow;
    const work = `${asked.host}/${asked.id}`;
    const sent =
      asked.via === "agent"
        ? agent.send(asked.id, said)
        : agent.pool.with(asked.id, async (chat) => {
            if (inWork.has(work)) wrong.push("two at once in one conversation");
            inWork.add(work);
            return chat.send(said).finally(() => inWork.delete(work));
          });
    try {
      await check(asked.id, said, await sent);
    } catch (error) {
      if (!(error instanceof LogError) || !REFUSED.has(error.code)) wrong.push(String(error));
    }
  };
  const make = async (asked: Move): Promise<unknown> => {
    if (asked.do === "send") return void pending.push(send(asked));
    if (asked.do === "wait") return clock.advance(asked.ms);
    if (asked.do === "fail") return void (at(asked.host).fail.next = true);
    if (asked.do === "answer") {
      const all = hosts.flatMap(({ gates }) => gates);
      return all[asked.nth % (all.length || 1)]?.open();
    }
    if (asked.do === "release") return at(asked.host).agent.pool.release(asked.id);
    const chat = await plain.conversation(asked.id);
    if (asked.do === "title") return chat.title("a title");
    if (asked.do === "append")
      return chat
        .append({
          type: "message",
          message: { role: "user", content: [{ type: "text", text: `say ${++count}` }] },
        })
        .catch(() => undefined);
    // One that waits for another's turn is not waited for here.
    pending.push(
      at(asked.host)
        .agent.restore(asked.id)
        .then(() => undefined)
        .catch((error: unknown) => {
          if (!(error instanceof LogError) || error.code !== "store_failed") wrong.push(String(error));
        }),
    );
    return undefined;
  };

  for (const asked of moves) {
    await make(asked);
    // As long as a turn takes that waits for nobody.
    for (let turns = 0; turns < 30; turns++) await settled();
  }
  // A turn looks at folders, too: how many rounds of this process that takes is the machine's affair.
  const over = Promise.all(pending).then(() => true);
  const givenUp = AbortSignal.timeout(150_000);
  while (!givenUp.aborted && (await Promise.race([over, settled()])) !== true)
    for (const { gates } of hosts) for (const { open } of gates) open();
  expect(givenUp.aborted, "a prompt was never answered").toBe(false);
  expect(wrong).toEqual([]);
  for (const { fail } of hosts) fail.next = false;

  for (const name of ["a", "b", "c"]) {
    const chat = await plain.conversation(name);
    const said = userTexts(
      (await chat.facts(["message"])).flatMap((entry) => (entry.type === "message" ? [entry.message] : [])),
    );
    for (const { text } of answered.filter((one) => one.id === name))
      expect(said.filter((words) => words === text)).toEqual([text]);
    const turns = (await chat.facts(["turn_start", "turn_end"])).map((fact) =>
      "turn" in fact ? [fact.type, fact.turn] : [],
    );
    // A turn that was overtaken is ended before another begins; no two are open at once.
    for (const [n, [type, turn]] of turns.entries())
      if (type === "turn_end") expect(turns[n - 1]).toEqual(["turn_start", turn]);
    for (const { agent } of hosts) {
      const { missing: _, ...restored } = await agent.restore(chat);
      expect(restored).toMatchObject({
        messages: (await chat.context()).messages,
        openTurn: await chat.openTurn(),
      });
    }
  }
  for (const { agent, pool } of hosts) {
    await agent.close();
    expect(pool.use()).toMatchObject({ conversations: 0, inUse: 0 });
  }
}

test("no stale answers, nothing acknowledged is lost, one turn at a time, on two hosts with a pool each", () =>
  fc.assert(
    fc.asyncProperty(pools, fc.array(move, { minLength: 6, maxLength: 30 }), (options, moves) =>
      run(options, moves),
    ),
    { numRuns: 100 },
  ));
