/** `npm run sim`: seeded stories on every store, until something breaks or they are all told. */
import { spawn } from "node:child_process";
import { parseArgs } from "node:util";
import { FAULT_KINDS } from "#testing/index";
import { addTally, campaign, emptyTally, type Plan, shrink, type Tally } from "./campaign.ts";
import { commandFor, killsTable, loopsTable, strikesTable, summaryOf } from "./report.ts";
import { closeServer, STORE_NAMES, type StoreName } from "./stores.ts";

const USAGE = `npm run sim -- --seed S --conversations N [--store memory|sqlite|jsonl|jsonl-disk|postgres|all] [--jobs J] [--json]

  --seed           the first seed; each story of a few conversations takes the next one (1)
  --conversations  how many (300)
  --store          where they are kept; all: most in memory, some on each of the others (memory)
  --jobs           how many processes share the work (1)
  --json           the figures as one line of JSON
  --people         conversations side by side in one story (3)
  --prompts        prompts in each, at least (12)
  --probability    how likely each fault is in each phase (0.02)
  --faults         only these, by name; none: no fault at all
  --no-kills       the host is never killed`;

/** Real disks take a hundred times as long. */
const SHARES: { readonly [S in StoreName]: number } = {
  memory: 1,
  jsonl: 0.1,
  sqlite: 0.03,
  "jsonl-disk": 0.02,
  postgres: 0.02,
};
const FAILURES_SHOWN = 5;

function readFlags() {
  const { values } = parseArgs({
    options: {
      seed: { type: "string", default: "1" },
      conversations: { type: "string", default: "300" },
      store: { type: "string", default: "memory" },
      jobs: { type: "string", default: "1" },
      json: { type: "boolean", default: false },
      people: { type: "string", default: "3" },
      prompts: { type: "string", default: "12" },
      probability: { type: "string", default: "0.02" },
      faults: { type: "string" },
      "no-kills": { type: "boolean", default: false },
      part: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  return values;
}

type Flags = ReturnType<typeof readFlags>;

function plansOf(flags: Flags): readonly Plan[] {
  const faults = flags.faults?.split(",") ?? FAULT_KINDS;
  const [nth, of] = (flags.part ?? "0/1").split("/").map(Number);
  const stores = STORE_NAMES.filter((name) => flags.store === "all" || flags.store === name);
  if (stores.length === 0) throw new RangeError(`There is no store ${flags.store}`);
  return stores.map((store) => ({
    store,
    seed: Number(flags.seed),
    conversations: Math.ceil(Number(flags.conversations) * (flags.store === "all" ? SHARES[store] : 1)),
    people: Number(flags.people),
    prompts: Number(flags.prompts),
    probability: Number(flags.probability),
    faults: FAULT_KINDS.filter((kind) => faults.includes(kind)),
    kills: !flags["no-kills"],
    part: { nth: nth ?? 0, of: of ?? 1 },
  }));
}

async function playHere(plans: readonly Plan[]): Promise<Tally> {
  const sum = emptyTally();
  for (const plan of plans) {
    let shownMs = 0;
    const tally = await campaign(plan, (now, of) => {
      if (now.ms - shownMs < 5_000) return;
      shownMs = now.ms;
      const speed = ((now.conversations / now.ms) * 1_000).toFixed(0);
      process.stderr.write(
        `  ${plan.store}: ${now.conversations} of ${of}, ${speed} a second, ${now.failures.length} failed\n`,
      );
    });
    addTally(sum, tally);
  }
  return sum;
}

/** Shares the stories between processes; each prints its tally as one line. */
async function playElsewhere(jobs: number): Promise<Tally> {
  const own = process.argv.slice(1);
  const tallies = Array.from({ length: jobs }, async (_, nth) => {
    const child = spawn(process.execPath, [...own, "--json", "--jobs", "1", "--part", `${nth}/${jobs}`], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const chunks: Buffer[] = [];
    for await (const chunk of child.stdout) chunks.push(chunk as Buffer);
    return (JSON.parse(Buffer.concat(chunks).toString("utf8")) as { tally: Tally }).tally;
  });
  const sum = emptyTally();
  for (const tally of await Promise.all(tallies)) addTally(sum, tally);
  return sum;
}

async function showFailures(tally: Tally, plans: readonly Plan[]): Promise<void> {
  for (const failure of tally.failures.slice(0, FAILURES_SHOWN)) {
    const plan = plans.find(({ store }) => store === failure.store);
    if (plan === undefined) continue;
    console.log(`\nseed ${failure.seed} on ${failure.store}:`);
    for (const violation of failure.violations.slice(0, FAILURES_SHOWN)) console.log(`  ${violation}`);
    const failing = { ...plan, seed: failure.seed, conversations: plan.people };
    console.log(`  again:   ${commandFor(failing)}\n  smaller: ${commandFor(await shrink(failing))}`);
  }
}

const flags = readFlags();
if (flags.help) console.log(USAGE);
else {
  const startedMs = performance.now();
  const plans = plansOf(flags);
  const jobs = Number(flags.jobs);
  const tally = jobs > 1 ? await playElsewhere(jobs) : await playHere(plans);
  const wallMs = performance.now() - startedMs;
  if (flags.json) console.log(JSON.stringify({ wallMs, tally }));
  else {
    console.log(
      `${strikesTable(tally)}\n\n${killsTable(tally)}\n\n${loopsTable(tally)}\n\n${summaryOf(tally, wallMs)}`,
    );
    await showFailures(tally, plans);
  }
  await closeServer();
  process.exitCode = tally.failures.length === 0 ? 0 : 1;
}
