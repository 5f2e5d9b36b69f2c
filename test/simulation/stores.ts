import { join } from "node:path";
import type { SimWorld } from "#testing/index";
import { draw } from "#testing/faults";
import { spaceOfVerbs } from "#store/decorate";
import { ALL_FACETS } from "#store/facets";
import type { Store } from "#store/store";
import { jsonlStore } from "#stores/jsonl/index";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { sqliteStore } from "#stores/sqlite/index";
import { postgresStore } from "#stores/postgres/index";
import { type PostgresRig, postgresRig } from "../support/postgres-subject.ts";
import { FaultyDisk } from "../support/faulty-disk.ts";
import { tempDir } from "../support/temp-dir.ts";

export const STORE_NAMES = ["memory", "sqlite", "jsonl", "jsonl-disk", "postgres"] as const;
export type StoreName = (typeof STORE_NAMES)[number];

/** The store of one story. `open` is called for every life of its host. */
export interface Home extends AsyncDisposable {
  open(world: SimWorld): Store;
}

/**
 * `memory`; `sqlite` and `jsonl-disk` on real files, closed and opened again at every death of the host; `jsonl` on a
 * disk in memory that loses power with the host, and with it whatever was not synced; `postgres` on a server of its own, whose
 * connections end with the host.
 */
export function homeOf(name: StoreName, seed: number): Home {
  if (name === "memory") return memoryHome();
  if (name === "jsonl") return powerlessHome(seed);
  if (name === "postgres") return postgresHome();
  if (name !== "sqlite" && name !== "jsonl-disk") throw new RangeError(`There is no store ${String(name)}`);
  const dir = tempDir();
  const open = (nowMs: () => number): Promise<Store> =>
    name === "sqlite"
      ? sqliteStore({ path: join(dir.path, "holdfast.db"), nowMs })
      : Promise.resolve(jsonlStore({ dir: join(dir.path, "store"), nowMs }));
  return reopened(open, () => dir[Symbol.dispose]());
}

function memoryHome(): Home {
  const backing = inMemoryBacking();
  return {
    open: (world) => inMemoryStore({ backing, nowMs: () => world.nowMs() }),
    [Symbol.asyncDispose]: async () => backing.spaces.clear(),
  };
}

/** One for all stories of this process: whoever tells some ends it by `closeServer`. */
let server: Promise<PostgresRig> | null = null;

export async function closeServer(): Promise<void> {
  const started = await server;
  server = null;
  await started?.[Symbol.asyncDispose]();
}

function postgresHome(): Home {
  server ??= postgresRig(1);
  const rig = server;
  let cleared: Promise<unknown> | null = null;
  const open = async (nowMs: () => number): Promise<Store> => {
    const { url } = (await rig).server;
    cleared ??= rig.then((started) => started.subject());
    await cleared;
    return postgresStore({ url, connections: 3, nowMs });
  };
  return reopened(open, () => undefined);
}

function powerlessHome(seed: number): Home {
  let disk = new FaultyDisk();
  let lives = 0;
  const open = async (nowMs: () => number): Promise<Store> => {
    if (lives++ > 0) disk = draw(seed, lives, "power") < 0.5 ? afterPowerLoss(disk) : disk.copy();
    return jsonlStore({ dir: "/store", disk, nowMs });
  };
  return reopened(open, () => undefined);
}

/** The disk with nothing on it but what was promised. */
function afterPowerLoss(disk: FaultyDisk): FaultyDisk {
  for (const outcome of disk.outcomes()) if (outcome.name === "nothing unsynced") return outcome.disk;
  return disk.copy();
}

function reopened(open: (nowMs: () => number) => Promise<Store>, end: () => void): Home {
  let current: Promise<Store> | null = null;
  const closeLast = async (): Promise<void> => {
    const last = await current;
    await last?.close();
  };
  return {
    open(world) {
      const closed = closeLast();
      const store = closed.then(() => open(() => world.nowMs()));
      store.catch(() => undefined);
      current = store;
      return inTurn(store);
    },
    async [Symbol.asyncDispose]() {
      await closeLast();
      end();
    },
  };
}

/**
 * A store that is still being opened. Its calls are made one after the other, each with the event loop to itself: so
 * the order of everything that follows is that of the calls, whatever the disk does, and a seed tells one story.
 */
function inTurn(opening: Promise<Store>): Store {
  let last: Promise<unknown> = Promise.resolve();
  const turn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = last.then(work);
    last = result.then(nextTurn, nextTurn);
    return result;
  };
  const close = (): Promise<void> => turn(async () => (await opening).close());
  return {
    facets: ALL_FACETS,
    space: (id) =>
      spaceOfVerbs((verb) => {
        if (verb === "tail")
          return () => {
            throw new RangeError("Nobody follows a tail in the simulation");
          };
        return (...given) =>
          turn(async () => {
            const there = (await opening).space(id);
            return Reflect.apply(there[verb], there, given) as unknown;
          });
      }),
    spaces: () => turn(async () => (await opening).spaces()),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function nextTurn(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}
