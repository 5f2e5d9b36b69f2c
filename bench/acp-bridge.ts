import { type Stream, type Streamed, StreamHost } from "./acp-stream.ts";
import type { Budget, Row } from "./report.ts";
import { type Plan, ROUNDS_MIN, type Timing, timingOf } from "./sample.ts";
import { sizeText, type Stage } from "./stage.ts";

const PACED: Stream = { updates: 500, burst: 1, everyMs: 1 };
const BURSTS: Stream = { updates: 500, burst: 50, everyMs: 25 };
const UNPACED: Stream = { updates: 20_000, burst: 0, everyMs: 0 };
const BUDGET_MS = 0.3;

/** What the bridge adds to each update on its way from an agent to its host, while it records all of them. */
export async function measureAcpBridge(stage: Stage): Promise<readonly Row[]> {
  await using direct = new StreamHost("nothing");
  await using bridged = new StreamHost({ store: `sqlite:${stage.path("acp.db")}` });
  await using relayed = new StreamHost("relay");
  const hosts = [direct, bridged, relayed];
  for (const host of hosts) await host.start();
  const sides = { direct, bridged };
  // The code is as hot as in a session that has been used for a while.
  for (const host of hosts) await host.stream({ ...UNPACED, updates: 5_000 });
  const relay = { direct, bridged: relayed };
  return [
    addedRow("one every ms", await alternating(sides, PACED, stage.plan(40, 45_000)), BUDGET_MS),
    {
      ...addedRow("one every ms", await alternating(relay, PACED, stage.plan(40, 45_000)), null),
      work: "– of a process that passes lines on, and looks at none",
    },
    addedRow("bursts of 50", await alternating(sides, BURSTS, stage.plan(40, 20_000)), null),
    unpacedRow(await alternating(sides, UNPACED, stage.plan(8, 15_000))),
  ];
}

interface Rounds {
  readonly direct: readonly Streamed[];
  readonly bridged: readonly Streamed[];
}

/** One stream each per round, every other round in reverse, so that what else the machine does falls on both. */
async function alternating(
  sides: { readonly direct: StreamHost; readonly bridged: StreamHost },
  how: Stream,
  plan: Plan,
): Promise<Rounds> {
  const taken: { direct: Streamed[]; bridged: Streamed[] } = { direct: [], bridged: [] };
  const until = performance.now() + plan.limitMs;
  for (let round = 0; round < plan.rounds; round++) {
    if (round >= ROUNDS_MIN && performance.now() > until) break;
    const names = ["direct", "bridged"] as const;
    for (const name of round % 2 === 0 ? names : names.toReversed())
      taken[name].push(await sides[name].stream(how));
  }
  return taken;
}

function pooled(rounds: readonly Streamed[]): Timing {
  return timingOf(rounds.flatMap(({ latencies }) => latencies));
}

function slowest(rounds: readonly Streamed[]): number {
  return Math.max(...rounds.map(({ latencies }) => Math.max(...latencies)));
}

/** The difference of each round's two figures, and the middle of those: a stall of the machine hits one round. */
function added(rounds: Rounds, figure: (timing: Timing) => number): number {
  const differences = rounds.bridged.map((streamed, round) => {
    const beside = rounds.direct[round]?.latencies ?? [];
    return figure(timingOf(streamed.latencies)) - figure(timingOf(beside));
  });
  return timingOf(differences).medianMs;
}

/** A machine on which the agent alone takes so long says nothing of the bridge. */
function budgetOf(atMost: number, alone: Timing): Budget {
  return alone.p99Ms <= atMost ? { atMost } : { atMost, unless: `${alone.p99Ms.toFixed(1)} ms without it` };
}

function addedRow(pace: string, rounds: Rounds, atMost: number | null): Row {
  const [p50, p99] = [added(rounds, ({ medianMs }) => medianMs), added(rounds, ({ p99Ms }) => p99Ms)];
  const [ours, theirs] = [pooled(rounds.bridged), pooled(rounds.direct)];
  const worst = [slowest(rounds.bridged), slowest(rounds.direct)].map((ms) => ms.toFixed(1)).join(" and ");
  return {
    work: `ACP bridge: added per update at the p99, ${pace}`,
    against: "the agent without the bridge",
    value: p99,
    unit: "ms",
    budget: atMost === null ? null : budgetOf(atMost, theirs),
    ours,
    theirs,
    note: `${p50.toFixed(3)} ms at the median; ${sizeText(ours.samples)} updates on each side, the slowest ${worst} ms`,
  };
}

function unpacedRow(rounds: Rounds): Row {
  const perUpdate = (streamed: readonly Streamed[]): Timing =>
    timingOf(streamed.map(({ elapsedMs, latencies }) => elapsedMs / latencies.length));
  const [ours, theirs] = [perUpdate(rounds.bridged), perUpdate(rounds.direct)];
  const rate = ({ medianMs }: Timing): string => `${Math.round(1 / medianMs)}k`;
  return {
    work: "ACP bridge: an update as fast as they pass",
    against: "the agent without the bridge",
    value: ours.medianMs * 1_000,
    unit: "us",
    budget: null,
    ours,
    theirs,
    note: `${rate(ours)} updates a second, and ${rate(theirs)} without`,
  };
}
