/* oxlint-disable no-console */
import { openHoldfast } from "../src/index.ts";
import { Agent } from "../src/agent/index.ts";
import { HttpHandler, knownNames, listen, StoredTokens } from "../src/edges/http/index.ts";
import { createClient } from "../src/edges/http/client/index.ts";

// The backend: conversations in a store, a model behind them, tokens for whoever may ask.
const holdfast = await openHoldfast({ store: "memory:" });
const server = await listen(
  (port) =>
    new HttpHandler({
      holdfast,
      names: knownNames({ port }),
      agents: { helper: { open: (space) => new Agent(space, { model: "sim", system: "Help people." }) } },
    }),
);
const { secret } = await new StoredTokens(holdfast).add({ token: "web", space: "default", rights: "write" });

// A client, in a browser or in Node: what it is told survives broken connections and other servers.
const client = createClient({ url: server.url, token: secret });
const { conversation } = await client.createConversation({ title: "Support" });
for (const words of ["Good morning", "What did I say first?"]) {
  const turn = await client.send({ conversation, content: words });
  for await (const entry of client.turnEvents(turn)) {
    if (entry.type !== "message" || entry.message.role !== "assistant") continue;
    for (const block of entry.message.content) if (block.type === "text") console.log(block.text);
  }
}

await server.handler.drain(10_000);
await server.close();
await holdfast.close();
