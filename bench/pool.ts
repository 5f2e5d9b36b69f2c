import { mkdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Agent, type AgentOptions, McpServers, Memory, Skills } from "../src/agent/index.ts";
import type { Conversation } from "../src/conversation/conversation.ts";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { ASKED, StreamingModel } from "./agent-loop.ts";
import { BareReader } from "./bare.ts";
import { bodyOf, saidAt } from "./history.ts";
import type { Row } from "./report.ts";
import { slower } from "./report.ts";
import { buildWhole, heldForATurn, MESSAGES } from "./restore.ts";
import { alternate, type Timing } from "./sample.ts";
import type { Stage } from "./stage.ts";

const STEPS = 3;
const SKILLS = 12;
const MEMORIES = 50;

/** What a conversation costs that is held, one that is made anew from the log, and a turn in each of the three shapes. */
export async function measurePool(stage: Stage): Promise<readonly Row[]> {
  const path = stage.path("pool.db");
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  await using other = await openHoldfast({ store: `sqlite:${path}` });
  const folder = stage.path("pool-project");
  const whole = await holdfast.create({ id: "whole", cwd: folder });
  const grown = await holdfast.create({ id: "grown", cwd: folder });
  await buildWhole(whole);
  await buildWhole(grown);
  const at = { holdfast, other, whole, memory: await fillMemory(holdfast), skills: fillSkills(folder) };
  using bare = new BareReader(path);
  const row = bare.rowOf("whole");
  return [
    ...(await measureHeld(stage, at, grown)),
    ...(await measureRebuild(stage, at, () => bare.whole(row))),
    ...(await measureServer(stage)),
    ...(await measureShapes(stage, at)),
  ];
}

interface Place {
  readonly holdfast: Holdfast;
  readonly whole: Conversation;
  readonly memory: Memory;
  readonly skills: Skills;
}

async function fillMemory(holdfast: Holdfast): Promise<Memory> {
  const memory = new Memory(holdfast);
  for (let n = 0; n < MEMORIES; n++)
    await memory.save("user", { key: `fact-${n}`, content: `What is to be known, number ${n}` });
  return memory;
}

function fillSkills(folder: string): Skills {
  for (let n = 0; n < SKILLS; n++) {
    const place = join(folder, ".agents", "skills", `skill-${n}`);
    mkdirSync(place, { recursive: true });
    writeFileSync(
      join(place, "SKILL.md"),
      `---\nname: skill-${n}\ndescription: Does ${n}\n---\nSteps of ${n}.\n`,
    );
  }
  return new Skills();
}

async function nothing(): Promise<void> {
  // What is measured is what comes before.
}

function agentIn(
  { holdfast, memory, skills }: Place,
  pool: AgentOptions["pool"],
): { agent: Agent; model: StreamingModel } {
  const model = new StreamingModel();
  model.shape = { updates: 1, calls: STEPS };
  const look = { name: "look", effect: "none", run: async () => "seen" } as const;
  const bash = { name: "bash", run: async () => "done" } as const;
  const options = { model, tools: [look, bash], memory, skills, compaction: null } as const;
  return { model, agent: new Agent(holdfast, { ...options, ...(pool === undefined ? {} : { pool }) }) };
}

async function measureHeld(
  stage: Stage,
  at: Place & { readonly other: Holdfast },
  grown: Conversation,
): Promise<readonly Row[]> {
  const { agent } = agentIn(at, { mode: "live" });
  await using _ = agent;
  const elsewhere = await at.other.conversation("grown");
  let turn = MESSAGES;
  const write = async (): Promise<void> => {
    await elsewhere.append([0, 1, 2, 3].map((part) => bodyOf(saidAt(turn + part, 400))));
    turn += 4;
  };
  const work = (): Promise<void> => agent.pool.with(at.whole, nothing);
  const after = (): Promise<void> => agent.pool.with(grown, nothing);
  const times = await alternate(
    { hit: { before: work, run: work }, grown: { before: write, run: after } },
    stage.plan(400, 10_000),
  );
  const what = `a held conversation of ${MESSAGES} messages`;
  return [
    inMs(`pool: ${what} is worked with`, times.hit, { atMost: 0.1 }),
    inMs(`pool: the same after another process has written a turn`, times.grown),
  ];
}

async function measureRebuild(stage: Stage, at: Place, read: () => unknown): Promise<readonly Row[]> {
  const { agent } = agentIn(at, { mode: "rebuild" });
  await using _ = agent;
  const times = await alternate(
    {
      ours: { run: () => heldForATurn(() => agent.pool.with(at.whole, async ({ restored }) => restored)) },
      bare: { run: () => heldForATurn(read) },
    },
    stage.plan(80, 15_000),
  );
  const work = `pool: ${MESSAGES} messages with skills, memory and state made anew`;
  return [
    slower(work, "bare SELECT + JSON.parse", {
      ours: times.ours,
      theirs: times.bare,
      budget: { atMost: 1.3 },
    }),
  ];
}

/** A server of MCP that was let go of with its conversation: a process and its list of tools. */
async function measureServer(stage: Stage): Promise<readonly Row[]> {
  const program = createRequire(import.meta.url).resolve(
    "@modelcontextprotocol/server-everything/dist/index.js",
  );
  await using servers = new McpServers([
    { name: "every", command: process.execPath, args: [program, "stdio"] },
  ]);
  const again = { before: () => servers.releaseHolder(), run: () => servers.open() };
  const { opened } = await alternate({ opened: again }, stage.plan(12, 15_000));
  return [inMs("pool: an MCP server over stdio opened again, apart from the above", opened)];
}

/** The same turn, begun at the same place each time; hybrid with what is held, and after it was let go of. */
async function measureShapes(stage: Stage, at: Place): Promise<readonly Row[]> {
  const { leaf } = await at.whole.head();
  const shapes = {
    live: agentIn(at, { mode: "live" }),
    rebuild: agentIn(at, { mode: "rebuild" }),
    hybrid: agentIn(at, {}),
  };
  const turn = ({ agent }: { readonly agent: Agent }, isWarm: boolean) => ({
    before: async (): Promise<void> => {
      await at.whole.goTo(leaf.id);
      if (isWarm) await agent.pool.with(at.whole, nothing);
      else await agent.pool.release(at.whole);
    },
    run: () => agent.send(at.whole, ASKED),
  });
  const times = await alternate(
    {
      live: turn(shapes.live, true),
      rebuild: turn(shapes.rebuild, false),
      held: turn(shapes.hybrid, true),
      cold: turn(shapes.hybrid, false),
    },
    stage.plan(30, 20_000),
  );
  await Promise.all(Object.values(shapes).map(({ agent }) => agent.close()));
  const what = `a turn of ${STEPS + 1} model calls after ${MESSAGES} messages`;
  return [
    inMs(`pool: ${what}, live`, times.live),
    inMs(`pool: ${what}, hybrid, held`, times.held),
    inMs(`pool: ${what}, hybrid, let go of before`, times.cold),
    inMs(`pool: ${what}, rebuild`, times.rebuild),
  ];
}

function inMs(work: string, ours: Timing, budget: Row["budget"] = null): Row {
  return { work, against: "the clock", value: ours.medianMs, unit: "ms", budget, ours, theirs: null };
}
