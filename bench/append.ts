import { openHoldfast } from "../src/open.ts";
import { BareThread } from "./bare-thread.ts";
import { BareWriter } from "./bare.ts";
import { FloorThread } from "./floor-thread.ts";
import { turnBodies } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate, type Timing } from "./sample.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

const LEASE_MS = 600_000;

/** A turn's four messages, on disk before the call returns. */
export async function measureAppend(stage: Stage): Promise<readonly Row[]> {
  await using holdfast = await openHoldfast({ store: `sqlite:${stage.path("append.db")}` });
  using bare = new BareWriter(stage.path("append-bare.db"), { head: false });
  using headed = new BareWriter(stage.path("append-headed.db"), { head: true });
  await using thread = await BareThread.open({
    path: stage.path("append-thread.db"),
    checkpointFrames: 1_000,
  });
  await using floor = await FloorThread.open(stage.path("append-floor.db"), 1);
  const conversation = await holdfast.create({ id: "once" });
  const owned = await holdfast.create({ id: "owned" });
  await using owner = await owned.own({ writer: "bench", leaseMs: LEASE_MS });
  let turn = 0;
  const times = await alternate(
    {
      bare: { run: () => bare.append(turnBodies(turn++, TURN_CHARS)) },
      headed: { run: () => headed.append(turnBodies(turn++, TURN_CHARS)) },
      thread: { run: () => thread.append(1, turnBodies(turn++, TURN_CHARS)) },
      floor: { run: () => floor.append(0, turnBodies(turn++, TURN_CHARS)) },
      once: { run: () => conversation.append(turnBodies(turn++, TURN_CHARS)) },
      owner: { run: () => owner.append(turnBodies(turn++, TURN_CHARS)) },
    },
    stage.plan(2_000, 20_000),
  );
  const budget = { atMost: 1.3 };
  const rows = [
    ["durable append of a turn, owner.append", times.owner],
    ["durable append of a turn, conversation.append", times.once],
  ] as const;
  return [
    ...rows.flatMap(([work, ours]) => [
      slower(work, "bare transaction in a writer's thread", { ours, theirs: times.thread, budget }),
      slower(work, "– in the calling thread", {
        ours,
        theirs: times.bare,
        note: addedText(ours, times.bare),
      }),
      slower(work, "– with a row for the head", { ours, theirs: times.headed }),
    ]),
    slower("the least with the same promises, by hand", "bare transaction in a writer's thread", {
      ours: times.floor,
      theirs: times.thread,
    }),
    slower("bare transaction in a writer's thread", "– in the calling thread", {
      ours: times.thread,
      theirs: times.bare,
    }),
  ];
}

/** A fixed cost shows more the faster the disk; this says how much there is of it. */
function addedText(ours: Timing, theirs: Timing): string {
  return `adds ${Math.round((ours.medianMs - theirs.medianMs) * 1_000)} us to the transaction, most of which does not grow with the cost of a sync`;
}
