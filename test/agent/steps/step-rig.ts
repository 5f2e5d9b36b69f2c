import { join } from "node:path";
import { Agent } from "#agent/agent";
import type { AgentOptions, AgentResult } from "#agent/agent-options";
import type { DurableStep } from "#agent/steps/engine-steps";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import type { StoredEntry } from "#log/entry";
import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { openStore } from "#open";
import { decorateStore, type Decoration } from "#store/decorate";
import { copySpace } from "#transfer/copy-space";
import { counter } from "../rig.ts";
import { ScriptedModel } from "../scripted-model.ts";
import { tempDir } from "../../support/temp-dir.ts";
import type { Attempt, Lane, OpenLane } from "./lane.ts";
import { inSqlite, type LogPlace } from "./log-place.ts";

export type Script = ConstructorParameters<typeof ScriptedModel>[0];

/** A promise of durable steps; run on every engine. */
export interface StepCase {
  readonly name: string;
  /** Which scenario of the list of faults it is. */
  readonly scenario?: number;
  /** Engines that keep no results, or are told of no heartbeat, cannot show it. */
  readonly needs?: "keeps" | "beats";
  run(rig: StepRig): Promise<void>;
}

interface Process {
  readonly model: ScriptedModel;
  readonly agent: Agent;
  /** One attempt that sends the task's prompt and tells what came of it. */
  readonly send: Attempt;
  /** How its attempts ended: an outcome, or the code of an error; an engine may have its own word for it. */
  readonly ends: string[];
  /** What was thrown inside its steps, before the engine heard of it. */
  readonly thrown: string[];
}

/** An engine, a log, and as many processes as a case likes. */
export class StepRig implements AsyncDisposable {
  readonly lane: Lane;
  readonly #dir: ReturnType<typeof tempDir>;
  readonly #place: LogPlace;
  readonly #open: Holdfast[] = [];

  private constructor(lane: Lane, dir: ReturnType<typeof tempDir>, place: LogPlace) {
    this.lane = lane;
    this.#dir = dir;
    this.#place = place;
  }

  static async start(open: OpenLane, place: LogPlace = inSqlite): Promise<StepRig> {
    const dir = tempDir();
    const rig = new StepRig(await open(dir.path), dir, place);
    await (await rig.store("log.db")).create({ id: "c" });
    return rig;
  }

  path(name: string): string {
    return join(this.#dir.path, name);
  }

  /** The address of a log, by which any process opens it. */
  address(name: string = "log.db"): string {
    return this.#place(this.path(name));
  }

  /** A store of its own on the log, as another process would have. */
  async store(name: string = "log.db", decoration?: Decoration): Promise<Holdfast> {
    const bare = await openStore(this.address(name));
    const store = decoration === undefined ? bare : decorateStore(bare, decoration);
    const holdfast = new Holdfast(store, "default", undefined, () => bare.close());
    this.#open.push(holdfast);
    return holdfast;
  }

  /** A copy of the log as it is now, entry by entry, under another name. */
  async copy(name: string): Promise<void> {
    await copySpace(await this.store(), await this.store(name));
  }

  async process(script: Script, more: Partial<AgentOptions> & { on?: Holdfast } = {}): Promise<Process> {
    const { on = this.#first, ...options } = more;
    const model = new ScriptedModel(script);
    const agent = new Agent(on, { model, permission: () => "allow", instructions: false, ...options });
    const [ends, thrown]: [string[], string[]] = [[], []];
    const send: Attempt = (steps, { conversation, prompt }) =>
      heard(ends, agent.send(conversation, prompt, { steps: listening(steps, thrown) }));
    return { model, agent, send, ends, thrown };
  }

  get #first(): Holdfast {
    const [first] = this.#open;
    if (first === undefined) throw new Error("no store");
    return first;
  }

  conversation(id: string = "c"): Promise<Conversation> {
    return this.#first.conversation(id);
  }

  async log(id: string = "c"): Promise<readonly StoredEntry[]> {
    return Array.fromAsync((await this.conversation(id)).log());
  }

  /** The messages of the log as they are stored, word for word. */
  async messages(id: string = "c"): Promise<readonly string[]> {
    return (await this.log(id)).filter(({ type }) => type === "message").map(({ payload }) => payload);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.lane[Symbol.asyncDispose]();
    for (const holdfast of this.#open) await holdfast[Symbol.asyncDispose]();
    this.#dir[Symbol.dispose]();
  }
}

/** Keeps how an attempt ended in mind, and passes it on to the engine. */
export async function heard(ends: string[], turn: Promise<AgentResult>): Promise<Json> {
  try {
    const result = await turn;
    ends.push(result.outcome);
    return plain(result);
  } catch (error) {
    ends.push(codeOf(error));
    throw error;
  }
}

/** The same steps, and what their bodies throw. */
function listening(steps: DurableStep, thrown: string[]): DurableStep {
  return {
    ...steps,
    step: (name, body) =>
      steps.step(name, async (at) => {
        try {
          return await body(at);
        } catch (error) {
          thrown.push(codeOf(error));
          throw error;
        }
      }),
  };
}

/** An engine may wrap what was thrown in a step. */
function codeOf(error: unknown): string {
  if (isLogError(error)) return error.code;
  return error instanceof Error && error.cause !== undefined ? codeOf(error.cause) : "error";
}

export function plain(result: AgentResult): Json {
  return JSON.parse(JSON.stringify(result)) as Json;
}

/** A model that calls a tool, is told what came of it, and says so. */
export const TWO_ANSWERS: Script = [
  { text: "Writing.", calls: [{ id: "m1", name: "mail", input: { to: "bob" } }] },
  { text: "It is sent." },
];

export { counter };
