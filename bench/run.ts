import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { measureAcpBridge } from "./acp-bridge.ts";
import { measureAgentLoop } from "./agent-loop.ts";
import { measureAppend } from "./append.ts";
import { measureFork } from "./fork.ts";
import { measureGroupCommit } from "./group-commit.ts";
import { measureJsonl } from "./jsonl.ts";
import { measureLangGraph } from "./langgraph.ts";
import { measureList } from "./list.ts";
import { describeMachine, type Machine } from "./machine.ts";
import { measureOpenContext } from "./open-context.ts";
import { installPeers } from "./peers.ts";
import { measurePool } from "./pool.ts";
import { measurePostgres } from "./postgres.ts";
import { measurePostgresSizes } from "./postgres-sizes.ts";
import { measurePriorContext } from "./prior-context.ts";
import { type Row, tableOf, unmeasured, verdictOf } from "./report.ts";
import { measureReads } from "./reads.ts";
import { measureRestore } from "./restore.ts";
import { measureRuns } from "./runs.ts";
import { measureScans } from "./scans.ts";
import { measureSending } from "./sending.ts";
import { measureServer } from "./server.ts";
import { Stage } from "./stage.ts";
import { measureSteps } from "./steps.ts";
import { measureTails } from "./tails.ts";
import { measureTurns } from "./turns.ts";
import { measureWebUi } from "./web-ui.ts";

type Measure = (stage: Stage) => Promise<readonly Row[]>;

const MEASURES: { readonly [name: string]: Measure } = {
  append: measureAppend,
  "group-commit": measureGroupCommit,
  restore: measureRestore,
  "open-context": measureOpenContext,
  jsonl: measureJsonl,
  langgraph: measureLangGraph,
  "prior-context": measurePriorContext,
  sending: measureSending,
  fork: measureFork,
  list: measureList,
  tails: measureTails,
  reads: measureReads,
  scans: measureScans,
  turns: measureTurns,
  runs: measureRuns,
  "agent-loop": measureAgentLoop,
  steps: measureSteps,
  pool: measurePool,
  postgres: measurePostgres,
  server: measureServer,
  "web-ui": measureWebUi,
  "postgres-sizes": measurePostgresSizes,
  "acp-bridge": measureAcpBridge,
};

const PEERED: ReadonlySet<string> = new Set(["open-context", "langgraph"]);

const USAGE = `npm run bench -- [--quick] [--only NAME[,NAME]] [--sizes N[,N]] [--json FILE] [--dir FOLDER]

  --quick   fewer samples, no conversation of 1M entries
  --only    ${Object.keys(MEASURES).join(", ")}
  --sizes   how large the conversations are, rising: 100,10000,100000,1000000 by default
  --json    where the figures go (bench/results/ by default)
  --dir     where the stores lie: the disk that is measured (bench/results/ by default)
  --kept    where the conversations of reads, scans and turns are kept for the next run (a new folder by default)`;

interface Flags {
  readonly quick: boolean;
  readonly names: readonly string[];
  readonly sizes: readonly number[] | null;
  readonly json: string;
  readonly dir: string;
  readonly kept: string | null;
}

function readFlags(): Flags | null {
  const { values } = parseArgs({
    options: {
      quick: { type: "boolean", default: false },
      only: { type: "string" },
      sizes: { type: "string" },
      json: { type: "string" },
      dir: { type: "string" },
      kept: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const names = values.only?.split(",") ?? Object.keys(MEASURES);
  const sizes = values.sizes?.split(",").map(Number) ?? null;
  if (sizes?.some((size) => !Number.isSafeInteger(size) || size < 1)) return null;
  if (values.help || names.some((name) => MEASURES[name] === undefined)) return null;
  const results = join(import.meta.dirname, "results");
  const stamp = new Date().toISOString().slice(0, 19).replaceAll(":", "-");
  const json = values.json ?? join(results, `${stamp}.json`);
  return { quick: values.quick, names, sizes, json, dir: values.dir ?? results, kept: values.kept ?? null };
}

function say(line: string): void {
  process.stderr.write(`  ${line}\n`);
}

async function main(flags: Flags): Promise<void> {
  if (flags.names.some((name) => PEERED.has(name))) installPeers(say);
  mkdirSync(flags.dir, { recursive: true });
  const dir = mkdtempSync(join(flags.dir, "stores-"));
  try {
    const machine = await describeMachine(dir);
    console.log(`${machineText(machine)}\n`);
    const kept = flags.kept ?? dir;
    mkdirSync(kept, { recursive: true });
    const rows = await measureAll(
      flags,
      new Stage({ dir, kept, quick: flags.quick, sizes: flags.sizes, say }),
    );
    console.log(`\n${tableOf(rows)}`);
    const over = rows.filter((row) => verdictOf(row) === "OVER").length;
    console.log(
      `\n${over === 0 ? "Every budget that was judged is met" : `${over} over budget`}. ${flags.json}`,
    );
    const judged = rows.map((row) => Object.assign({ verdict: verdictOf(row) }, row));
    mkdirSync(dirname(flags.json), { recursive: true });
    writeFileSync(
      flags.json,
      `${JSON.stringify({ version: 1, quick: flags.quick, machine, rows: judged }, null, 2)}\n`,
    );
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

async function measureAll(flags: Flags, given: Stage): Promise<readonly Row[]> {
  await using stage = given;
  const rows: Row[] = [];
  for (const name of flags.names) {
    const started = performance.now();
    const measured = await measureOne(name, stage);
    say(`${name}: ${((performance.now() - started) / 1_000).toFixed(1)} s`);
    rows.push(...measured);
  }
  return rows;
}

/** One that fails is a line in the table; the others still run. */
async function measureOne(name: string, stage: Stage): Promise<readonly Row[]> {
  try {
    return (await MEASURES[name]?.(stage)) ?? [];
  } catch (error) {
    return [unmeasured(name, "-", `failed: ${error instanceof Error ? error.message : String(error)}`)];
  }
}

function machineText({ node, sqlite, cores, load, fsync }: Machine): string {
  const [median, p99] = [fsync.medianMs, fsync.p99Ms].map((ms) => `${ms.toFixed(2)} ms`);
  return `Node ${node}, SQLite ${sqlite}, ${cores} cores with a load of ${load.toFixed(1)}, fsync ${median} (p99 ${p99})`;
}

const flags = readFlags();
if (flags === null) console.log(USAGE);
else await main(flags);
