import type { Listening } from "#edges/http/node/listen";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { HttpHandler, knownNames, listen, StoredTokens } from "#edges/http/index";
import { openHoldfast } from "#open";

const KNOWN = 100;
const NEW = 40;

let holdfast: Holdfast;
let listening: Listening;
let request = "";

beforeAll(async () => {
  holdfast = await openHoldfast({ store: "memory:" });
  const token = (await new StoredTokens(holdfast).add({ token: "t", space: "default", rights: "read" }))
    .secret;
  await holdfast.create({ id: "a" });
  listening = await listen(
    (port) =>
      new HttpHandler({
        holdfast,
        names: knownNames({ port }),
        limits: { perSecond: 1_000_000, burst: 1_000_000 },
      }),
  );
  request = `GET /api/conversations/a HTTP/1.1\r\nHost: 127.0.0.1:${listening.port}\r\nAuthorization: Bearer ${token}\r\n\r\n`;
});

afterAll(async () => {
  await listening.close();
  await holdfast.close();
});

/** Sends a request, and `onAnswer` whenever one is answered. */
async function ask(sockets: Socket[], onAnswer: (socket: Socket, text: string) => void): Promise<void> {
  const socket = connect(listening.port, "127.0.0.1");
  sockets.push(socket);
  await once(socket, "connect");
  socket.on("data", (bytes) => onAnswer(socket, bytes.toString("latin1")));
  socket.write(request);
}

test("clients that connect while others always ask wait for few of their requests", async () => {
  const sockets: Socket[] = [];
  let answers = 0;
  const warm = Promise.withResolvers<void>();
  const known = Array.from({ length: KNOWN }, () =>
    ask(sockets, (socket) => {
      if (++answers === 10 * KNOWN) warm.resolve();
      socket.write(request);
    }),
  );
  await Promise.all([...known, warm.promise]);
  const before = answers;
  const heard: string[] = [];
  const all = Promise.withResolvers<void>();
  for (let n = 0; n < NEW; n++)
    void ask(sockets, (_, text) => {
      heard.push(text.slice(0, 12));
      if (heard.length === NEW) all.resolve();
    });
  await all.promise;
  const overtaken = answers - before;
  for (const socket of sockets) socket.destroy();
  expect(new Set(heard)).toEqual(new Set(["HTTP/1.1 200"]));
  // Where a turn of the loop served everyone, each new client would wait for another round of all others.
  expect(overtaken).toBeLessThan((KNOWN * NEW) / 2);
});
