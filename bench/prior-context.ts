import { decodeEntry } from "../src/log/codec.ts";
import type { Entry } from "../src/log/entry.ts";
import { BareReader } from "./bare.ts";
import { type Row, slower } from "./report.ts";
import { alternate, type Side, type Timing, timingNamed } from "./sample.ts";
import { type Library, type Sized, sizeText, type Stage } from "./stage.ts";

const WANTED = 20;

/** The last messages of the active branch, parsed: what a turn reads before it starts. */
export async function measurePriorContext(stage: Stage): Promise<readonly Row[]> {
  const library = await stage.library();
  using bare = new BareReader(library.path);
  const sides: { [name: string]: Side } = {};
  for (const sized of library.sized) {
    const row = bare.rowOf(sized.conversation.id);
    await checkSame(library, sized, bare.newest(row, WANTED));
    sides[`ours ${sized.size}`] = { run: () => readLast(library, sized) };
    sides[`bare ${sized.size}`] = { run: () => bare.newest(row, WANTED) };
  }
  const timings = await alternate(sides, stage.plan(2_000, 20_000));
  const timing = (name: string): Timing => timingNamed(timings, name);
  const rows = stage.sizes.map((size) =>
    slower(`prior context of ${WANTED}, ${sizeText(size)} entries`, "bare SELECT + JSON.parse", {
      ours: timing(`ours ${size}`),
      theirs: timing(`bare ${size}`),
      budget: { atMost: 1.5 },
    }),
  );
  const [smallest = 0, largest = 0] = [stage.sizes[0], stage.sizes.at(-1)];
  const flat = slower(
    `prior context of ${WANTED}, ${sizeText(largest)} entries`,
    `ours at ${smallest} entries`,
    {
      ours: timing(`ours ${largest}`),
      theirs: timing(`ours ${smallest}`),
      budget: { atMost: 1.3 },
    },
  );
  return [...rows, flat];
}

async function readLast(library: Library, sized: Sized): Promise<readonly Entry[]> {
  const page = await library.space.page({ conversation: sized.conversation.id, limit: WANTED });
  return page.entries.map((stored) => decodeEntry(stored));
}

/** Both sides must read the same messages, or the ratio means nothing. */
async function checkSame(library: Library, sized: Sized, bare: readonly unknown[]): Promise<void> {
  const ours = (await readLast(library, sized)).map((entry) => ("message" in entry ? entry.message : null));
  const theirs = bare.map((payload) => (payload as { message?: unknown }).message);
  if (JSON.stringify(ours) !== JSON.stringify(theirs))
    throw new Error("The two sides read different messages");
}
