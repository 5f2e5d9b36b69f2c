import { parseEntryId } from "#log/ids";
import { keepImages } from "#conversation/image-blobs";
import { SteerQueue } from "#conversation/steer-queue";
import { accept, type PromptContent, turnStart } from "#turn/accept";
import type { SteeredTurns } from "#turn/steering";
import {
  type AgentResult,
  type AgentSendOptions,
  type AgentTurnOptions,
  type SettledOptions,
} from "./agent-options.ts";
import { limitsOf, resultOf } from "./agent-result.ts";
import { serverBodies, serversFor } from "./mcp/given-servers.ts";
import { type AgentWork, type LoopTurn, tell } from "./loop/loop-turn.ts";
import type { CallsToRun } from "./loop/run-calls.ts";
import { runTurn } from "./loop/run-turn.ts";
import { readTurnLeft, settleLeft } from "./loop/turn-left.ts";
import { memoryOf } from "./memory/conversation-memory.ts";
import type { DurableStep } from "./steps/durable-step.ts";
import { type OpenedTurn, TurnInSteps } from "./steps/turn-in-steps.ts";
import type { ChosenModel, ModelChoice } from "./models/model-choice.ts";
import { turnTools } from "./tools/turn-tools.ts";

/** A turn that is in the log. */
interface TurnBegun {
  readonly turn: string;
  readonly prompt: string;
  /** Of its last answer, without a result. */
  readonly calls?: CallsToRun | null;
  readonly attemptsBefore?: number;
  readonly unanswered?: number;
  /** What its last answer says. */
  readonly text?: string;
}

/** What is sent, and how. */
interface PromptAsked {
  readonly content: PromptContent;
  readonly key: string | undefined;
  readonly options: AgentSendOptions;
}

/** By whom and within which limits a turn is carried. */
interface TurnHow extends ChosenModel {
  readonly memory: LoopTurn["memory"];
  readonly tools: LoopTurn["tools"];
  readonly words: SteerQueue;
  readonly limits: LoopTurn["limits"];
}

/** Carries turns of conversations that are owned for it: those of new prompts, and those that were left. */
export class TurnCarrier {
  readonly #options: SettledOptions;
  readonly #models: ModelChoice;
  readonly #steers: SteeredTurns;

  constructor(options: SettledOptions, models: ModelChoice, steers: SteeredTurns) {
    this.#options = options;
    this.#models = models;
    this.#steers = steers;
  }

  /** Whatever the caller got wrong is told here, before anything is written. */
  async prepare({ conversation }: AgentWork, options: AgentTurnOptions): Promise<TurnHow> {
    const chosen = await this.#models.choose(conversation, options.model);
    const limits = limitsOf(chosen.model, options, this.#options);
    const memory = await memoryOf(this.#options, conversation, chosen.cwd);
    const tools = await turnTools(this.#options, { cwd: chosen.cwd, conversation: conversation.id, memory });
    const servers = serverBodies(chosen.config, serversFor(this.#options.servers, conversation.id));
    const bodies = [...chosen.bodies, ...(memory?.bodies ?? []), ...servers];
    const words = new SteerQueue(conversation.space, conversation.id);
    return { ...chosen, bodies, tools, memory, limits, words };
  }

  async send(work: AgentWork, asked: PromptAsked): Promise<AgentResult> {
    const how = await this.prepare(work, asked.options);
    return this.#carry(work, await this.#accept(work, asked, how), how);
  }

  /** `key`: of a turn that is begun anew for a prompt whose turn has ended. */
  async continue(work: AgentWork, options: AgentTurnOptions, key?: string): Promise<AgentResult> {
    const how = await this.prepare(work, options);
    return this.#carry(work, await this.#resume(work, how, key), how);
  }

  /** The same with every step as an engine's; null instead of a prompt: the turn that was left goes on. */
  async inSteps(
    work: AgentWork,
    steps: DurableStep,
    asked: Omit<PromptAsked, "content"> & { readonly content: PromptContent | null },
  ): Promise<AgentResult> {
    const { content, options } = asked;
    const how = await this.prepare(work, options);
    const steering = this.#steers.begin(work.conversation.id);
    const opened = (begun: TurnBegun): OpenedTurn => ({
      at: this.loopTurn(work, begun, how, steering),
      calls: begun.calls ?? null,
    });
    const carried = new TurnInSteps(work, steps, {
      content,
      key: asked.key,
      begin: async (key) =>
        opened(
          content === null
            ? await this.#resume(work, how, key)
            : await this.#accept(work, { content, key, options }, how),
        ),
      resume: async () => opened(await this.#resume(work, how)),
      hasFollowUp: async () => (await how.words.due(["turn"])).length > 0,
      followUp: async (key) => {
        const begun = await this.#followUp(work, how, key);
        return begun === null ? null : opened(begun);
      },
    });
    return carried.run(how.model.id).finally(() => this.#steers.end(work.conversation.id));
  }

  async #accept(work: AgentWork, { content, key, options }: PromptAsked, how: TurnHow): Promise<TurnBegun> {
    const { conversation, owner } = work;
    await settleLeft(work, this.#options);
    const kept = await keepImages(conversation.space, conversation.id, content);
    const { details } = options;
    const { holder } = this.#options.pool;
    const prompt = { content: kept, holder, ...(details === undefined ? {} : { details }) };
    const { bodies, ...accepted } = accept(prompt, await how.words.facts(), this.#options.newId);
    await owner.append([...how.bodies, ...bodies], key === undefined ? {} : { key });
    tell(work, { type: "accepted", turn: accepted.turn, prompt: accepted.prompt });
    return accepted;
  }

  async #resume(work: AgentWork, how: TurnHow, key?: string): Promise<TurnBegun> {
    const left = await readTurnLeft(work, this.#options);
    const bodies = [...how.bodies, ...left.bodies];
    const keyed = key === undefined || left.bodies.length === 0 ? {} : { key };
    if (bodies.length > 0) await work.owner.append(bodies, keyed);
    tell(work, { type: "accepted", turn: left.turn, prompt: left.prompt });
    return left;
  }

  async #carry(work: AgentWork, begun: TurnBegun, how: TurnHow): Promise<AgentResult> {
    let last = await this.#run(work, begun, how);
    while (last.outcome === "completed" && !work.cancelled.aborted) {
      const next = await this.#followUp(work, how);
      if (next === null) break;
      last = await this.#run(work, next, how);
    }
    return last;
  }

  /** What waits for the end of a turn is the prompt of the next. */
  async #followUp(work: AgentWork, how: TurnHow, key?: string): Promise<TurnBegun | null> {
    const [next] = await how.words.due(["turn"]);
    if (next === undefined) return null;
    const [prompt, turn] = [this.#options.newId(), this.#options.newId()];
    await work.owner.append(
      [
        { type: "message", id: prompt, message: { role: "user", content: next.content } },
        { type: "steer", steer: next.steer, state: "delivered" },
        turnStart({ turn, prompt }, this.#options.pool.holder),
      ],
      key === undefined ? {} : { key },
    );
    tell(work, { type: "accepted", turn, prompt });
    return { turn, prompt };
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
      model: how.model,
      tools: how.tools,
      cwd: how.cwd,
      memory: how.memory,
      words: how.words,
      steering,
      limits: how.limits,
      attemptsBefore: begun.attemptsBefore ?? 0,
      progress: {
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
      },
    };
  }
}
