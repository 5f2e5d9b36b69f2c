/** Older adapters through the bridge: one that sends no message ids, and one that Holdfast refuses. */
import { expect, test } from "vitest";
import { spoken } from "./acp-host.ts";
import { talk } from "./agent-rig.ts";
import { agentProcess, type BridgeRig, bridgeRig } from "./bridge-rig.ts";
import { askedIn, recalls } from "./bridge-story.ts";
import { at, listAt, textAt } from "./json.ts";

const PROMPTS = ["remember color=blue", "what is color?"];
const ANSWERS = ["Noted color=blue.", "color is blue"];

/** `initialize`, which every host sends when it starts. */
const FIRST_REQUEST = 1;

test("an adapter without message ids is asked once, recorded once, and continues after a kill", async () => {
  await using rig = await bridgeRig({ agents: ["claude"], aliases: { claude: "claude-agent-acp-0.25" } });
  const host = await rig.open();
  for (const [index, prompt] of PROMPTS.entries())
    expect((await host.prompt(prompt)).said).toBe(ANSWERS[index]);
  expect(rig.model.requests().map(({ prompt }) => prompt)).toEqual(PROMPTS);
  expect(await recorded(rig, host.sessionId)).toEqual({ user: PROMPTS, assistant: ANSWERS });

  const adapter = agentProcess(host);
  const killed = host.host.kill();
  process.kill(adapter, "SIGKILL");
  await killed;
  const loaded = await rig.reload(host.sessionId);
  expect(askedIn(loaded.host.updates())).toEqual(PROMPTS);
  expect(spoken(loaded.host.updates())).toBe(ANSWERS.join(""));
  await recalls(loaded, rig.model, "loaded");
  const last = rig.model.requests().at(-1)?.said.join("\n") ?? "";
  expect(last.split("remember color=blue")).toHaveLength(2);
  expect(rig.model.requests()).toHaveLength(3);
  expect((await recorded(rig, host.sessionId)).assistant).toEqual([...ANSWERS, "color is blue #loaded"]);
  expect(await rig.leaks()).toEqual([]);
});

test("that adapter alone sends its answer without message ids", async () => {
  await using rig = await bridgeRig({ agents: ["claude"], aliases: { claude: "claude-agent-acp-0.25" } });
  const host = await rig.direct("claude");
  const made = await host.ask("session/new", { cwd: rig.home.project, mcpServers: [] });
  const { updates } = await talk(host, textAt(made.result, "sessionId")).prompt("remember color=blue");
  const chunks = updates.filter((update) => textAt(update, "sessionUpdate") === "agent_message_chunk");
  expect(spoken(chunks)).toBe("Noted color=blue.");
  expect(chunks.map((chunk) => at(chunk, "messageId"))).toEqual(chunks.map(() => undefined));
});

test("an adapter that is too old is refused before it is asked anything", async () => {
  await using rig = await bridgeRig({ agents: ["claude"], aliases: { claude: "claude-agent-acp-0.24" } });
  const host = await rig.start();
  const { error } = await host.answered(FIRST_REQUEST);
  expect(JSON.stringify(error)).toContain("0.24.2");
  expect(JSON.stringify(error)).toContain("0.25.0");
  expect((await host.ask("session/new", { cwd: rig.home.project, mcpServers: [] })).error).toBeDefined();
  expect(rig.model.requests({ side: true })).toEqual([]);
});

/** The texts of the conversation's messages, by role, as the log has them. */
async function recorded(
  rig: BridgeRig,
  sessionId: string,
): Promise<Readonly<Record<"user" | "assistant", readonly string[]>>> {
  const messages = (await rig.log(sessionId)).filter((entry) => textAt(entry, "type") === "message");
  const textsOf = (role: string): readonly string[] =>
    messages
      .filter((entry) => textAt(entry, "message", "role") === role)
      .map((entry) => listAt(entry, "message", "content").map((block) => textAt(block, "text")))
      .map((texts) => texts.join(""));
  return { user: textsOf("user"), assistant: textsOf("assistant") };
}
