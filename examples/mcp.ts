/* oxlint-disable no-console */
import { fileURLToPath } from "node:url";
import { openHoldfast } from "../src/index.ts";
import { Agent, McpServers } from "../src/agent/index.ts";

const program = import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js");
await using servers = new McpServers([
  { name: "every", command: process.execPath, args: [fileURLToPath(program), "stdio"] },
  // { name: "docs", url: "https://example.com/mcp", headers: { Authorization: `Bearer ${key}` } },
]);

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create();
await using agent = new Agent(holdfast, { model: "sim", servers });

const { servers: opened } = await agent.restore(chat);
console.log(opened.map(({ name, state, tools }) => `${name} is ${state} and has ${tools.length} tools`));

// A call of a server's tool asks, like that of any other whose effect is not known.
const order = 'tool every__get-sum {"a": 2, "b": 3}';
const { text } = await agent.send(chat, order, { onPermission: async () => "allow" });
console.log(text);
