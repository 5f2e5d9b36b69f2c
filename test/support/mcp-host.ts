/** A process whose agent calls a tool of an MCP server in its turn, until it is killed. `continue`: the next life. */
import { openHoldfast } from "#index";
import { Agent, McpServers } from "#agent/index";
import { ScriptedModel } from "../agent/scripted-model.ts";

const [address = "", server = "", file = "", how = ""] = process.argv.slice(2);
const odd = { name: "odd", command: process.execPath, args: [server, "stubborn", file] };
await using servers = new McpServers([odd]);
await using holdfast = await openHoldfast({ store: address });
const model = new ScriptedModel(
  how === "continue" ? [{ text: "ok" }] : [{ calls: [{ id: "a", name: "odd__hang", input: {} }] }],
);
await using agent = new Agent(holdfast, { model, servers, permission: () => "allow" });
if (how === "idle") {
  await servers.open();
  process.stdout.write("open\n");
  await new Promise(() => undefined);
}
const { outcome } = await (how === "continue" ? agent.continue("c") : agent.send("c", "go"));
process.stdout.write(`${outcome}\n`);
