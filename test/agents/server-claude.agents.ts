/** The real Claude behind the server: no editor is there, and what it asks a person is answered over HTTP. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { UnattendedAgent } from "#edges/acp/index";
import { agentsOf } from "#edges/cli/serve/known-agents";
import type { Client } from "#edges/http/client/index";
import { serve } from "../edges/http/served.ts";
import { agentHome, WIRES } from "./agent-home.ts";
import { fakeModel } from "./fake-model.ts";
import { agentsFolder, commandOf } from "./install.ts";

/** Sends a prompt, and answers whatever is asked on the way; what was said, and how often it asked. */
async function talk(
  client: Client,
  content: string,
  outcome: "allowed" | "denied" = "allowed",
): Promise<{ readonly said: string; readonly questions: number }> {
  let said = "";
  let questions = 0;
  const conversation = "c";
  for await (const entry of client.turnEvents(await client.send({ conversation, content }))) {
    if (entry.type === "permission" && entry.request !== undefined) {
      questions++;
      await client.answerRequest({ conversation, request: entry.request, outcome });
    }
    if (entry.type === "message" && entry.message.role === "assistant")
      said += JSON.stringify(entry.message.content);
  }
  return { said, questions };
}

test("Claude asks over HTTP before it acts, and is resumed by the next process of the server", async () => {
  await using model = await fakeModel(WIRES.claude);
  using home = agentHome({ claude: model.url });
  const store = `sqlite:${join(home.path, "log.db")}`;
  const [spec] = agentsOf(
    { agents: [], command: commandOf("claude", agentsFolder()), accounts: [] },
    home.env,
  );
  const here = { ...spec, command: { ...spec.command, cwd: home.project } };
  const options = { cwd: home.project, version: "1" };
  let token = "";
  for (const round of ["first", "second"]) {
    let agent: UnattendedAgent | null = null;
    const open = (holdfast: ConstructorParameters<typeof UnattendedAgent>[0]): UnattendedAgent =>
      (agent = new UnattendedAgent(holdfast, here, options));
    await using served = await serve({ store, agents: { claude: { open } } });
    if (round === "first") await served.holdfast.create({ id: "c" });
    token ||= await served.token("write");
    const client = served.client(token, "patient");
    if (round === "first") expect((await talk(client, "remember color=blue")).said).toContain("Noted");
    const acted = await talk(client, `run: echo on >> ${round}.txt; echo there`);
    expect(acted.said).toContain("Done: there");
    expect(acted.questions).toBe(1);
    expect(existsSync(join(home.project, `${round}.txt`))).toBe(true);
    await talk(client, `run: echo on >> denied.txt; echo there`, "denied");
    expect(existsSync(join(home.project, "denied.txt"))).toBe(false);
    expect((await talk(client, "what is color?")).said).toContain("color is blue");
    await (agent as UnattendedAgent | null)?.close();
  }
});
