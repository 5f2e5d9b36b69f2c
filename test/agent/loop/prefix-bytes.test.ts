/**
 * What a fork, a resumed and a rebuilt conversation send begins, byte for byte, with what their source has sent: compared on the
 * bodies that the real packages put on the wire. Marks for the cache are set anew in every request and left out of the comparison.
 */
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { AgentResult } from "#agent/agent-options";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { Tool } from "#turn/effects/tool";
import { inMemoryBacking } from "#stores/in-memory/index";
import { HurriedClock, WIRES, wireAgent } from "../wire-rig.ts";
import { bring, bundleText } from "../../support/bundle-text.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import type { ScriptedAnswer, WireName } from "../../support/model-server/scripted-answer.ts";
import { unmark, upToReminder } from "../../support/wire-prefix.ts";

let server: ModelServer;
beforeAll(async () => void (server = await startModelServer()));
afterAll(() => server.close());

const lastBody = (): string => server.requests.at(-1)?.body ?? "";
const SYSTEM = "You are held to your own words. ".repeat(30);
const note: Tool = {
  name: "note",
  description: "Keeps a note",
  input: { type: "object", properties: { text: { type: "string" } } },
  run: async (input) => ({ content: `noted ${JSON.stringify(input)}`, state: { last: input } }),
};
const agentOn = (
  wire: WireName,
  backing = inMemoryBacking(),
  day = "2026-03-01T12:00:00Z",
): ReturnType<typeof wireAgent> & { readonly backing: typeof backing } => {
  const made = wireAgent(server, wire, {
    backing,
    tools: [note],
    system: SYSTEM,
    clock: new HurriedClock(day),
  });
  return { ...made, backing };
};

/** What a model reads before the messages. */
function before(body: string): string {
  const { tools, system, instructions, systemInstruction } = JSON.parse(unmark(body)) as {
    readonly [name: string]: unknown;
  };
  return JSON.stringify([tools, system, instructions, systemInstruction]);
}

function expectContinues(source: string, next: string): void {
  expect(source).toContain("<system-reminder>");
  const shared = upToReminder(source);
  expect(unmark(next).slice(0, shared.length)).toBe(shared);
  expect(before(next)).toBe(before(source));
}

/** What the service read from its cache is all that it had kept of the source's last request. */
function expectCached(wire: WireName, source: AgentResult, next: AgentResult): void {
  const { inputTokens = 0, cacheReadTokens: read = 0, cacheWriteTokens: written = 0 } = source.usage;
  const found = next.usage.cacheReadTokens ?? 0;
  if (wire === "anthropic") {
    // Its last mark stands right before the reminder.
    expect(inputTokens).toBeLessThan(60);
    expect(found).toBe(read + written);
  } else {
    // These keep all of it; only the reminder behind it is another's.
    expect(found).toBeLessThan(inputTokens + read);
    expect(found).toBeGreaterThan(inputTokens + read - 60);
  }
}

interface Turn {
  readonly prompt: string;
  readonly steps: readonly (readonly string[])[];
  readonly words: string;
}
const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 20 }).map((text) => `w${text}`);
const turns: fc.Arbitrary<readonly Turn[]> = fc.array(
  fc.record({
    prompt: texts.map((text) => text + " and so on".repeat(40)),
    steps: fc.array(fc.array(texts, { minLength: 1, maxLength: 2 }), { maxLength: 2 }),
    words: texts,
  }),
  { minLength: 2, maxLength: 4 },
);

const answersOf = ({ steps, words }: Turn): readonly ScriptedAnswer[] => [
  ...steps.map((calls) => ({
    thinking: { text: "a thought", signature: "c2ln" },
    calls: calls.map((text) => ({ name: "note", input: { text } })),
  })),
  { text: words },
];

interface Sent {
  /** The last request of the turn. */
  readonly body: string;
  readonly result: AgentResult;
  readonly leaf: string;
}

async function carry(
  agent: ReturnType<typeof agentOn>["agent"],
  chat: Conversation,
  given: readonly Turn[],
): Promise<readonly Sent[]> {
  const sent: Sent[] = [];
  for (const turn of given) {
    server.add(...answersOf(turn));
    const result = await agent.send(chat, turn.prompt);
    expect(result.outcome).toBe("completed");
    sent.push({ body: lastBody(), result, leaf: (await chat.head()).leaf.id });
  }
  return sent;
}

async function ask(agent: ReturnType<typeof agentOn>["agent"], chat: Conversation): Promise<AgentResult> {
  server.add({ text: "go on" });
  const result = await agent.send(chat, "and then?");
  expect(result.outcome).toBe("completed");
  return result;
}

async function rebuilt(from: Conversation, into: Holdfast, id: string): Promise<Conversation> {
  return bring(into, await bundleText([from]), { id });
}

describe.each(WIRES)("over the wire of %s", (wire) => {
  const check = (each: (given: readonly Turn[], pick: number) => Promise<void>): Promise<void> =>
    fc.assert(fc.asyncProperty(turns, fc.nat(), each), { numRuns: 8 });

  test("a fork begins with what its source has sent, at its end and at any answer before, another day too", () =>
    check(async (given, pick) => {
      const { agent, holdfast, backing } = agentOn(wire);
      const chat = await holdfast.create();
      const sent = await carry(agent, chat, given);
      const at = sent[pick % sent.length];
      const last = sent.at(-1);
      if (at === undefined || last === undefined) throw new Error("nothing was sent");
      const fork = await chat.fork();
      const forked = await ask(agent, fork);
      expectContinues(last.body, lastBody());
      if (given.at(-1)?.steps.length === 0) expectCached(wire, last.result, forked);
      const earlier = await chat.fork({ at: at.leaf });
      const other = agentOn(wire, backing, "2027-12-31T12:00:00Z");
      await ask(other.agent, earlier);
      expectContinues(at.body, lastBody());
      expect(lastBody()).toContain("2027-12-31");
    }));

  test("a conversation that another process resumes begins with what was sent", () =>
    check(async (given) => {
      const { agent, holdfast, backing } = agentOn(wire);
      const chat = await holdfast.create();
      const last = (await carry(agent, chat, given)).at(-1);
      await agent.close();
      const later = agentOn(wire, backing, "2026-04-01T12:00:00Z");
      const result = await ask(later.agent, await later.holdfast.conversation(chat.id));
      expectContinues(last?.body ?? "", lastBody());
      if (last !== undefined && given.at(-1)?.steps.length === 0) expectCached(wire, last.result, result);
    }));

  test("one that is rebuilt from a file does, under its id and under a new one", () =>
    check(async (given) => {
      const { agent, holdfast } = agentOn(wire);
      const chat = await holdfast.create();
      const source = (await carry(agent, chat, given)).at(-1)?.body ?? "";
      for (const id of [chat.id, "under-a-new-one"]) {
        const elsewhere = agentOn(wire);
        await ask(elsewhere.agent, await rebuilt(chat, elsewhere.holdfast, id));
        expectContinues(source, lastBody());
      }
    }));

  test("every step of a turn begins with the one before, and so does the one that a steer goes out with", () =>
    check(async (given) => {
      let steered = 0;
      const { agent, holdfast } = wireAgent(server, wire, {
        system: SYSTEM,
        tools: [{ ...note, run: () => say() }],
      });
      const chat = await holdfast.create();
      const say = async (): Promise<string> => {
        await agent.steer(chat, `also this ${++steered}`);
        return "noted";
      };
      const first = server.requests.length;
      await carry(agent, chat, given);
      const bodies = server.requests.slice(first).map(({ body }) => body);
      for (const [at, body] of bodies.entries()) {
        const source = bodies[at - 1];
        if (source !== undefined) expectContinues(source, body);
      }
      for (let n = 1; n <= steered; n++) expect(bodies.at(-1)).toContain(`also this ${n}"`);
    }));
});
