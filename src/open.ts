import { homedir, userInfo } from "node:os";
import { join, resolve } from "node:path";
import { Holdfast } from "./conversation/holdfast.ts";
import { spaceOf } from "./conversation/on-space.ts";
import { LogError } from "./log/errors.ts";
import type { ConversationId, SpaceId } from "./log/ids.ts";
import { observeStore, type StoreObserver } from "./store/decorate.ts";
import { type IdsAndTime, systemIdsAndTime } from "./store/prepare.ts";
import { redactAddress } from "./stores/redact-address.ts";
import type { Store } from "./store/store.ts";
import type { SalvagedRest } from "./stores/indexed/copy-readable.ts";
import type { Salvaged } from "./stores/jsonl/salvage.ts";
import { inMemoryStore } from "./stores/in-memory/index.ts";

export type { SalvagedRest };

export interface HoldfastOptions {
  /**
   * `sqlite:PATH`, `jsonl:DIR`, `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=…`, `memory:`, or a store that you
   * opened, and close. The default is a SQLite file in the home folder.
   */
  readonly store?: string | Store;
  /** The tenant; nothing crosses it. */
  readonly space?: string;
  readonly readOnly?: boolean;
  /** Where ids and times come from. */
  readonly idsAndTime?: IdsAndTime;
  /** Is told what is written; nothing stands in front of the store unless given. */
  readonly telemetry?: StoreObserver | readonly StoreObserver[];
}

export function defaultStore(): string {
  // Where HOME is empty the store would be another one in each folder.
  return `sqlite:${join(homedir() || userInfo().homedir, ".holdfast", "holdfast.db")}`;
}

/** Opens a store by its address; what other stores are made of is not loaded. */
export async function openStore(
  address: string,
  options: { readonly readOnly?: boolean } = {},
): Promise<Store> {
  const [kind, place] = kindAndPlace(address);
  if (kind === "memory") return inMemoryStore();
  if (kind === "sqlite" && place !== "") {
    const { sqliteStore } = await import("./stores/sqlite/index.ts");
    return sqliteStore({ path: place, ...options });
  }
  if (kind === "jsonl" && place !== "") {
    const { jsonlStore } = await import("./stores/jsonl/index.ts");
    return jsonlStore({ dir: place, ...options });
  }
  if (/^postgres(?:ql)?:/.test(address)) {
    const { postgresStore } = await import("./stores/postgres/index.ts");
    return postgresStore({ url: address, ...options });
  }
  const shown = redactAddress(address);
  throw new LogError(
    "invalid_request",
    `Unknown store "${shown}". Use sqlite:PATH, jsonl:DIR, postgres://HOST/DATABASE or memory:.`,
    { store: shown },
  );
}

/** What can be done with a damaged log besides reading it through the store; null where the store has nothing more. */
export interface LogRescue {
  /** Copies what can be read into a new conversation; the damaged log stays as it is. */
  copy(space: SpaceId, conversation: ConversationId, as: ConversationId): Promise<Salvaged>;
  /** The same into another store, where it is not, under its own id. */
  copyInto(to: Holdfast, space: SpaceId, conversation: ConversationId): Promise<SalvagedRest>;
}

export function logRescue(address: string): LogRescue | null {
  const [kind, place] = kindAndPlace(address);
  if (kind !== "jsonl" || place === "") return null;
  const dir = resolve(place);
  const load = (): Promise<typeof import("./stores/jsonl/salvage.ts")> => import("./stores/jsonl/salvage.ts");
  return {
    copy: async (space, conversation, as) => (await load()).salvage({ dir, space, conversation, as }),
    copyInto: async (to, space, conversation) =>
      (await load()).salvageInto(spaceOf(to), { dir, space, conversation }),
  };
}

function kindAndPlace(address: string): readonly [string, string] {
  const colon = address.indexOf(":");
  return [address.slice(0, colon), address.slice(colon + 1)];
}

/** Opens Holdfast: one space of a store. */
export async function openHoldfast(options: HoldfastOptions = {}): Promise<Holdfast> {
  const {
    store = defaultStore(),
    space = "default",
    idsAndTime = systemIdsAndTime,
    readOnly = false,
    telemetry = [],
  } = options;
  const observers = [telemetry].flat();
  const observed = (bare: Store): Store => (observers.length === 0 ? bare : observeStore(bare, observers));
  if (typeof store === "string") {
    const opened = observed(await openStore(store, { readOnly }));
    return new Holdfast(opened, space, idsAndTime, () => opened.close());
  }
  // Whoever writes plain JavaScript hears of it here, not from the first verb.
  if (typeof store?.space !== "function")
    throw new LogError(
      "invalid_request",
      "store must be an address such as sqlite:PATH, or an object that implements Store",
    );
  return new Holdfast(observed(store), space, idsAndTime);
}
