import { LogError } from "#log/errors";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import type { AppendRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";

/** Where in its work an agent is when something happens to it. */
export const PHASES = [
  "open",
  "resume",
  "start",
  "text",
  "before_tool",
  "in_tool",
  "after_tool",
  "end",
  "idle",
] as const;
export type Phase = (typeof PHASES)[number];

const IN_TURN: readonly [Phase, ...Phase[]] = [
  "start",
  "text",
  "before_tool",
  "in_tool",
  "after_tool",
  "end",
];
const BETWEEN_TOOLS: readonly [Phase, ...Phase[]] = ["start", "text", "before_tool", "after_tool", "end"];

export const FAULT_KINDS = [
  "limit",
  "credit",
  "overload",
  "expire",
  "auth",
  "too_long",
  "poison",
  "corrupt",
  "empty",
  "stale",
  "late",
  "hang",
  "ignore_cancel",
  "crash",
  "restart",
  "lose",
  "truncate",
  "roll",
] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** What can go wrong, and in which phases it does in the field. */
export const FAULT_PHASES: { readonly [K in FaultKind]: readonly [Phase, ...Phase[]] } = {
  /** Out of quota until a time. */
  limit: ["open", "resume", ...BETWEEN_TOOLS],
  credit: ["open", "resume", ...BETWEEN_TOOLS],
  /** HTTP 529. */
  overload: ["open", "resume", ...BETWEEN_TOOLS],
  /** The session reached the end of its life. */
  expire: ["resume", ...BETWEEN_TOOLS],
  auth: ["open", "resume", ...BETWEEN_TOOLS],
  /** The history is longer than the model takes. */
  too_long: ["start", "after_tool"],
  /** Something in the history makes every request fail. */
  poison: ["start"],
  /** The session is damaged: from here on it fails every prompt with an error that no table knows. Another would not. */
  corrupt: ["start", "after_tool"],
  /** Says it is done and has said nothing. */
  empty: ["start", "after_tool"],
  /** Gives the previous answer again, at once. */
  stale: ["start"],
  /** Serves what was left of a cancelled answer as the new one. */
  late: ["start"],
  /** Goes silent. */
  hang: ["open", "resume", ...IN_TURN],
  /** Does not stop when asked; the work goes on behind our back. */
  ignore_cancel: ["start"],
  /** The process dies. */
  crash: ["open", "resume", ...IN_TURN],
  /** The process is replaced between two prompts without a word. */
  restart: ["idle"],
  /** The stored history is gone. */
  lose: ["resume", "idle"],
  /** Half of the stored history is gone; resume says nothing of it. */
  truncate: ["resume", "idle"],
  /** Starts a new session in mid-turn: it finishes the turn, and the new session knows nothing of what came before. */
  roll: BETWEEN_TOOLS,
};

export interface Fault {
  readonly kind: FaultKind;
  /** The phase it waits for; the first one its kind can strike in when absent. */
  readonly phase?: Phase;
  /** Only this agent; any when absent. */
  readonly agent?: string;
  /** Lets this many chances pass first. */
  readonly skip?: number;
  /** Strikes this many times; once when absent. */
  readonly times?: number;
  /** For limits: how long until the reset. An hour when absent. */
  readonly resetMs?: number;
  /** For a crash in a tool: whether the side effect happened. It did, unless said otherwise. */
  readonly effect?: boolean;
  /** For a crash: a child lives on and finishes its tool, until the process group is ended. */
  readonly orphan?: boolean;
  /** For a roll: only the id is new, which the agent says; the session keeps what it holds. */
  readonly renamed?: boolean;
  /** For a hang: a cancel ends it. It does, unless said otherwise. */
  readonly heedsCancel?: boolean;
}

/** A fault by chance: at each arrival in the phase, with this probability. */
export interface Chance extends Omit<Fault, "skip" | "times"> {
  readonly phase: Phase;
  readonly probability: number;
}

/** A number in [0, 1) that depends on nothing but its words: the same draw comes out however tasks interleave. */
export function draw(...words: readonly (string | number)[]): number {
  let hash = 0x811c9dc5;
  const text = words.join("\u0000");
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x1_0000_0000;
}

export interface Arrival {
  readonly phase: Phase;
  readonly agent: string;
  /** What makes this arrival different from every other; the draw is made from it. */
  readonly moment: string;
}

interface Scripted {
  readonly fault: Fault;
  skip: number;
  times: number;
}

/** What will go wrong, and a count of what did. */
export class FaultPlan {
  readonly #seed: number;
  readonly #script: Scripted[] = [];
  readonly #chances: Chance[] = [];
  readonly #struck = new Map<string, number>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  /** Faults that strike once each, in whatever order their phases come. */
  script(faults: readonly Fault[]): void {
    for (const fault of faults) {
      checkPhase(fault);
      this.#script.push({ fault, skip: fault.skip ?? 0, times: fault.times ?? 1 });
    }
  }

  /** Faults that strike by chance; an empty list ends them. */
  chances(chances: readonly Chance[]): void {
    for (const chance of chances) checkPhase(chance);
    this.#chances.splice(0, this.#chances.length, ...chances);
  }

  /** The fault that strikes here, if one does. */
  at(arrival: Arrival): Fault | null {
    const fault = this.#scripted(arrival) ?? this.#byChance(arrival);
    if (fault === null) return null;
    const name = `${fault.kind}/${arrival.phase}`;
    this.#struck.set(name, (this.#struck.get(name) ?? 0) + 1);
    return fault;
  }

  #scripted(arrival: Arrival): Fault | null {
    for (const [at, scripted] of this.#script.entries()) {
      const { fault } = scripted;
      const phase = fault.phase ?? FAULT_PHASES[fault.kind][0];
      if (phase !== arrival.phase || (fault.agent ?? arrival.agent) !== arrival.agent) continue;
      if (scripted.skip-- > 0) continue;
      if (--scripted.times === 0) this.#script.splice(at, 1);
      return fault;
    }
    return null;
  }

  #byChance(arrival: Arrival): Fault | null {
    for (const [at, chance] of this.#chances.entries()) {
      if (chance.phase !== arrival.phase || (chance.agent ?? arrival.agent) !== arrival.agent) continue;
      if (draw(this.#seed, at, chance.kind, arrival.phase, arrival.moment) < chance.probability)
        return chance;
    }
    return null;
  }

  /** Scripted faults that did not strike yet. */
  get waiting(): number {
    return this.#script.length;
  }

  /** Those faults, in the order they were given. */
  get scripted(): readonly Fault[] {
    return this.#script.map(({ fault }) => fault);
  }

  /** Takes back those that did not strike yet, all or some, and gives them. */
  callOff(isMeant: (fault: Fault) => boolean = () => true): readonly Fault[] {
    const all = this.#script.splice(0);
    this.#script.push(...all.filter(({ fault }) => !isMeant(fault)));
    return all.flatMap(({ fault }) => (isMeant(fault) ? [fault] : []));
  }

  /** How often each fault struck in each phase, as `kind/phase`. */
  get struck(): ReadonlyMap<string, number> {
    return this.#struck;
  }
}

function checkPhase(fault: Fault): void {
  const phases: readonly Phase[] = FAULT_PHASES[fault.kind];
  if (fault.phase !== undefined && !phases.includes(fault.phase))
    throw new RangeError(`A ${fault.kind} strikes in ${phases.join(", ")}, not in ${fault.phase}`);
}

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

interface AppendFault {
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
