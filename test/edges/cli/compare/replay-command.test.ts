/**
 * Production, local, another model, what changed: an agent of real effect is recorded in one store, exported, imported into
 * another of another kind, and replayed on two models over a scripted service.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { openModel } from "#agent/models/open-model";
import { composeEmail } from "#agent/tools/example-tools";
import { openHoldfast } from "#open";
import type { ScriptedAnswer } from "../../../support/model-server/scripted-answer.ts";
import { type ModelServer, startModelServer } from "../../../support/model-server.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran } from "../cli-run.ts";
import { HAS_TERMINAL, MODEL, modelCli } from "../model-cli.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
const [production, local] = [
  `sqlite:${join(folder.path, "production.db")}`,
  `jsonl:${join(folder.path, "local")}`,
];
const outbox = join(folder.path, "outbox.jsonl");
const bundle = join(folder.path, "thread.jsonl");
const module = join(folder.path, "agent.mjs");
const email = (to: string, body: string): ScriptedAnswer => ({
  calls: [{ name: "ComposeEmail", input: { to, subject: "17", body } }],
});
/** The steps of the first prompt, by wire. */
const STEPS: { readonly [wire: string]: readonly ScriptedAnswer[] } = {
  anthropic: [{ calls: [{ name: "Lookup", input: { invoice: 17 } }] }, email("a@example.org", "Paid.")],
  openai: [email("b@example.org", "No idea.")],
};

/** By what is asked alone: the same request has the same answer, in whichever test. */
function answerTo(wire: string, body: string): ScriptedAnswer {
  if (body.includes("Was it?")) return { text: wire === "anthropic" ? "It was." : "Perhaps." };
  const results = body.split(/"type":"tool_result"|"type":"function_call_output"/).length - 1;
  return STEPS[wire]?.[results] ?? { text: "done" };
}

const [SAME_MODEL, OTHER_MODEL] = ["anthropic/claude-sonnet-5-5", "openai/gpt-5"];

let server: ModelServer;
let env: { readonly [name: string]: string };
afterAll(() => server.close());
const here = (store: string, ...args: readonly string[]): Promise<Ran> => holdfastHere(store, args, { env });
const emails = (): number =>
  existsSync(outbox) ? readFileSync(outbox, "utf8").trimEnd().split("\n").length : 0;
const ended = (ran: Ran): readonly Ended[] =>
  (jsonLines(ran.out) as unknown as readonly Ended[]).filter(({ type }) => type === "ended");

/** Every entry and every link; what says when it was exported is left out. */
const exact = ({ out }: Ran): readonly string[] => out.trimEnd().split("\n").slice(1, -1);

interface Ended {
  readonly type: string;
  readonly conversation: string;
  readonly run: string;
  readonly model: string;
  readonly outcome: string;
  readonly sent: number;
  readonly calls: number;
  readonly divergence: {
    readonly a: { readonly name: string };
    readonly b: { readonly name: string };
  } | null;
  readonly usage: { readonly inputTokens: number; readonly costMicros: number };
}

beforeAll(async () => {
  server = await startModelServer(({ wire, body }) => answerTo(wire, body));
  env = {
    ANTHROPIC_API_KEY: "dummy",
    ANTHROPIC_BASE_URL: server.baseUrl("anthropic"),
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: server.baseUrl("openai"),
  };
  const lookup = { name: "Lookup", effect: "none", run: async () => "Invoice 17 was paid." } as const;
  writeFileSync(
    module,
    `import { appendFileSync } from "node:fs";
export const agent = ({ cwd }) => ({
  system: "You answer for billing.",
  instructions: false,
  tools: [
    { name: "Lookup", effect: "none", run: async () => "Invoice 17 was paid." },
    {
      name: "ComposeEmail",
      description: "Sends an email.",
      input: { type: "object", properties: { to: { type: "string" } } },
      final: true,
      run: async (input) => (appendFileSync(${JSON.stringify(outbox)}, JSON.stringify(input) + "\\n"), "Sent"),
      dryRun: async ({ to }) => "Would be sent to " + to,
    },
  ],
});
`,
  );
  await using holdfast = await openHoldfast({ store: production });
  const thread = await holdfast.create({ id: "thread", title: "Invoice 17", cwd: folder.path });
  await using agent = new Agent(holdfast, {
    model: SAME_MODEL,
    openModel: (given) => openModel(given, { env }),
    tools: [composeEmail({ outbox }), lookup],
    permission: () => "allow",
    instructions: false,
  });
  await agent.send(thread, "Is invoice 17 paid? Tell a@example.org");
  await agent.send(thread, "Was it?");
  expect((await here(production, "export", "thread", "-o", bundle)).status).toBe(0);
  expect((await here(local, "import", bundle)).status).toBe(0);
});

test("export, import into another store, replay on two models without effects, diff: nothing is sent, and the original is as it was", async () => {
  expect(emails()).toBe(1);
  const [before, used] = [
    await here(local, "export", "thread"),
    await here(local, "usage", "thread", "--json"),
  ];
  const asked = server.requests.length;
  const models = ["--model", SAME_MODEL, "--model", OTHER_MODEL];
  const ran = await here(local, "replay", "thread", ...models, "--agent", module, "--json");
  expect([ran.status, ran.err]).toEqual([0, ""]);
  const [same, other] = ended(ran);
  expect(same).toMatchObject({
    model: SAME_MODEL,
    outcome: "completed",
    sent: 2,
    calls: 2,
    divergence: null,
  });
  expect(other).toMatchObject({
    model: OTHER_MODEL,
    sent: 2,
    calls: 1,
    divergence: { a: { name: "Lookup" }, b: { name: "ComposeEmail" } },
  });
  expect(server.requests.length - asked).toBe(3 + 2);
  // What is sent in production is what was sent there before.
  expect(emails()).toBe(1);
  expect(exact(await here(local, "export", "thread"))).toEqual(exact(before));
  expect((await here(local, "usage", "thread", "--json")).out).toBe(used.out);
  const forks = [same?.conversation ?? "", other?.conversation ?? ""];
  const diff = jsonLines((await here(local, "diff", "thread", ...forks, "--json", "--stat")).out);
  expect(diff).toMatchObject([
    { common: { kind: "ancestor" }, b: { totals: { models: [SAME_MODEL], calls: 2 } } },
    { b: { totals: { models: [OTHER_MODEL], calls: 1 } }, divergence: { kind: "call" } },
  ]);
  // Each is counted where it was used, and once.
  const byConversation = jsonLines((await here(local, "usage", "--by", "conversation", "--json")).out)[0] as {
    rows: readonly { name: string; inputTokens: number }[];
    total: { inputTokens: number };
    replays: { inputTokens: number };
  };
  expect(byConversation.rows.map(({ name }) => name).toSorted()).toEqual([...forks, "thread"].toSorted());
  const sum = byConversation.rows.reduce((all, { inputTokens }) => all + inputTokens, 0);
  expect(byConversation.total.inputTokens).toBe(sum);
  const original = byConversation.rows.find(({ name }) => name === "thread")?.inputTokens ?? 0;
  expect(byConversation.replays.inputTokens).toBe(sum - original);
  expect((await here(local, "ls")).out).toContain(`Replay on ${OTHER_MODEL}`);
  expect(same?.usage.inputTokens).toBe(
    byConversation.rows.find(({ name }) => name === forks[0])?.inputTokens,
  );
});

test("a file is imported under a new id first, and a divergence fails where that is asked for", async () => {
  const args = ["replay", bundle, "--model", OTHER_MODEL, "--agent", module];
  const ran = await here(local, ...args, "--json", "--fail-on-divergence");
  expect(ran.status).toBe(8);
  const [planned] = jsonLines(ran.out) as [{ source: { conversation: string } }];
  expect(planned.source.conversation).not.toBe("thread");
  const agreed = ["replay", bundle, "--model", SAME_MODEL, "--agent", module, "--fail-on-divergence"];
  expect((await here(local, ...agreed)).status).toBe(0);
  expect(emails()).toBe(1);
});

test("a run is named by its exact id, and its own prompts alone are sent", async () => {
  const [, second] = jsonLines((await here(local, "runs", "thread", "--json")).out) as [
    unknown,
    { run: string },
  ];
  const args = ["replay", second.run, "--model", SAME_MODEL, "--agent", module, "--json"];
  // Imports have brought it into other conversations.
  expect((await here(local, "import", bundle, "--as-new")).status).toBe(0);
  expect((await here(local, ...args)).status).toBe(2);
  expect((await here(local, ...args, "--conversation", "nowhere")).status).toBe(3);
  const ran = await here(local, ...args, "--conversation", "thread");
  expect(ran.status).toBe(0);
  expect(jsonLines(ran.out)[0]).toMatchObject({
    type: "planned",
    source: { conversation: "thread", run: second.run },
    prompts: 1,
  });
  expect(ended(ran)).toMatchObject([{ sent: 1, calls: 0, divergence: null }]);
  const [fork] = ended(ran);
  const [made] = jsonLines((await here(local, "runs", fork?.conversation ?? "", "--json")).out);
  expect(made).toMatchObject({ run: fork?.run, trigger: { type: "replay", id: second.run } });
});

test("by the record every call is answered without the tools' effects, and what it lacks is a divergence", async () => {
  const args = ["replay", "thread", "--tools", "recorded", "--agent", module, "--json"];
  const same = await here(local, ...args, "--model", SAME_MODEL, "--fail-on-divergence");
  expect(same.status).toBe(0);
  expect(same.out).toContain("Sent to a@example.org");
  const other = await here(local, ...args, "--model", OTHER_MODEL);
  expect(jsonLines(other.out)).toContainEqual(
    expect.objectContaining({ type: "missed", name: "ComposeEmail" }),
  );
  expect([other.status, emails()]).toEqual([0, 1]);
});

test("live, without a terminal, every effect is refused", async () => {
  const ran = await here(
    local,
    "replay",
    "thread",
    "--tools",
    "live",
    "--model",
    SAME_MODEL,
    "--agent",
    module,
  );
  expect([ran.status, emails()]).toEqual([0, 1]);
  expect(ran.err).not.toBe("");
});

test.runIf(HAS_TERMINAL)(
  "live, at a terminal, each effect is asked for and nothing is allowed for good",
  async () => {
    await using cli = await modelCli([
      { calls: [{ name: "shell", input: { command: "echo ran >> ran.txt" } }] },
      { text: "Done." },
      { calls: [{ name: "shell", input: { command: "echo ran >> ran.txt" } }] },
      { calls: [{ name: "shell", input: { command: "echo ran >> ran.txt" } }] },
      { text: "Done." },
    ]);
    await cli.run(["chat", "made", "-p", "Do it", "--model", MODEL, "--yes"]);
    const ran = (): string => readFileSync(join(cli.folder, "ran.txt"), "utf8");
    expect(ran()).toBe("ran\n");
    const at = cli.atTerminal(["replay", "made", "--model", MODEL, "--tools", "live"]);
    await at.printed("Allow it? [y/n] ");
    at.type("n\r");
    await at.printed("Allow it? [y/n] ");
    expect(ran()).toBe("ran\n");
    at.type("y\r");
    expect((await at.ended).status).toBe(0);
    expect(ran()).toBe("ran\nran\n");
  },
  60_000,
);

test("for people: what each prompt did otherwise, a table of the models, and how to look further", async () => {
  const models = ["--model", SAME_MODEL, "--model", OTHER_MODEL];
  const ran = await here(local, "replay", "thread", ...models);
  expect(ran.err).toMatch(/not here: .*Lookup/);
  expect(ran.err).toMatch(/prompt 1\/2 .*✗/);
  expect(ran.out).toMatch(/first divergence/);
  expect(ran.out).toContain("→ holdfast diff thread@");
});

test("what is asked wrongly is told before anything is sent or written", async () => {
  writeFileSync(join(folder.path, "broken.jsonl"), readFileSync(bundle).subarray(0, 400));
  writeFileSync(join(folder.path, "none.mjs"), "export const other = 1;\n");
  const both = join(folder.path, "both.jsonl");
  expect((await here(local, "new", "--id", "other")).status).toBe(0);
  expect((await here(local, "export", "thread", "other", "-o", both)).status).toBe(0);
  const listed = async (): Promise<string> => (await here(local, "ls", "--json")).out;
  const before = await listed();
  const asked = server.requests.length;
  const model = ["--model", SAME_MODEL];
  const refusals: readonly (readonly [number, readonly string[]])[] = [
    [2, ["thread", "--model", "nobody/knows"]],
    [2, [bundle, "--model", "nobody/knows"]],
    [2, ["thread", ...model, "--tools", "wet"]],
    [2, ["thread", ...model, "--from-message", "99"]],
    [2, ["thread", ...model, "--from-message", "0"]],
    [2, ["thread", ...model, "--max-steps", "0"]],
    [2, ["thread", ...model, "--patch-system", join(folder.path, "gone.md")]],
    [2, ["thread", ...model, "--agent", join(folder.path, "gone.mjs")]],
    [2, ["thread", ...model, "--agent", join(folder.path, "none.mjs")]],
    [2, [both, ...model]],
    [3, ["no-such-run", ...model]],
    [3, ["thread@nothing", ...model]],
    [6, [join(folder.path, "broken.jsonl"), ...model]],
  ];
  for (const [status, args] of refusals) {
    const ran = await here(local, "replay", ...args);
    expect([args, ran.status, ran.out]).toEqual([args, status, ""]);
    expect(ran.err).toMatch(/^holdfast: \S/m);
  }
  expect(await listed()).toBe(before);
  expect(server.requests.length).toBe(asked);
});
