import pg from "pg";
import type { Conversation } from "../src/conversation/conversation.ts";
import type { Holdfast } from "../src/conversation/holdfast.ts";
import { openHoldfast } from "../src/open.ts";
import { postgresStore } from "../src/stores/postgres/index.ts";
import { startPostgres } from "../test/support/loopback-postgres.ts";
import { BARE, BareRows } from "./bare-postgres.ts";
import { turnBodies } from "./history.ts";
import { faster, type Row } from "./report.ts";
import { alternate, type Timing } from "./sample.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

const CONNECTIONS = 16;
const CONVERSATIONS = 1_000;
const ROWS = 4;

/** A store in PostgreSQL: appends of many conversations against bare rows. */
export async function measurePostgres(stage: Stage): Promise<readonly Row[]> {
  return [...(await measureServer(stage, true)), ...(await measureServer(stage, false))];
}

async function measureServer(stage: Stage, fsync: boolean): Promise<readonly Row[]> {
  await using server = await startPostgres({ fsync });
  const pool = new pg.Pool({ connectionString: server.url, max: CONNECTIONS });
  pool.on("error", () => undefined);
  try {
    await using holdfast = await openHoldfast({ store: await postgresStore({ pool }) });
    return await measureThroughput(stage, pool, { holdfast, fsync });
  } finally {
    await pool.end();
  }
}

async function measureThroughput(
  stage: Stage,
  pool: pg.Pool,
  { holdfast, fsync }: { readonly holdfast: Holdfast; readonly fsync: boolean },
): Promise<readonly Row[]> {
  await pool.query(BARE);
  const logs: Conversation[] = [];
  await lanes(CONVERSATIONS, async (n) => void logs.push(await holdfast.create({ id: `log-${n}` })));
  const statements = await openHoldfast({ store: await postgresStore({ pool, functions: false }) });
  const plain: Conversation[] = [];
  await lanes(CONVERSATIONS, async (n) => void plain.push(await statements.create({ id: `plain-${n}` })));
  let turn = 0;
  const bare = new BareRows(pool);
  const round = (append: (n: number, turn: number) => Promise<unknown>): (() => Promise<void>) => {
    return () => lanes(CONVERSATIONS, (n) => append(n, turn++));
  };
  const times = await alternate(
    {
      ours: { run: round((n, at) => logs[n]?.append(turnBodies(at, TURN_CHARS)) ?? Promise.resolve()) },
      statements: {
        run: round((n, at) => plain[n]?.append(turnBodies(at, TURN_CHARS)) ?? Promise.resolve()),
      },
      bare: { run: round((n, at) => bare.append(n, turnBodies(at, TURN_CHARS))) },
    },
    stage.plan(8, 40_000),
  );
  await statements.close();
  const perSecond = ({ medianMs }: Timing): number => Math.round((CONVERSATIONS / medianMs) * 1_000);
  return [
    faster(
      `PostgreSQL: appends of ${CONNECTIONS} connections over ${CONVERSATIONS} conversations${fsync ? "" : ", no fsync"}`,
      "bare INSERT of the same rows",
      {
        ours: times.ours,
        theirs: times.bare,
        budget: { atLeast: 0.6 },
        note: `${perSecond(times.ours)} batches of ${ROWS} per second against ${perSecond(times.bare)}; the times are of ${CONVERSATIONS}`,
      },
    ),
    faster(`– by statements alone${fsync ? "" : ", no fsync"}`, "bare INSERT of the same rows", {
      ours: times.statements,
      theirs: times.bare,
    }),
  ];
}

/** Every conversation once, over as many connections as there are. */
async function lanes(count: number, work: (n: number) => Promise<unknown>): Promise<void> {
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, lane) => {
      for (let n = lane; n < count; n += CONNECTIONS) await work(n);
    }),
  );
}
