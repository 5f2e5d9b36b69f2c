import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { fill, turnBodies } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate } from "./sample.ts";
import { MESSAGE_CHARS, sizeText, type Stage, TURN_CHARS } from "./stage.ts";

const SIZE = 10_000;
const KINDS = ["jsonl", "sqlite"] as const;

/** The file store against the default one; for information, since it is chosen for being readable. */
export async function measureJsonl(stage: Stage): Promise<readonly Row[]> {
  stage.say(`building a jsonl conversation of ${sizeText(SIZE)} entries`);
  const stores = { jsonl: `jsonl:${stage.path("jsonl")}`, sqlite: `sqlite:${stage.path("jsonl-peer.db")}` };
  for (const kind of KINDS) await build(stores[kind]);
  const open = new Set<Holdfast>();
  const readOpened = async (store: string): Promise<void> => {
    const holdfast = await openHoldfast({ store });
    open.add(holdfast);
    await (await holdfast.conversation("long")).context();
  };
  const closeAll = async (): Promise<void> => {
    for (const holdfast of open) await holdfast.close();
    open.clear();
  };
  const opening = await alternate(
    {
      jsonl: { run: () => readOpened(stores.jsonl), after: closeAll },
      sqlite: { run: () => readOpened(stores.sqlite), after: closeAll },
    },
    stage.plan(20, 10_000),
  );
  const appending = await measureAppends(stage, stores);
  const against = "ours in SQLite";
  return [
    slower("jsonl: durable append of a turn", against, { ours: appending.jsonl, theirs: appending.sqlite }),
    slower(`jsonl: open + context, ${sizeText(SIZE)} entries compacted`, against, {
      ours: opening.jsonl,
      theirs: opening.sqlite,
    }),
  ];
}

async function build(store: string): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  await fill(await holdfast.create({ id: "long" }), {
    messages: SIZE,
    chars: MESSAGE_CHARS,
    compactEvery: 500,
  });
}

async function measureAppends(stage: Stage, stores: { readonly jsonl: string; readonly sqlite: string }) {
  await using jsonl = await openHoldfast({ store: stores.jsonl });
  await using sqlite = await openHoldfast({ store: stores.sqlite });
  const [file, rows] = [await jsonl.create(), await sqlite.create()];
  let turn = 0;
  return await alternate(
    {
      jsonl: { run: () => file.append(turnBodies(turn++, TURN_CHARS)) },
      sqlite: { run: () => rows.append(turnBodies(turn++, TURN_CHARS)) },
    },
    stage.plan(400, 10_000),
  );
}
