import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { fill } from "./history.ts";
import { loadPeer, PI, type PiModule } from "./peers.ts";
import { writePiSession } from "./pi-session.ts";
import { faster, type Row, unmeasured } from "./report.ts";
import { alternate } from "./sample.ts";
import { MESSAGE_CHARS, sizeText, type Stage } from "./stage.ts";

const COMPACT_EVERY = 500;
const SIZES = [10_000, 100_000];
const JUDGED = 100_000; // what the budget speaks of

/** From nothing open to the messages a model is sent, in a long conversation that was compacted on the way. */
export async function measureOpenContext(stage: Stage): Promise<readonly Row[]> {
  const pi = await loadPeer<PiModule>(PI);
  const rows: Row[] = [];
  for (const size of SIZES) rows.push(...(await measureSize(stage, size, pi)));
  return rows;
}

async function measureSize(stage: Stage, size: number, pi: PiModule | string): Promise<readonly Row[]> {
  const work = `open + context, ${sizeText(size)} entries compacted every ${COMPACT_EVERY}`;
  if (typeof pi === "string") return [unmeasured(work, "pi SessionManager", pi)];
  stage.say(`building a compacted history of ${sizeText(size)} entries, ours and pi's`);
  const shape = { messages: size, chars: MESSAGE_CHARS, compactEvery: COMPACT_EVERY };
  const store = `sqlite:${stage.path(`open-${size}.db`)}`;
  const piFile = stage.path(`open-${size}.jsonl`);
  await build(store, shape);
  writePiSession(piFile, shape);
  const open = new Set<Holdfast>();
  const read = async (holdfast: Holdfast): Promise<number> =>
    (await (await holdfast.conversation("long")).context()).messages.length;
  const readOpened = async (): Promise<number> => {
    const holdfast = await openHoldfast({ store });
    open.add(holdfast);
    return read(holdfast);
  };
  const closeAll = async (): Promise<void> => {
    for (const holdfast of open) await holdfast.close();
    open.clear();
  };
  const readPi = (): number =>
    pi.SessionManager.open(piFile, stage.dir).buildSessionContext().messages.length;
  const [ours, theirs] = [await readOpened(), readPi()];
  await closeAll();
  if (ours !== theirs) throw new Error(`The contexts differ: ${ours} messages, pi has ${theirs}`);
  const times = await alternate(
    { ours: { run: readOpened, after: closeAll }, pi: { run: readPi } },
    stage.plan(size > 10_000 ? 8 : 40, 30_000),
  );
  await using warm = await openHoldfast({ store });
  const piOpen = pi.SessionManager.open(piFile, stage.dir);
  const again = await alternate(
    { ours: { run: () => read(warm) }, pi: { run: () => piOpen.buildSessionContext() } },
    stage.plan(size > 10_000 ? 12 : 40, 10_000),
  );
  const budget = size >= JUDGED ? { budget: { atLeast: 100 } } : {};
  const note = `${ours} messages in the context`;
  return [
    faster(work, "pi SessionManager", { ours: times.ours, theirs: times.pi, note, ...budget }),
    faster("– context alone, once open", "pi, once open", { ours: again.ours, theirs: again.pi }),
  ];
}

async function build(store: string, shape: Parameters<typeof fill>[1]): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  await fill(await holdfast.create({ id: "long" }), shape);
}
