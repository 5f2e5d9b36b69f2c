import type { Holdfast } from "#conversation/holdfast";
import type { Call } from "#edges/cli/command";
import { SIMULATED } from "#edges/cli/known-agents";
import type { AgentSource, WaitingTrouble } from "#edges/http/index";
import { LogError } from "#log/errors";
import { withDefaults } from "#log/with-defaults";
import type { RuntimeOptions } from "#upstream/options";
import { Runtime } from "#upstream/runtime";
import type { Upstream } from "#upstream/upstream";
import { systemIdsAndTime } from "#store/prepare";
import { type Fault, FAULT_KINDS, FAULT_PHASES, type FaultKind, type Phase } from "#testing/index";
import { RealTimeline, simUpstream, SimWorld } from "#testing/index";

/** Its usage is counted under a name, and costs nothing; no model has it. */
const MODEL = "sim-agent";
/** What clients call a fault where its own name is a verb that says too little. */
const OTHER_NAMES: { readonly [K in FaultKind]?: string } = {
  lose: "lost_transcript",
  truncate: "cut_transcript",
  roll: "rolled_id",
};
const KINDS: ReadonlyMap<string, FaultKind> = new Map(
  FAULT_KINDS.map((kind) => [OTHER_NAMES[kind] ?? kind, kind]),
);
export const TROUBLES: readonly string[] = [...KINDS.keys()];
const LIMIT_MS = 10_000; // long enough to see it parked, short enough to wait for
const WAITING_MAX = 64;
// A hang is told of while whoever asked for it still looks.
const PATIENCE = { silenceMs: 5_000, toolSilenceMs: 10_000, resumeMs: 5_000, cancelMs: 2_000 };

/** A world whose names no other process gives out: ids of sessions that are gone must not come back. */
class OwnWorld extends SimWorld {
  readonly #run: string = systemIdsAndTime.newId().slice(-6);

  override newName(what: string): string {
    return `${super.newName(what)}-${this.#run}`;
  }
}

/** The agent that is simulated everywhere: in servers, in the web UI and in the demo. */
export function simulatedUpstream(world: SimWorld): Upstream {
  return simUpstream(world, { agent: SIMULATED, model: MODEL });
}

/** The simulated agent behind the runtime that carries real ones, in a world of its own for each space. */
export class SimulatedAgent extends Runtime {
  readonly #world: SimWorld;
  readonly #limitMs: number;

  constructor(
    holdfast: Holdfast,
    {
      world,
      limitMs = LIMIT_MS,
      ...more
    }: Omit<RuntimeOptions, "upstreams"> & { readonly world: SimWorld; readonly limitMs?: number },
  ) {
    super(holdfast, {
      ...withDefaults({ ...PATIENCE, pool: { mode: "hybrid" } }, more),
      upstreams: [simulatedUpstream(world)],
    });
    this.#world = world;
    this.#limitMs = limitMs;
  }

  /** What is between two turns happens now, all else as soon as a turn comes to that phase. */
  async strike({
    kind,
    phase,
  }: {
    readonly kind: string;
    readonly phase?: string;
  }): Promise<{ readonly phase: Phase }> {
    const fault = faultOf(kind, phase);
    if (this.#world.faults.waiting >= WAITING_MAX)
      throw new LogError("busy", `${WAITING_MAX} troubles wait for a turn; send one first`);
    if (fault.phase === "idle") this.#world.restartSilently(SIMULATED);
    else this.#world.script({ ...fault, resetMs: this.#limitMs });
    // A session that is held is not resumed.
    if (fault.phase === "resume") void this.release();
    return { phase: fault.phase };
  }

  waitingTroubles(): readonly WaitingTrouble[] {
    return this.#world.faults.scripted.map(troubleOf);
  }

  callOff(kind?: string): readonly WaitingTrouble[] {
    const meant = kind === undefined ? null : KINDS.get(kind);
    return this.#world.faults.callOff((fault) => meant === null || fault.kind === meant).map(troubleOf);
  }
}

function troubleOf({ kind, phase }: Fault): WaitingTrouble {
  return { kind: OTHER_NAMES[kind] ?? kind, phase: phase ?? FAULT_PHASES[kind][0] };
}

function faultOf(
  name: string,
  phase: string | undefined,
): { readonly kind: FaultKind; readonly phase: Phase } {
  const kind = KINDS.get(name);
  if (kind === undefined)
    throw new LogError("invalid_request", `There is no trouble ${name}; there is ${TROUBLES.join(", ")}`);
  const possible = FAULT_PHASES[kind].filter((one) => one !== "idle" || kind === "restart");
  const usual = possible.includes("start") ? "start" : possible[0];
  const chosen = possible.find((one) => one === (phase ?? usual));
  if (chosen === undefined)
    throw new LogError("invalid_request", `${name} strikes in: ${possible.join(", ")}`, {
      phases: possible,
    });
  return { kind, phase: chosen };
}

/** How many times as fast as a real one what is simulated works. */
export function speedOf({ flags }: Pick<Call, "flags">): number {
  const speed = flags.count("speed") ?? 1;
  if (speed > 0) return speed;
  throw new LogError("invalid_request", "--speed is a number from 1 on");
}

/** It works so many times as fast as a real one would, and its limits are over as much sooner. */
export function simulatedSource(speed: number, limitMs: number = LIMIT_MS / speed): AgentSource {
  return {
    troubles: TROUBLES,
    open: (holdfast) =>
      new SimulatedAgent(holdfast, { world: new OwnWorld({ timeline: new RealTimeline(speed) }), limitMs }),
  };
}
