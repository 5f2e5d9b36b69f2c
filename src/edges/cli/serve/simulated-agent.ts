import { RealTimeline } from "#testing/timeline";
import type { Fault, FaultKind, Phase } from "#testing/faults";
import type { WaitingTrouble } from "#edges/http/faults/fault-api";
import type { FaultInjection } from "#edges/http/faults/fault-handlers";
import type { Holdfast } from "#conversation/holdfast";
import type { Call } from "#edges/cli/command";
import { SIMULATED } from "./known-agents.ts";
import type { AgentSource } from "#edges/http/index";
import { LogError } from "#log/errors";
import { Runtime } from "#upstream/runtime";
import type { Upstream } from "#upstream/upstream";
import { systemIdsAndTime } from "#store/prepare";
import { FAULT_KINDS, FAULT_PHASES, SimWorld, simUpstream } from "#testing/index";
import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import type { AgentModel } from "#agent/models/model";
import { CAUTIOUS_SIM } from "#agent/models/sim-model";
import { EMAIL_TOOL } from "#agent/models/sim-orders";
import { type Clock, NEVER, systemClock } from "#conversation/clock";
import { fieldsOf, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { Tool } from "#turn/effects/tool";

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
const KEYS_MAX = 1_000;
// A hang is told of while whoever asked for it still looks.
const PATIENCE = { silenceMs: 5_000, toolSilenceMs: 10_000, resumeMs: 5_000, cancelMs: 2_000 };

/** A world whose names no other process gives out: ids of sessions that are gone must not come back. */
class OwnWorld extends SimWorld {
  readonly #run: string = systemIdsAndTime.newId().slice(-6);

  override newName(kind: string): string {
    return `${super.newName(kind)}-${this.#run}`;
  }
}

/** The agent that is simulated everywhere: in servers, in the web UI and in the demo. */
export function simulatedUpstream(world: SimWorld): Upstream {
  return simUpstream(world, { agent: SIMULATED, model: MODEL });
}

/** The simulated agent behind the runtime that runs real ones. */
export function simulatedAgent(holdfast: Holdfast, world: SimWorld): Runtime {
  const clock = world.timeline instanceof RealTimeline ? {} : { clock: world.clock };
  const upstreams = [simulatedUpstream(world)] as const;
  return new Runtime(holdfast, { ...PATIENCE, pool: { mode: "hybrid" }, ...clock, upstreams });
}

interface SimulatedSpace {
  readonly world: SimWorld;
  /** Null until a turn needs it. */
  agent: Runtime | null;
}

/** The simulated agents of a server, each in a world of its space, and the faults injected into them. */
class SimulatedAgents implements FaultInjection {
  readonly kinds: readonly string[] = TROUBLES;
  readonly #newWorld: () => SimWorld;
  readonly #limitMs: number;
  readonly #spaces = new Map<string, SimulatedSpace>();
  /** By space and key, the oldest first. */
  readonly #injected = new Map<string, Phase>();

  constructor(newWorld: () => SimWorld, limitMs: number) {
    this.#newWorld = newWorld;
    this.#limitMs = limitMs;
  }

  #space({ spaceId }: Holdfast): SimulatedSpace {
    const faults = this.#spaces.get(spaceId);
    if (faults !== undefined) return faults;
    const space: SimulatedSpace = { world: this.#newWorld(), agent: null };
    this.#spaces.set(spaceId, space);
    return space;
  }

  open(holdfast: Holdfast): Runtime {
    const space = this.#space(holdfast);
    return (space.agent = simulatedAgent(holdfast, space.world));
  }

  /** A fault between two turns happens now, any other as soon as a turn reaches its phase. */
  inject: FaultInjection["inject"] = async (holdfast, { kind, phase, key }) => {
    const id = `${holdfast.spaceId}/${key}`;
    const before = key === undefined ? undefined : this.#injected.get(id);
    if (before !== undefined) return { phase: before, deduped: true };
    const fault = faultOf(kind, phase);
    const { world, agent } = this.#space(holdfast);
    if (world.faults.waiting >= WAITING_MAX)
      throw new LogError("busy", `${WAITING_MAX} faults wait for a turn; send a prompt first`);
    if (fault.phase === "idle") world.restartSilently(SIMULATED);
    else world.script({ ...fault, resetMs: this.#limitMs });
    // A session that is held is not resumed.
    if (fault.phase === "resume") void agent?.release();
    if (key !== undefined) this.#injected.set(id, fault.phase);
    const [oldest] = this.#injected.keys();
    if (this.#injected.size > KEYS_MAX && oldest !== undefined) this.#injected.delete(oldest);
    return { phase: fault.phase, deduped: false };
  };

  waiting(holdfast: Holdfast): readonly WaitingTrouble[] {
    return this.#space(holdfast).world.faults.scripted.map(troubleOf);
  }

  cancel(holdfast: Holdfast, kind?: string): readonly WaitingTrouble[] {
    const entry = kind === undefined ? null : KINDS.get(kind);
    const { faults } = this.#space(holdfast).world;
    return faults.callOff((fault) => entry === null || fault.kind === entry).map(troubleOf);
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
    throw new LogError("invalid_request", `Unknown fault ${name}. Use one of: ${TROUBLES.join(", ")}`);
  const possible = FAULT_PHASES[kind].filter((one) => one !== "idle" || kind === "restart");
  const usual = possible.includes("start") ? "start" : possible[0];
  const phaseName = possible.find((one) => one === (phase ?? usual));
  if (phaseName === undefined)
    throw new LogError("invalid_request", `${name} is possible in these phases: ${possible.join(", ")}`, {
      phases: possible,
    });
  return { kind, phase: phaseName };
}

/** How many times as fast as a real one what is simulated works. */
export function speedOf({ flags }: Pick<Call, "flags">): number {
  const speed = flags.count("speed") ?? 1;
  if (speed > 0) return speed;
  throw new LogError("invalid_request", "--speed is a number from 1 on");
}

/** The simulated agent, so many times as fast as a real one; its limits end as much sooner. */
export function simulatedSource(
  speed: number,
  limitMs: number = LIMIT_MS / speed,
  newWorld: () => SimWorld = () => new OwnWorld({ timeline: new RealTimeline(speed) }),
): AgentSource {
  const agents = new SimulatedAgents(newWorld, limitMs);
  return { open: (holdfast) => agents.open(holdfast), faults: agents };
}

/** What needs no key: one that does as the simulated agent does, and one that calls nothing. */
export const SIM_MODELS: readonly string[] = ["sim", CAUTIOUS_SIM];

const THINK_MS = 300;
const PIECE_MS = 40;

/** What the simulated agent sends emails by; they go nowhere here either. */
export const simulatedEmail: Tool = {
  name: EMAIL_TOOL,
  description: "Sends an email.",
  input: {
    type: "object",
    properties: { to: { type: "string" }, about: { type: "string" } },
    required: ["to", "about"],
    additionalProperties: false,
  },
  run: async (input) => `Sent: ${emailText(input)}`,
  dryRun: async (input) => `Would be sent: ${emailText(input)}`,
};

function emailText(input: Json): string {
  const { to, about } = fieldsOf(input);
  return `email ${wordsIn(to)} about ${wordsIn(about)}`;
}

/** A model whose words take their time, so that a person can watch it, and stop it. */
export function atPace(
  model: AgentModel,
  speed: number,
  clock: Pick<Clock, "sleep"> = systemClock,
): AgentModel {
  return { ...model, model: pacedModel(model.model as LanguageModelV4, speed, clock) };
}

function pacedModel(model: LanguageModelV4, speed: number, { sleep }: Pick<Clock, "sleep">): LanguageModelV4 {
  const doStream: LanguageModelV4["doStream"] = async (options) => {
    const { abortSignal = NEVER } = options;
    const wait = (ms: number): Promise<void> => sleep(ms / speed, abortSignal);
    const pace = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
      async transform(part, controller) {
        if (part.type === "stream-start") await wait(THINK_MS);
        else if (part.type.endsWith("-delta")) await wait(PIECE_MS);
        controller.enqueue(part);
      },
    });
    const answer = await model.doStream(options);
    return { ...answer, stream: answer.stream.pipeThrough(pace) };
  };
  return { ...model, doStream };
}
