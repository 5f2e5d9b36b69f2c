/**
 * Servers that die under load. Clients append, send and follow all the while, and are killed servers under: what was answered is in the
 * logs once, every tail has heard all of it in order, and turns that were cut off are gone on with elsewhere.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { createFaultClient } from "../../../ui/src/data/fault-client.ts";
import { createClient } from "#edges/http/client/index";
import { StoredTokens } from "#edges/http/index";
import { openHoldfast } from "#open";
import { startPostgres } from "../../support/loopback-postgres.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { movingClient, startLoad } from "./served-load.ts";
import { type ServeProcess, startServer } from "./serve-process.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const AGENT = ["--agent", "simulated", "--speed", "100", "--rate", "100000"];

async function tokenFor(store: string): Promise<string> {
  await using holdfast = await openHoldfast({ store });
  const { secret } = await new StoredTokens(holdfast).add({
    token: "load",
    space: "default",
    rights: "write",
  });
  return secret;
}

test("SQLite: a server that is killed or stopped under load loses nothing it answered and does nothing twice", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const token = await tokenFor(store);
  let running: Promise<ServeProcess> = startServer(store, ...AGENT);
  const urlOf = async (): Promise<string> => (await running).url;
  try {
    const ends: readonly NodeJS.Signals[] = SOAK
      ? Array.from({ length: 40 }, (_, at) => (at % 4 === 3 ? "SIGTERM" : "SIGKILL"))
      : ["SIGKILL", "SIGTERM"];
    const size = SOAK
      ? { conversations: 16, appends: 400, turns: 40 }
      : { conversations: 6, appends: 30, turns: 5 };
    await using load = await startLoad({ urlOf, token, ...size });
    for (const [at, signal] of ends.entries()) {
      await load.reached((at + 1) / (ends.length + 1));
      const before = await running;
      const next = Promise.withResolvers<ServeProcess>();
      running = next.promise;
      expect(await before.end(signal)).toBe(signal === "SIGTERM" ? 0 : null);
      next.resolve(await startServer(store, ...AGENT));
    }
    await load.done();
    await load.check(movingClient(token, urlOf));
  } finally {
    await (await running)[Symbol.asyncDispose]();
  }
});

test("PostgreSQL: of two servers one is killed in mid-turn and under load, and the other goes on at once", async () => {
  await using postgres = await startPostgres();
  const store = postgres.url;
  const token = await tokenFor(store);
  // As slow as a real one, so that it is killed in its work.
  const slowly = ["--agent", "simulated", "--rate", "100000"];
  const [first, second] = await Promise.all([startServer(store, ...slowly), startServer(store, ...AGENT)]);
  await using dying = first;
  await using other = second;
  let isDead = false;
  const urlOf = async (name: string): Promise<string> =>
    isDead || Number(name.at(-1)) % 2 === 0 ? other.url : dying.url;
  const [here, there] = [dying, other].map(({ url }) => movingClient(token, async () => url));
  if (here === undefined || there === undefined) throw new Error("There are two");
  const size = SOAK
    ? { conversations: 8, appends: 200, turns: 10 }
    : { conversations: 4, appends: 16, turns: 2 };
  await using load = await startLoad({ urlOf, token, ...size });

  for (const conversation of ["talk", "mail", "stop"]) await there.createConversation({ id: conversation });
  // While both run a turn is stopped at the one that does not carry it.
  const stopped = await here.send({ conversation: "stop", content: "work 500" });
  expect(await there.cancel({ conversation: "stop" })).toMatchObject({ cancelled: true });
  const stop = await Array.fromAsync(there.turnEvents(stopped));
  expect(stop.at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });
  await load.reached(0.3);
  const talk = await here.send({ conversation: "talk", content: "remember x=7; work 2000" });
  await createFaultClient({ url: dying.url, token }).strikeAgent({
    agent: "simulated",
    kind: "hang",
    phase: "in_tool",
  });
  const mail = await here.send({ conversation: "mail", content: "email ann about rent" });
  const talking = there.turnEvents(talk);
  const mailing = there.turnEvents(mail);
  // It speaks, it has begun to send the mail, and both are heard at the other server.
  for await (const entry of { [Symbol.asyncIterator]: () => ({ next: () => talking.next() }) })
    if (entry.type === "update") break;
  for await (const entry of { [Symbol.asyncIterator]: () => ({ next: () => mailing.next() }) })
    if (entry.type === "tool_intent") break;
  await dying.end("SIGKILL");
  isDead = true;

  // Whoever listens is told that nobody carries them any more.
  for (const events of [talking, mailing])
    for await (const entry of events) expect(entry.type).not.toBe("turn_end");
  const { openTurn } = await there.getConversation({ conversation: "talk" });
  expect(openTurn).toMatchObject({ turn: talk.turn, left: true });
  const { effects } = await there.listEffects({ conversation: "mail" });
  expect(effects).toMatchObject([{ name: "send_email", state: "unknown" }]);
  await expect(there.retry({ conversation: "mail" })).rejects.toMatchObject({ code: "invalid_request" });
  for (const conversation of ["talk", "mail"]) {
    const turn = await there.continueTurn({ conversation }, { key: "go-on" });
    const entries = await Array.fromAsync(there.turnEvents(turn));
    expect(entries.at(-1)).toMatchObject({ type: "turn_end", turn: turn.turn, outcome: "completed" });
  }
  const recalled = await there.send({ conversation: "talk", content: "recall x" });
  const entries = await Array.fromAsync(there.turnEvents(recalled));
  expect(JSON.stringify(entries.filter(({ type }) => type === "message"))).toContain("7");
  // The mail was begun once.
  const { entries: intents } = await there.listEntries({ conversation: "mail", types: ["tool_intent"] });
  expect(intents).toHaveLength(1);
  await load.done();
  await load.check(there);

  // A database that is gone is told as gone; once it is back so is the server.
  await postgres.kill();
  const alone = createClient({ url: other.url, token, retries: 0 });
  await expect(alone.setTitle({ conversation: "talk", title: "x" })).rejects.toMatchObject({ status: 503 });
  await postgres.restart();
  expect(await alone.setTitle({ conversation: "talk", title: "x" })).toMatchObject({ conversation: "talk" });
});
