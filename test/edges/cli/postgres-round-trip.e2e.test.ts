/**
 * Goal: what was made in production on PostgreSQL is tried again on a machine of one's own, with no effect; and a store in a file
 * moves to PostgreSQL while it is written to.
 * Method: a throwaway server. An agent of real effect works in it; its conversation is exported, imported into SQLite, replayed on two
 * models of a scripted service and compared. Then a process follows a SQLite store under load, is killed, begun again and
 * stopped by Ctrl-C, and everything that both stores tell is compared.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { openModel } from "#agent/models/open-model";
import { composeEmail } from "#agent/tools/example-tools";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { type LoopbackPostgres, startPostgres } from "../../support/loopback-postgres.ts";
import type { ScriptedAnswer } from "../../support/model-server/scripted-answer.ts";
import { startModelServer } from "../../support/model-server.ts";
import { RandomSpace, spaceAct, tellAll } from "../../support/random-space.ts";
import { tempDir } from "../../support/temp-dir.ts";
import { holdfastHere } from "./cli-here.ts";
import { jsonLines, MAIN, type Ran } from "./cli-run.ts";
import { spaceOf } from "#conversation/on-space";

const folder = tempDir();
let server: LoopbackPostgres;

beforeAll(async () => {
  server = await startPostgres();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const [SAME_MODEL, OTHER_MODEL] = ["anthropic/claude-sonnet-5-5", "openai/gpt-5"];
const email = (to: string): ScriptedAnswer => ({
  calls: [{ name: "ComposeEmail", input: { to, subject: "17", body: "Paid." } }],
});
const STEPS: { readonly [wire: string]: readonly ScriptedAnswer[] } = {
  anthropic: [{ calls: [{ name: "Lookup", input: { invoice: 17 } }] }, email("a@example.org")],
  openai: [email("b@example.org")],
};

function answerTo(wire: string, body: string): ScriptedAnswer {
  const results = body.split(/"type":"tool_result"|"type":"function_call_output"/).length - 1;
  return STEPS[wire]?.[results] ?? { text: "Told." };
}

/** Every entry and every link; what says when it was exported is left out. */
const exact = (bundle: string): readonly string[] =>
  readFileSync(bundle, "utf8").trimEnd().split("\n").slice(1, -1);

test("exported from PostgreSQL, imported into SQLite, replayed without effects, compared: only what models did otherwise differs", async () => {
  await using models = await startModelServer(({ wire, body }) => answerTo(wire, body));
  const env = {
    ANTHROPIC_API_KEY: "dummy",
    ANTHROPIC_BASE_URL: models.baseUrl("anthropic"),
    OPENAI_API_KEY: "dummy",
    OPENAI_BASE_URL: models.baseUrl("openai"),
  };
  const [production, local] = [`${server.url}?schema=production`, `sqlite:${folder.path}/local.db`];
  const [outbox, bundle, module] = ["outbox.jsonl", "thread.jsonl", "agent.mjs"].map((name) =>
    join(folder.path, name),
  ) as [string, string, string];
  const here = (store: string, ...args: readonly string[]): Promise<Ran> =>
    holdfastHere(store, args, { env });
  const lookup = { name: "Lookup", effect: "none", run: async () => "Invoice 17 was paid." } as const;
  {
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
  }
  writeFileSync(
    module,
    `import { appendFileSync } from "node:fs";
export const agent = () => ({
  instructions: false,
  permission: () => "allow",
  tools: [
    { name: "Lookup", effect: "none", run: async () => "Invoice 17 was paid." },
    {
      name: "ComposeEmail",
      final: true,
      run: async (input) => (appendFileSync(${JSON.stringify(outbox)}, JSON.stringify(input) + "\\n"), "Sent"),
      dryRun: async ({ to }) => "Would be sent to " + to,
    },
  ],
});
`,
  );
  expect((await here(production, "export", "thread", "-o", bundle)).status).toBe(0);
  const imported = await here(local, "import", bundle, "--json");
  expect(jsonLines(imported.out)).toMatchObject([{ conversation: "thread", links: "kept", problems: [] }]);
  const again = join(folder.path, "again.jsonl");
  expect((await here(local, "export", "thread", "-o", again)).status).toBe(0);
  expect(exact(again)).toEqual(exact(bundle));

  const both = ["--model", SAME_MODEL, "--model", OTHER_MODEL];
  const ran = await here(local, "replay", "thread", ...both, "--agent", module, "--json");
  expect([ran.status, ran.err]).toEqual([0, ""]);
  const ended = jsonLines(ran.out).filter(({ type }) => type === "ended");
  expect(ended).toMatchObject([
    { model: SAME_MODEL, outcome: "completed", calls: 2, divergence: null },
    { model: OTHER_MODEL, calls: 1, divergence: { a: { name: "Lookup" }, b: { name: "ComposeEmail" } } },
  ]);
  expect(ran.out).toContain("Would be sent to b@example.org");
  const forks = ended.map(({ conversation }) => String(conversation));
  const diff = await here(local, "diff", "thread", ...forks, "--json", "--stat");
  expect(jsonLines(diff.out)).toMatchObject([
    { common: { kind: "ancestor" }, b: { totals: { models: [SAME_MODEL], calls: 2 } } },
    { b: { totals: { models: [OTHER_MODEL], calls: 1 } }, divergence: { kind: "call" } },
  ]);
  expect(existsSync(outbox) ? readFileSync(outbox, "utf8").trimEnd().split("\n") : []).toHaveLength(1);
  const after = join(folder.path, "after.jsonl");
  // Neither side was changed by it, and the way back is known to be the same.
  expect((await here(local, "export", "thread", "-o", after)).status).toBe(0);
  expect(exact(after)).toEqual(exact(bundle));
  expect(jsonLines((await here(production, "import", after, "--json")).err)).toMatchObject([
    { error: { code: "conversation_exists" } },
  ]);
});

/** A process that follows, and what it has said to people; resolves once it has copied all that was there. */
async function following(
  from: string,
  to: string,
): Promise<{ readonly child: ChildProcess; readonly told: readonly string[] }> {
  const args = [MAIN, "copy", "--from", from, "--to", to, "--follow"];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  const told: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const input of [child.stdout, child.stderr])
    createInterface({ input }).on("line", (line) => {
      told.push(line);
      if (line.startsWith("Copied all")) resolve();
    });
  await promise;
  return { child, told };
}

/** Two conversations are written to at once while acts of every kind go on; resolves when all of it is done. */
async function load(from: Holdfast, made: RandomSpace, round: number): Promise<void> {
  const write = async (id: string): Promise<void> => {
    const chat = await from.create({ id });
    for (let n = 0; n < 60; n++) {
      const message = { role: "user", content: [{ type: "text", text: `word ${n} of ${id}` }] } as const;
      await chat.append([
        { type: "message", message },
        { type: "title", title: `at ${n}` },
      ]);
    }
  };
  const acts = async (): Promise<void> => {
    for (const act of fc.sample(spaceAct, { numRuns: 60, seed: round })) await made.do(act);
  };
  await Promise.all([acts(), write(`one-${round}`), write(`two-${round}`)]);
}

test("copy --follow from SQLite to PostgreSQL under load, killed, begun again and stopped, leaves the same", async () => {
  const from = `sqlite:${folder.path}/chats.db`;
  const to = `${server.url}?schema=moved`;
  await using source = await openHoldfast({ store: from });
  const made = new RandomSpace(source.store);
  await made.do({ kind: "new", on: 0, at: 0 });
  const first = load(source, made, 1);
  const killed = await following(from, to);
  killed.child.kill("SIGKILL");
  await once(killed.child, "close");
  const second = await following(from, to);
  await first;
  await load(source, made, 2);
  await using target = await openHoldfast({ store: to, readOnly: true });
  const caughtUp = async (): Promise<boolean> => {
    for await (const { conversation, headSeq } of source.listAll())
      if (
        (
          await spaceOf(target)
            .head(conversation)
            .catch(() => null)
        )?.headSeq !== headSeq
      )
        return false;
    return true;
  };
  await expect.poll(caughtUp, { interval: 100 }).toBe(true);
  second.child.kill("SIGINT");
  expect((await once(second.child, "close"))[0]).toBe(0);
  expect(await tellAll(spaceOf(target))).toEqual(await tellAll(spaceOf(source)));
  const last = await holdfastHere(from, ["copy", "--to", to]);
  expect(last.out).toMatch(/^Nothing new in \d+ conversations\n$/);
  // The server's password is in no line.
  expect([...killed.told, ...second.told, last.out, last.err].join("\n")).not.toContain("loopback");
});
