import { parseEntryId } from "#log/ids";
import { dueAt } from "#conversation/steer-queue";
import type { SteeredTurns } from "#turn/steering";
import type { AgentResult, AgentTurnOptions, SettledOptions } from "./agent-options.ts";
import { limitsOf, resultOf } from "./agent-result.ts";
import { serverBodies, serversFor } from "./mcp/given-servers.ts";
import type { AgentWork, LoopTurn } from "./loop/loop-turn.ts";
import { runTurn } from "./loop/run-turn.ts";
import { memoryOf } from "./memory/conversation-memory.ts";
import { toolsOfRun } from "./runs/loop-run.ts";
import type { RunGiven, StartedRun, StartRunOptions } from "./runs/run-options.ts";
import type { DurableStep } from "./steps/durable-step.ts";
import { type OpenedTurn, TurnInSteps } from "./steps/turn-in-steps.ts";
import type { ModelChoice } from "./models/model-choice.ts";
import { turnTools } from "./tools/turn-tools.ts";
import { type TurnAsked, type TurnBegun, type TurnHow, TurnStarts } from "./turn-starts.ts";

/** Carries turns of conversations that are owned for it: those of new prompts, and those that were left. */
export class TurnCarrier {
  readonly #options: SettledOptions;
  readonly #models: ModelChoice;
  readonly #steers: SteeredTurns;
  readonly #starts: TurnStarts;

  constructor(options: SettledOptions, models: ModelChoice, steers: SteeredTurns) {
    this.#options = options;
    this.#models = models;
    this.#steers = steers;
    this.#starts = new TurnStarts(options);
  }

  /** Whatever the caller got wrong is told here, before anything is written. */
  async prepare(work: AgentWork, options: AgentTurnOptions): Promise<TurnHow> {
    const { conversation, warm } = work;
    const chosen = await this.#models.choose(work, options.model);
    const limits = limitsOf([chosen.model, ...chosen.fallbacks], options, this.#options);
    const memory = await memoryOf(this.#options, conversation, chosen.cwd);
    const tools = await turnTools(this.#options, { cwd: chosen.cwd, conversation: conversation.id, memory });
    const servers = serverBodies(chosen.config, serversFor(this.#options.servers, conversation.id));
    const bodies = [...chosen.bodies, ...(memory?.bodies ?? []), ...servers];
    return { ...chosen, bodies, tools, memory, limits, words: warm.words };
  }

  /** A turn with a prompt, with a run whose seeds end with one, or for what was left. */
  async carry(work: AgentWork, asked: TurnAsked): Promise<AgentResult> {
    const how = await this.prepare(work, asked.options);
    return this.#carry(work, await this.#starts.begin(work, asked, how), how);
  }

  /** Starts a run without a turn. */
  async startRun(work: AgentWork, given: RunGiven & StartRunOptions, key: string): Promise<StartedRun> {
    const { model } = given;
    const how = await this.prepare(work, model === undefined ? {} : { model });
    return this.#starts.run(work, given, how, key);
  }

  /** The same as `carry` with every step as an engine's. */
  async inSteps(work: AgentWork, steps: DurableStep, asked: TurnAsked): Promise<AgentResult> {
    const how = await this.prepare(work, asked.options);
    const steering = this.#steers.begin(work.conversation.id);
    const opened = (begun: TurnBegun): OpenedTurn => ({
      at: this.loopTurn(work, begun, how, steering),
      calls: begun.calls ?? null,
    });
    const carried = new TurnInSteps(work, steps, {
      content: asked.content,
      key: asked.key,
      begin: async (key) => opened(await this.#starts.begin(work, { ...asked, key }, how)),
      resume: async () => opened(await this.#starts.resume(work, how)),
      hasFollowUp: async () => dueAt(await how.words.waiting(), ["turn"]).length > 0,
      followUp: async (key, run) => {
        const begun = await this.#starts.followUp(work, how, { key, run });
        return begun === null ? null : opened(begun);
      },
    });
    return carried.run(how.model.id).finally(() => this.#steers.end(work.conversation.id));
  }

  async #carry(work: AgentWork, begun: TurnBegun, how: TurnHow): Promise<AgentResult> {
    let last = await this.#run(work, begun, how);
    while (last.outcome === "completed" && !work.cancelled.aborted) {
      const next = await this.#starts.followUp(work, how, { run: begun.run });
      if (next === null) break;
      last = await this.#run(work, next, how);
    }
    return last;
  }

  async #run(work: AgentWork, begun: TurnBegun, how: TurnHow): Promise<AgentResult> {
    const { conversation } = work;
    const at = this.loopTurn(work, begun, how, this.#steers.begin(conversation.id));
    const end = await runTurn(at, begun.calls ?? null).finally(() => this.#steers.end(conversation.id));
    return resultOf(at, end, conversation);
  }

  loopTurn(
    work: AgentWork,
    begun: TurnBegun,
    how: TurnHow,
    steering: LoopTurn["steering"] = { deliver: null },
  ): LoopTurn {
    return {
      work,
      options: this.#options,
      turn: begun.turn,
      prompt: parseEntryId(begun.prompt),
      run: begun.run,
      fallbacks: how.fallbacks,
      tools: toolsOfRun(how.tools, begun.run),
      cwd: how.cwd,
      memory: how.memory,
      words: how.words,
      steering,
      limits: how.limits,
      attemptsBefore: begun.attemptsBefore ?? 0,
      progress: {
        model: how.model,
        steps: 0,
        attempts: 0,
        unanswered: begun.unanswered ?? 0,
        used: {},
        state: undefined,
        skills: undefined,
        compactionFailed: false,
        showsMedia: false,
        text: begun.text ?? "",
        node: parseEntryId(begun.prompt),
        deduped: false,
        stepBatch: null,
      },
    };
  }
}
