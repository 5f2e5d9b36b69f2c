import { openHoldfast } from "../src/open.ts";
import type { Conversation } from "../src/conversation/conversation.ts";
import { BareThread } from "./bare-thread.ts";
import { FloorThread } from "./floor-thread.ts";
import { turnBodies } from "./history.ts";
import { SyncProbe } from "./machine.ts";
import { type Row, slower } from "./report.ts";
import { alternate, type Timing } from "./sample.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

const LANES = 64;
const TURNS_EACH = 8;
const TURNS_ALONE = 64;

/** Many conversations that append at once, each waiting for its own turn to be durable before the next. */
export async function measureGroupCommit(stage: Stage): Promise<readonly Row[]> {
  await using holdfast = await openHoldfast({ store: `sqlite:${stage.path("group.db")}` });
  const lanes: Conversation[] = [];
  for (let n = 0; n < LANES; n++) lanes.push(await holdfast.create({ id: `lane-${n}` }));
  const alone = await holdfast.create({ id: "alone" });
  await using bare = await BareThread.open({ path: stage.path("group-bare.db"), checkpointFrames: 1_000 });
  await using floor = await FloorThread.open(stage.path("group-floor.db"), LANES);
  using probe = new SyncProbe(stage.path("group-fsync"));
  const times = await alternate(
    {
      together: { run: () => Promise.all(lanes.map((lane) => appendTurns(lane, TURNS_EACH))) },
      bare: { run: () => Promise.all(lanes.map((_, lane) => bareTurns(bare, lane, TURNS_EACH))) },
      floor: { run: () => Promise.all(lanes.map((_, lane) => bareTurns(floor, lane, TURNS_EACH))) },
      bareAlone: { run: () => bareTurns(bare, LANES, TURNS_ALONE) },
      alone: { run: () => appendTurns(alone, TURNS_ALONE) },
      fsync: probe.side,
    },
    stage.plan(20, 20_000),
  );
  const together = perTurn(times.together, LANES * TURNS_EACH);
  const single = perTurn(times.alone, TURNS_ALONE);
  const bareTogether = perTurn(times.bare, LANES * TURNS_EACH);
  const bareSingle = perTurn(times.bareAlone, TURNS_ALONE);
  const fsyncMs = times.fsync.medianMs;
  return [
    {
      work: `group commit, turns per second of ${LANES} conversations`,
      against: "ours with one conversation",
      value: single.medianMs / together.medianMs,
      unit: "x faster",
      budget: null,
      ours: together,
      theirs: single,
      note: `${Math.round(1_000 / together.medianMs)} turns per second against ${Math.round(1_000 / single.medianMs)}, a sync at ${fsyncMs.toFixed(2)} ms; times are per turn`,
    },
    {
      work: "– of a bare writer's thread that commits groups",
      against: "the same with one conversation",
      value: bareSingle.medianMs / bareTogether.medianMs,
      unit: "x faster",
      budget: null,
      ours: bareTogether,
      theirs: bareSingle,
    },
    slower("a turn among 64 conversations", "bare writer's thread that commits groups", {
      ours: together,
      theirs: bareTogether,
      budget: { atMost: 1.3 },
    }),
    slower("– the least with the same promises, by hand", "bare writer's thread that commits groups", {
      ours: perTurn(times.floor, LANES * TURNS_EACH),
      theirs: bareTogether,
    }),
  ];
}

async function appendTurns(conversation: Conversation, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await conversation.append(turnBodies(turn, TURN_CHARS));
}

async function bareTurns(bare: BareThread | FloorThread, lane: number, turns: number): Promise<void> {
  for (let turn = 0; turn < turns; turn++) await bare.append(lane, turnBodies(turn, TURN_CHARS));
}

function perTurn(timing: Timing, turns: number): Timing {
  return { ...timing, medianMs: timing.medianMs / turns, p99Ms: timing.p99Ms / turns };
}
