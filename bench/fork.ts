import { bodyOf, saidAt } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate, type Side, type Timing, timingNamed } from "./sample.ts";
import { sizeText, type Stage, TURN_CHARS } from "./stage.ts";

/** A fork from half way back, on disk, against appending one message to the same file. */
export async function measureFork(stage: Stage): Promise<readonly Row[]> {
  const library = await stage.library();
  const beside = await library.holdfast.create();
  let n = 0;
  const sides: { [name: string]: Side } = {
    append: { run: () => beside.append(bodyOf(saidAt(4 * n++, TURN_CHARS))) },
  };
  for (const { size, conversation, middle } of library.sized) {
    sides[`fork ${size}`] = { run: () => conversation.fork({ at: middle }) };
  }
  const timings = await alternate(sides, stage.plan(500, 20_000));
  const timing = (name: string): Timing => timingNamed(timings, name);
  const rows = stage.sizes.map((size) =>
    slower(`fork at ${sizeText(size)} entries`, "ours, append of one message", {
      ours: timing(`fork ${size}`),
      theirs: timing("append"),
      budget: { atMost: 2 },
    }),
  );
  const [smallest = 0, largest = 0] = [stage.sizes[0], stage.sizes.at(-1)];
  const flat = slower(`fork at ${sizeText(largest)} entries`, `ours at ${smallest} entries`, {
    ours: timing(`fork ${largest}`),
    theirs: timing(`fork ${smallest}`),
    budget: { atMost: 1.3 },
  });
  return [...rows, flat];
}
