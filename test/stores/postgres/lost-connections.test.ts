/**
 * Goal: a connection that the database ends at any moment ends no process. Method: a server that says in one piece that a connection
 * is ready and that it is over, as a socket has it that was not read for a while.
 */
import { createServer } from "node:net";
import { expect, test } from "vitest";
import { openConnections } from "#stores/postgres/connections";

function message(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(5);
  head.write(type);
  head.writeInt32BE(body.length + 4, 1);
  return Buffer.concat([head, body]);
}

const READY_AND_OVER = Buffer.concat([
  message("R", Buffer.alloc(4)),
  message("Z", Buffer.from("I")),
  message("E", Buffer.from("SFATAL\0C57P01\0Mterminating connection due to administrator command\0\0")),
]);

test("a connection that is over as soon as it is ready is an error of whoever uses it, and of nobody else", async () => {
  await using server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(READY_AND_OVER));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { readonly port: number };
  const connections = await openConnections(undefined, {
    url: `postgres://user@127.0.0.1:${port}/any`,
    connections: 1,
    connectMs: 5_000,
    queryMs: 5_000,
  });
  const unheard: unknown[] = [];
  const onUncaught = (error: unknown): void => void unheard.push(error);
  process.once("uncaughtException", onUncaught);
  await expect(connections.use((session) => session.query("select 1", []))).rejects.toThrow();
  process.off("uncaughtException", onUncaught);
  expect(unheard).toEqual([]);
  await connections.close();
});
