/** A store with all that makes pages awkward, and a server that can replay what is in it. */
import { openModel } from "#agent/models/open-model";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { type Client, createClient } from "#edges/http/client/index";
import { type HttpOptions, StoredTokens } from "#edges/http/index";
import type { EntryBody } from "#log/entry";
import { assistant, toolResult, user } from "#log/message";
import { sampleEntries } from "../../ui/src/pages/history/empty/sample.ts";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { writeBranchyLog } from "./branchy-log.ts";
import type { Ui } from "./browser.ts";

/** Longer than any test: what is parked stays so. */
const HOUR_MS = 3_600_000;
const LONG_TITLE = `A title without an end, طويل جدا, ${"長い題名と".repeat(30)}${"unbroken".repeat(40)}`;

const SCRIPT: ConstructorParameters<typeof ScriptedModel>[0] = [
  { calls: [{ id: "n1", name: "post", input: { letter: 2 } }] },
  { text: "Posted another one" },
];

/** The simulated agent, and a model that does otherwise than what is replayed on it. */
export function awkwardServer(): Required<Pick<HttpOptions, "agents" | "replays">> {
  const post = {
    name: "post",
    description: "Posts a letter.",
    dryRun: async () => "would post it",
    run: async () => "posted",
  };
  const agent = {
    tools: [post],
    openModel: async () => openModel(new ScriptedModel(SCRIPT, "other")),
    permission: () => "ask" as const,
    instructions: false,
  };
  return {
    agents: { simulated: simulatedSource(100, HOUR_MS) },
    replays: { models: ["other"], agent: () => agent },
  };
}

async function clientOf(ui: Ui): Promise<Client> {
  const { secret } = await new StoredTokens(ui.holdfast).add({
    token: "helper",
    space: "default",
    rights: "admin",
  });
  return createClient({ url: ui.url, token: secret });
}

const LETTERS: readonly EntryBody[] = [
  { type: "run_start", run: "r1", trigger: "email" },
  { ...user("Post the first letter"), id: "l1" },
  {
    type: "message",
    id: "l2",
    message: {
      role: "assistant",
      model: "example/original",
      content: [{ type: "toolCall", id: "c1", name: "post", input: { letter: 1 } }],
      usage: { inputTokens: 900, outputTokens: 40, costMicros: 3_300 },
    },
  },
  { ...toolResult("c1", "posted"), id: "l3" },
  { ...assistant("Done"), id: "l4" },
];

/** A replay of `letters`, run to its end; gives its id. */
export async function replayLetters(ui: Ui): Promise<string> {
  const client = await clientOf(ui);
  const letters = await ui.holdfast.create({ id: "letters", title: "Letters" });
  await letters.append(LETTERS);
  const { replay } = await client.startReplay({ conversation: "letters", at: "l4", models: ["other"] });
  await Array.fromAsync(client.replayEvents({ replay }));
  return replay;
}

/** `sample`, `fix-the-test` with its forks, `letters` with a replay, `wordy` and `empty`; gives the replay. */
export async function fillAwkward(ui: Ui): Promise<string> {
  const sample = await ui.holdfast.create({ id: "sample", title: "Plan the party", cwd: "/repo/party" });
  await sample.append(sampleEntries(Date.now()));
  await writeBranchyLog(ui.holdfast);
  const wordy = await ui.holdfast.create({
    id: "wordy",
    title: LONG_TITLE,
    cwd: `/repo/${"deep/".repeat(40)}`,
  });
  await wordy.append([
    { ...user(`${"unbroken".repeat(60)}\n\n| a | b |\n|---|---|\n| ${"wide ".repeat(60)} | 2 |`), id: "y1" },
    {
      ...assistant(
        `# שלום\n\n\`\`\`ts\nconst long = "${"x".repeat(300)}";\n\`\`\`\n\n- [x] 一\n- ${"二".repeat(200)}`,
      ),
      id: "y2",
    },
    { type: "label", target: "y2", label: "a label that is longer than what it stands beside ".repeat(3) },
  ]);
  await ui.holdfast.create({ id: "empty" });
  return replayLetters(ui);
}
