import { Agent } from "#agent/agent";
import type { AgentResult } from "#agent/agent-options";
import { replay } from "#agent/replay/replay-models";
import type { Holdfast } from "#conversation/holdfast";
import { draw } from "#testing/faults";
import { emailIdentity } from "#testing/agent/replies";
import type { Tool } from "#turn/effects/tool";
import type { Rig } from "../upstream/rig.ts";
import { isReplayed } from "./cast.ts";
import { loopModel, MODEL_FAULTS, type ModelFault } from "./loop-model.ts";

type Via = "main" | "other";

const TOOL_MS = 1_000;
const QUESTIONS_MAX = 8;

/** The hosts of a story once more, with loops of their own: they carry the same conversations as its agents do. */
export class LoopHosts {
  readonly #rig: Rig;
  readonly #seed: number;
  readonly #probability: () => number;
  readonly #agents = new WeakMap<Holdfast, Agent>();
  /** What happened, by name. */
  readonly counts: Map<string, number> = new Map();
  /** What a service would have refused for good, in its words. */
  readonly refusals: string[] = [];
  #moments: number = 0;

  /** How many of the prompts they carry. */
  readonly share: number;

  /** `probability`: of each fault in each answer, by now. */
  constructor(
    rig: Rig,
    given: { readonly seed: number; readonly share: number; readonly probability: () => number },
  ) {
    this.#rig = rig;
    this.#seed = given.seed;
    this.#probability = given.probability;
    this.share = given.share;
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  agentOf(via: Via): Agent {
    const holdfast = via === "other" ? (this.#rig.other?.holdfast ?? this.#rig.holdfast) : this.#rig.holdfast;
    const known = this.#agents.get(holdfast);
    if (known !== undefined) return known;
    const { world, life } = this.#rig;
    const agent = new Agent(holdfast, {
      model: loopModel({
        clock: world.clock,
        fault: () => this.#fault(),
        onRefused: (why) => this.refusals.push(why),
      }),
      tools: [this.#email()],
      permission: ({ input }) => (draw(this.#seed, JSON.stringify(input), "asks") < 0.3 ? "ask" : "allow"),
      instructions: false,
      compaction: null,
      clock: world.clock,
      writer: `loop ${via}-${life}`,
      isDead: async (writer) => Number(writer.split("-")[1]) < this.#rig.life,
      // Whoever had the agent ends what it left behind.
      endProcess: async (process) => {
        for (const upstream of this.#rig.upstreams) await upstream.restart(process);
      },
      silenceMs: 30_000,
      newId: () => world.idsAndTime.newId(),
    });
    this.#agents.set(holdfast, agent);
    return agent;
  }

  /** A kind may strike in each answer; at most one does. */
  #fault(): ModelFault | null {
    const moment = ++this.#moments;
    const kinds = Object.keys(MODEL_FAULTS) as readonly ModelFault[];
    const kind = kinds.find((one) => draw(this.#seed, "model", moment, one) < this.#probability()) ?? null;
    if (kind !== null) this.#count(`model ${kind}`);
    return kind;
  }

  #email(): Tool {
    const { world } = this.#rig;
    const { clock, death } = world;
    return {
      name: "send_email",
      run: async (input, { signal }) => {
        const { to, about } = input as { readonly to: string; readonly about: string };
        await clock.sleep(TOOL_MS, signal);
        if (signal.aborted || death.aborted) throw new Error("It was stopped and has sent nothing");
        world.outbox.add({ identity: emailIdentity(to, about), atMs: world.nowMs(), session: "loop" });
        await clock.sleep(TOOL_MS, signal);
        return isReplayed(this.#seed) ? { content: "done", state: { about } } : "done";
      },
    };
  }

  /** What is wrong with a conversation that is replayed by its record. */
  async replayFaults(conversation: string): Promise<readonly string[]> {
    const { holdfast, world } = this.#rig;
    const recorded = await this.#resultsIn(conversation);
    const model = loopModel({
      clock: world.clock,
      fault: () => null,
      onRefused: (why) => this.refusals.push(why),
    });
    const newId = (): string => world.idsAndTime.newId();
    const agent = {
      tools: [this.#email()],
      instructions: false,
      compaction: null,
      clock: world.clock,
      newId,
    } as const;
    const [result] = await replay(holdfast, { conversation }, { models: [model], agent, tools: "recorded" });
    if (result === undefined || result.missed.length > 0) return [];
    this.#count("replayed");
    const other = (await this.#resultsIn(result.conversation)).find((text) => !recorded.includes(text));
    return other === undefined
      ? []
      : [`its replay has the result "${other}", which its record does not have`];
  }

  /** What the tools gave, word for word. */
  async #resultsIn(conversation: string): Promise<readonly string[]> {
    const branch = await (await this.#rig.holdfast.conversation(conversation)).branch();
    return branch.flatMap((node) =>
      node.type === "message" && node.message.role === "toolResult"
        ? [JSON.stringify(node.message.content)]
        : [],
    );
  }

  /**
   * Sends a prompt, or goes on with the last turn. What it asks a person is answered by the other host, or not at all:
   * then there is no result.
   */
  async carry(
    name: string,
    asked: { readonly prompt: string; readonly again: boolean; readonly via: Via; readonly moment: number },
  ): Promise<AgentResult | null> {
    const { prompt, again, via, moment } = asked;
    const chance = (what: string, nth: number): number => draw(this.#seed, name, moment, what, nth);
    const { host } = this.#rig;
    this.#count(again ? "continued" : "sent");
    const agent = this.agentOf(via);
    let result = await (again ? agent.continue(name, host) : agent.send(name, prompt, host));
    for (let nth = 0; result.outcome === "waiting" && nth < QUESTIONS_MAX; nth++) {
      const [question] = result.waiting;
      if (question === undefined || (this.#probability() > 0 && chance("leave", nth) < 0.2)) break;
      const outcome = chance("denied", nth) < 0.15 ? "denied" : "allowed";
      this.#count(`${outcome} elsewhere`);
      result = await this.agentOf(via === "main" ? "other" : "main").answer(
        name,
        question.request,
        outcome,
        host,
      );
    }
    this.#count(`ended ${result.outcome}/${result.class ?? "asked"}`);
    return result.outcome === "waiting" ? null : result;
  }
}
