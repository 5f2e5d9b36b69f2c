/**
 * Goal: who carries a turn, and whether it is cut off, is the same at every server on a database, whatever their clocks say.
 * Method: two servers in processes of their own, whose clocks are five minutes wrong, one to either side. What one of them
 * carries is watched, cancelled and answered through the other; then the one that carries it stops, and its lease lapses.
 */
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Client } from "#edges/http/client/index";
import { StoredLinks } from "#edges/http/access/stored-links";
import { StoredTokens } from "#edges/http/index";
import type { Entry } from "#log/entry";
import { openHoldfast } from "#open";
import { type LoopbackPostgres, startPostgres } from "../../support/loopback-postgres.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { writeMiniAgent } from "../acp/mini-agent.ts";
import { startServerWithClock } from "./serve-process.ts";
import { movingClient } from "./served-load.ts";

const FIVE_MINUTES = 300_000;
/** How often a stream that hears nothing looks whether its turn was left, and some more. */
const LOOKS_MS = 6_000;

/** Asks before it acts; `wait` is never answered. */
const ASKING = `
  const { id, method, params, result } = message;
  if (method === undefined && globalThis.open !== undefined) {
    const { session, prompt } = globalThis.open;
    globalThis.open = undefined;
    chunk(session, "Told " + (result?.outcome?.optionId ?? "nothing"));
    answer(prompt, { stopReason: "end_turn" });
    return true;
  }
  if (method === "session/cancel") {
    answer(globalThis.waiting, { stopReason: "cancelled" });
    return true;
  }
  if (method !== "session/prompt") return false;
  if (textOf(params) === "wait") {
    globalThis.waiting = id;
    return true;
  }
  globalThis.open = { session: params.sessionId, prompt: id };
  say(JSON.stringify({ jsonrpc: "2.0", id: "q", method: "session/request_permission", params: {
    sessionId: params.sessionId,
    toolCall: { toolCallId: "call-1", title: "rm", kind: "execute", rawInput: { path: "x" } },
    options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
  } }));
  return true;
`;

const folder = tempDir();
let postgres: LoopbackPostgres;
let token: string;
let agent: string;

beforeAll(async () => {
  postgres = await startPostgres();
  await using holdfast = await openHoldfast({ store: postgres.url });
  token = (await new StoredTokens(holdfast).add({ token: "t", space: "default", rights: "write" })).secret;
  agent = `mini=${process.execPath} ${writeMiniAgent(folder.path, ASKING)} ${folder.path}`;
});

afterAll(async () => {
  await postgres?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

/** The events of a turn up to this one, and what follows. */
async function upTo(
  events: AsyncGenerator<Entry>,
  type: Entry["type"],
): Promise<{ readonly entry: Entry; readonly rest: () => Promise<readonly Entry[]> }> {
  for (;;) {
    const { value } = await events.next();
    if (value === undefined) throw new Error(`The turn has no ${type}`);
    if (value.type === type) return { entry: value, rest: () => Array.fromAsync(events) };
  }
}

async function stateOf(client: Client, conversation: string): Promise<unknown> {
  const { conversations } = await client.listConversations({ prefix: conversation });
  return conversations.map(({ state }) => state);
}

describe.each([
  { own: "behind", seen: "ahead", skewMs: -FIVE_MINUTES },
  { own: "ahead", seen: "behind", skewMs: FIVE_MINUTES },
])(
  "a turn of a server whose clock is five minutes $own, seen through one that is $seen",
  { concurrent: true },
  ({ seen, skewMs }) => {
    const id = (name: string): string => `${name}-${seen}`;
    const rig = async () => {
      const args = ["--agent", agent, "--cwd", folder.path, "--log-level", "error"];
      const [carries, watches] = await Promise.all([
        startServerWithClock(skewMs, postgres.url, ...args),
        startServerWithClock(-skewMs, postgres.url, ...args),
      ]);
      const [here, there] = [carries, watches].map(({ url }) => movingClient(token, async () => url));
      if (here === undefined || there === undefined) throw new Error("There are two");
      return {
        carries,
        here,
        there,
        [Symbol.asyncDispose]: async (): Promise<void> => {
          await carries[Symbol.asyncDispose]();
          await watches[Symbol.asyncDispose]();
        },
      };
    };

    test("is worked on, streams on, and can be cancelled and answered, which starts no second turn", async () => {
      await using servers = await rig();
      const { here, there } = servers;
      const [wait, ask] = [id("wait"), id("ask")];
      for (const conversation of [wait, ask]) await there.createConversation({ id: conversation });
      const waits = await here.send({ conversation: wait, content: "wait" });
      const stream = Array.fromAsync(there.turnEvents(waits));
      const isOver = await Promise.race([stream.then(() => true), pause(LOOKS_MS).then(() => false)]);
      expect(isOver).toBe(false);
      expect((await there.getConversation({ conversation: wait })).openTurn).toMatchObject({ left: false });
      expect(await stateOf(there, wait)).toEqual(["working"]);
      expect(await there.cancel({ conversation: wait })).toMatchObject({ cancelled: true });
      expect((await stream).at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });

      const asks = await here.send({ conversation: ask, content: "act" });
      const { entry, rest } = await upTo(there.turnEvents(asks), "permission");
      const request = entry.type === "permission" ? (entry.request ?? "") : "";
      const answer = { conversation: ask, request, outcome: "allowed" } as const;
      expect(await there.answerRequest(answer)).toMatchObject({ deduped: false, turn: null });
      expect((await rest()).at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });
      const { entries } = await there.listEntries({ conversation: ask, types: ["turn_start"] });
      expect(entries).toHaveLength(1);
    });

    test("is cut off once its lease has lapsed by the clock of the database, not before", async () => {
      await using servers = await rig();
      const { carries, here, there } = servers;
      const conversation = id("left");
      await there.createConversation({ id: conversation });
      const turn = await here.send({ conversation, content: "wait" });
      // It exists, so that only its lease says whether it carries anything.
      process.kill(carries.pid, "SIGSTOP");
      await setLease(conversation, 60_000);
      expect(await stateOf(there, conversation)).toEqual(["working"]);
      expect((await there.getConversation({ conversation })).openTurn).toMatchObject({ left: false });
      await setLease(conversation, -10_000);
      expect(await stateOf(there, conversation)).toEqual(["cut_off"]);
      expect((await there.getConversation({ conversation })).openTurn).toMatchObject({ left: true });
      const entries = await Array.fromAsync(there.turnEvents(turn));
      expect(entries.map(({ type }) => type)).not.toContain("turn_end");
      expect(await there.cancel({ conversation })).toMatchObject({ cancelled: false });
      await there.retry({ conversation });
      expect(await there.cancel({ conversation })).toMatchObject({ cancelled: true });
    });
  },
);

test.each([-FIVE_MINUTES, FIVE_MINUTES])(
  "a link of another machine opens a browser at a server whose clock is wrong by %i ms",
  async (skewMs) => {
    await using holdfast = await openHoldfast({ store: postgres.url });
    await using server = await startServerWithClock(skewMs, postgres.url, "--log-level", "error");
    const code = await new StoredLinks(holdfast).add({ token: "link", space: "default", rights: "write" });
    const opened = await fetch(`${server.url}/launch?code=${code}`, { redirect: "manual" });
    expect(opened.status).toBe(303);
  },
);

async function setLease(conversation: string, ms: number): Promise<void> {
  const admin = new pg.Client(postgres.direct);
  await admin.connect();
  await admin.query(
    "update holdfast.conversations set lease_until = (extract(epoch from clock_timestamp()) * 1000)::int8 + $2::int8 where id = $1",
    [conversation, ms],
  );
  await admin.end();
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
