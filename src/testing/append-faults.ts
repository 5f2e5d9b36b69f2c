import { LogError } from "#log/errors";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import type { AppendRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";

/** What an append is about, by the entry that says most. */
const MOMENTS = [
  ["turn_end", "end"],
  ["turn_start", "accept"],
  ["upstream_link", "link"],
  ["attempt", "attempt"],
  ["tool_intent", "intent"],
  ["update", "update"],
  ["upstream_end", "retire"],
  ["steer", "steer"],
  ["reset", "reset"],
  ["leaf", "leave branch"],
  ["hide", "hide"],
] as const;

function momentOf(request: AppendRequest): string {
  if (request.key?.startsWith("settle/") === true) return "settle";
  const types = new Set<string>(request.drafts.map(({ draft }) => draft.type));
  return MOMENTS.find(([type]) => types.has(type))?.[1] ?? "other";
}

/** A disk takes its time, in which everything else goes on. */
function aMoment(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  setImmediate(resolve);
  return promise;
}

export interface AppendFault {
  /** How many appends are let pass first. */
  skip: number;
  /** Those that count: all of them, or those in which an agent says that it begins a tool. */
  readonly of: "all" | "intents";
  /** `lost`, `landed`: the host dies before it is written, or after. `refused`: the store cannot, and the host lives. */
  readonly end: "lost" | "landed" | "refused";
  /** Told what the append was about when it is struck. */
  strike(moment: string): void;
}

/** Ends the host in the middle of an append, or refuses one, and knows which links the store has acknowledged. */
export class AppendFaults {
  /** Every upstream id whose link is durable. */
  readonly linked: Set<string> = new Set();
  #fault: AppendFault | null = null;

  arm(fault: AppendFault): void {
    this.#fault = fault;
  }

  disarm(): void {
    this.#fault = null;
  }

  store(store: Store): Store {
    return decorateStore(store, { verbs: (space) => ({ append: this.#append(space) }) });
  }

  #append(space: SpaceStore): SpaceStore["append"] {
    return async (request) => {
      const fault = this.#fault;
      const counts = fault?.of === "all" || momentOf(request) === "intent";
      const strikes = fault !== null && counts && fault.skip-- <= 0;
      if (!strikes) return this.#note(request, await space.append(request));
      this.disarm();
      const moment = momentOf(request);
      await aMoment();
      if (fault.end !== "landed") {
        fault.strike(moment);
        throw new LogError("disk_full", "The store is full, or the host is dead");
      }
      const result = this.#note(request, await space.append(request));
      fault.strike(moment);
      return result;
    };
  }

  #note<T>(request: AppendRequest, result: T): T {
    for (const { draft } of request.drafts) {
      if (draft.type === "upstream_link") this.linked.add(String(draft.body["upstream"]));
    }
    return result;
  }
}
