import { parseEntryId } from "#log/ids";
import { dueAt, type SteerQueue } from "#conversation/steer-queue";
import type { SteeredTurns } from "#turn/steering";
import {
  type AgentResult,
  type AgentTurnOptions,
  type ResolvedOptions,
  type AgentSendOptions,
  turnTools,
} from "./agent-options.ts";
import { serverBodies, serversFor } from "./mcp/conversation-servers.ts";
import { type AgentWork, type LoopTurn, tell } from "./loop/loop-turn.ts";
import { runTurn, type LoopEnd } from "./loop/run-turn.ts";
import { memoryOf } from "./memory/conversation-memory.ts";
import {
  toolsOfRun,
  type LoopRun,
  loopRun,
  beginRun,
  checkAnswerable,
  continueRun,
  readRunStart,
  type RunStart,
  type LoggedRun,
} from "./loop/turn-run.ts";
import { type RunInput, type StartedRun, type StartRunOptions, CHAT_RUN } from "./loop/run-options.ts";
import type { DurableStep } from "./steps/engine-steps.ts";
import { type OpenTurn, TurnInSteps } from "./steps/turn-in-steps.ts";
import type { ModelChoice, ModelSelection } from "./models/model-choice.ts";
import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { keepImages } from "#conversation/image-blobs";
import { accept, type PromptContent, turnStart } from "#turn/accept";
import type { CallsToRun } from "./loop/run-calls.ts";
import { readAbandonedTurn, closeAbandonedTurn } from "./loop/abandoned-turn.ts";
import type { Conversation } from "#conversation/conversation";
import { checkNumbers } from "#log/with-defaults";
import type { Usage } from "#log/message";
import type { KeyedTurn } from "#turn/known-turn";
import type { AgentModel } from "./models/model.ts";
import { readWaiting } from "./pending-permissions.ts";

/** A turn that is in the log. */
interface BegunTurn {
  readonly turn: string;
  readonly prompt: string;
  readonly run: LoopRun | null;
  /** Of its last answer, without a result. */
  readonly calls?: CallsToRun | null;
  readonly attemptsBefore?: number;
  readonly unanswered?: number;
  /** What its last answer says. */
  readonly text?: string;
}

/** The prompt and its key; null: there is no prompt. */
export interface TurnRequest {
  readonly content: PromptContent | null;
  readonly key: string | undefined;
  readonly options: AgentSendOptions;
}

/** By whom and within which limits a turn is carried. */
interface TurnSetup extends ModelSelection {
  readonly memory: LoopTurn["memory"];
  readonly tools: LoopTurn["tools"];
  readonly steers: SteerQueue;
  readonly limits: LoopTurn["limits"];
}

/** What begins a turn: settings, its run where that begins with it, and the bodies of its own. */
interface TurnWritten {
  readonly settings: readonly EntryBody[];
  readonly run: RunStart | null;
  readonly bodies: readonly EntryBody[];
  readonly key: string | undefined;
}

function startOf({ conversation, owner }: AgentWork, run: string): Promise<LoggedRun | null> {
  return readRunStart(conversation, owner.acquiredHead, run);
}

/** Runs turns in conversations that are owned for it, each in a run: of new prompts, of run inputs, and interrupted ones. */
export class TurnRunner {
  readonly #options: ResolvedOptions;
  readonly #models: ModelChoice;
  readonly #steers: SteeredTurns;

  constructor(options: ResolvedOptions, models: ModelChoice, steers: SteeredTurns) {
    this.#options = options;
    this.#models = models;
    this.#steers = steers;
  }

  /** Whatever the caller got wrong is told here, before anything is written. */
  async prepare(work: AgentWork, options: AgentTurnOptions): Promise<TurnSetup> {
    const { conversation, warm } = work;
    const chosen = await this.#models.choose(work, options.model);
    const limits = limitsOf([chosen.model, ...chosen.fallbacks], options, this.#options);
    const memory = await memoryOf(this.#options, conversation, chosen.cwd);
    const tools = await turnTools(this.#options, { cwd: chosen.cwd, conversation: conversation.id, memory });
    const servers = serverBodies(chosen.config, serversFor(this.#options.servers, conversation.id));
    const bodies = [...chosen.bodies, ...(memory?.bodies ?? []), ...servers];
    return { ...chosen, bodies, tools, memory, limits, steers: warm.steers };
  }

  /** Runs a turn for a prompt, for the inputs of a run, or for an interrupted turn. */
  async run(work: AgentWork, request: TurnRequest): Promise<AgentResult> {
    const setup = await this.prepare(work, request.options);
    return this.#runAll(work, await this.#begin(work, request, setup), setup);
  }

  /** Starts a run without a turn. */
  async startRun(work: AgentWork, run: RunInput & StartRunOptions, key: string): Promise<StartedRun> {
    const { model } = run;
    const setup = await this.prepare(work, model === undefined ? {} : { model });
    return this.#writeRun(work, run, setup, key);
  }

  /** The same as `run` with every step as an engine's. */
  async inSteps(work: AgentWork, steps: DurableStep, request: TurnRequest): Promise<AgentResult> {
    const setup = await this.prepare(work, request.options);
    const steering = this.#steers.begin(work.conversation.id);
    const opened = (start: BegunTurn): OpenTurn => ({
      turn: this.loopTurn(work, start, setup, steering),
      calls: start.calls ?? null,
    });
    const steppedTurn = new TurnInSteps(work, steps, {
      content: request.content,
      key: request.key,
      begin: async (key) => opened(await this.#begin(work, { ...request, key }, setup)),
      resume: async () => opened(await this.#resume(work, setup)),
      hasFollowUp: async () => dueAt(await setup.steers.waiting(), ["turn"]).length > 0,
      followUp: async (key, run) => {
        const next = await this.#followUp(work, setup, { key, run });
        return next === null ? null : opened(next);
      },
    });
    return steppedTurn.run(setup.model.id).finally(() => this.#steers.end(work.conversation.id));
  }

  async #runAll(work: AgentWork, start: BegunTurn, setup: TurnSetup): Promise<AgentResult> {
    let last = await this.#runOne(work, start, setup);
    while (last.outcome === "completed" && !work.cancelled.aborted) {
      const next = await this.#followUp(work, setup, { run: start.run });
      if (next === null) break;
      last = await this.#runOne(work, next, setup);
    }
    return last;
  }

  async #runOne(work: AgentWork, start: BegunTurn, setup: TurnSetup): Promise<AgentResult> {
    const { conversation } = work;
    const turn = this.loopTurn(work, start, setup, this.#steers.begin(conversation.id));
    const end = await runTurn(turn, start.calls ?? null).finally(() => this.#steers.end(conversation.id));
    return resultOf(turn, end, conversation);
  }

  loopTurn(
    work: AgentWork,
    start: BegunTurn,
    setup: TurnSetup,
    steering: LoopTurn["steering"] = { deliver: null },
  ): LoopTurn {
    return {
      work,
      options: this.#options,
      turn: start.turn,
      prompt: parseEntryId(start.prompt),
      run: start.run,
      fallbacks: setup.fallbacks,
      tools: toolsOfRun(setup.tools, start.run),
      cwd: setup.cwd,
      memory: setup.memory,
      steers: setup.steers,
      steering,
      limits: setup.limits,
      attemptsBefore: start.attemptsBefore ?? 0,
      progress: {
        model: setup.model,
        steps: 0,
        attempts: 0,
        unanswered: start.unanswered ?? 0,
        used: {},
        state: undefined,
        skills: undefined,
        compactionFailed: false,
        showsMedia: false,
        text: start.text ?? "",
        node: parseEntryId(start.prompt),
        deduped: false,
        stepBatch: null,
      },
    };
  }

  #begin(work: AgentWork, request: TurnRequest, setup: TurnSetup): Promise<BegunTurn> {
    const { content, key, options } = request;
    if (content !== null) return this.#accept(work, { content, key, options }, setup);
    return typeof options.run === "string"
      ? this.#answerSeeds(work, { run: options.run, key }, setup)
      : this.#resume(work, setup, key);
  }

  /** A run without a turn. */
  async #writeRun(work: AgentWork, run: RunInput, setup: TurnSetup, key: string): Promise<StartedRun> {
    const { bodies, start } = await beginRun(work.conversation, run, {
      ...setup,
      newId: this.#options.newId,
    });
    await closeAbandonedTurn(work, this.#options);
    await work.owner.append([...setup.bodies, ...bodies], { key });
    return { run: start.run, repeated: false };
  }

  async #accept(
    work: AgentWork,
    { content, key, options }: TurnRequest & { readonly content: PromptContent },
    setup: TurnSetup,
  ): Promise<BegunTurn> {
    const { conversation } = work;
    const { newId, pool } = this.#options;
    const { run: input = CHAT_RUN, details } = options;
    const run =
      typeof input === "string"
        ? await this.#startedRun(work, input)
        : await beginRun(conversation, input, { ...setup, newId });
    await closeAbandonedTurn(work, this.#options);
    const storedContent = await keepImages(conversation, content);
    const more = details === undefined ? {} : { details };
    const prompt = { content: storedContent, holder: pool.holder, run: run.start.run, ...more };
    const { bodies, ...accepted } = accept(prompt, await setup.steers.facts(), newId);
    return this.#write(work, accepted, { settings: setup.bodies, run, bodies, key });
  }

  /** Starts a turn without a prompt: the inputs of its run need an answer. */
  async #answerSeeds(
    work: AgentWork,
    { run: id, key }: { readonly run: string; readonly key: string | undefined },
    setup: TurnSetup,
  ): Promise<BegunTurn> {
    const { newId, pool } = this.#options;
    const run = await this.#startedRun(work, id);
    const prompt = await checkAnswerable(work.conversation, run);
    await closeAbandonedTurn(work, this.#options);
    const turn = newId();
    const bodies = [turnStart({ turn, prompt, run: run.start.run }, pool.holder)];
    return this.#write(work, { turn, prompt }, { settings: setup.bodies, run, bodies, key });
  }

  /** The turn that was left: as it is where it is open, else under another name and in the same run. */
  async #resume(work: AgentWork, setup: TurnSetup, key?: string): Promise<BegunTurn> {
    const { restart: again, ...abandoned } = await readAbandonedTurn(work, this.#options);
    const runStart = abandoned.run === null ? null : await startOf(work, abandoned.run);
    const run = again === null || runStart === null ? runStart : continueRun(runStart, this.#options.newId());
    const bodies = again?.(run?.start.run) ?? [];
    return this.#write(work, abandoned, { settings: setup.bodies, run, bodies, key });
  }

  /** What waits for the end of a turn is the prompt of the next, in the same run. */
  async #followUp(
    work: AgentWork,
    setup: TurnSetup,
    of: { readonly run: LoopRun | string | null; readonly key?: string },
  ): Promise<BegunTurn | null> {
    const [next] = dueAt(await setup.steers.owned(), ["turn"]);
    if (next === undefined) return null;
    const { newId, pool } = this.#options;
    const runStart = typeof of.run === "string" ? await startOf(work, of.run) : null;
    const run = runStart === null ? null : continueRun(runStart, newId());
    const [prompt, turn] = [newId(), newId()];
    const id = typeof of.run === "string" ? run?.start.run : of.run?.run;
    const bodies: readonly EntryBody[] = [
      { type: "message", id: prompt, message: { role: "user", content: next.content } },
      { type: "steer", steer: next.steer, state: "delivered" },
      turnStart({ turn, prompt, run: id }, pool.holder),
    ];
    const start = await this.#write(work, { turn, prompt }, { settings: [], run, bodies, key: of.key });
    return typeof of.run === "string" ? start : { ...start, run: of.run };
  }

  /** Writes the turn's entries. Its start comes last: a keyed turn is found by it. */
  async #write<T extends Omit<BegunTurn, "run">>(
    work: AgentWork,
    turn: T,
    { settings, run, bodies, key }: TurnWritten,
  ): Promise<T & { readonly run: LoopRun | null }> {
    const all = [...settings, ...(run?.bodies ?? []), ...bodies];
    const keyed = key === undefined || bodies.length === 0 ? {} : { key };
    const written = all.length === 0 ? null : await work.owner.append(all, keyed);
    const after = (written?.fromSeq ?? work.owner.acquiredHead.headSeq + 1) - 1;
    const resumed = bodies.length === 0;
    tell(work, { type: "accepted", turn: turn.turn, prompt: turn.prompt, after, resumed });
    if (run === null) return { ...turn, run };
    const started = (written?.fromSeq ?? 0) + settings.length + run.bodies.length - 1;
    return { ...turn, run: loopRun(run.start, run.startSeq ?? started) };
  }

  /** A run that is in the log, for a turn that is named by its id. */
  async #startedRun(work: AgentWork, id: string): Promise<RunStart> {
    const runStart = await startOf(work, id);
    if (runStart !== null) return continueRun(runStart, this.#options.newId());
    const { id: conversation } = work.conversation;
    throw new LogError(
      "invalid_request",
      `Run ${id} not found in conversation ${conversation}. Start it first.`,
      { run: id },
    );
  }
}

/** Builds the result of an earlier turn with the same key. */
export function knownResult({ result, lastText, run }: KeyedTurn): AgentResult {
  const { upstream: _, ...rest } = result;
  return { ...rest, run, text: lastText, model: null, steps: 0, usage: {}, waiting: [] };
}

/** What became of a turn that was carried here. */
async function resultOf(turn: LoopTurn, end: LoopEnd, conversation: Conversation): Promise<AgentResult> {
  const { turn: turnId, prompt, progress } = turn;
  const { model, steps, used } = progress;
  const run = turn.run?.run ?? null;
  const shared = { turn: turnId, prompt, run, model: model.id, steps, usage: used as Usage };
  if (end.outcome !== "waiting") {
    const { class: endingClass, message, resetAtMs } = end.ending;
    const { outcome } = end;
    return { ...shared, outcome, class: endingClass, message, resetAtMs, text: progress.text, waiting: [] };
  }
  const waiting = (await readWaiting(conversation)).filter(({ request }) => end.requests.includes(request));
  const message = "The turn is waiting for an answer";
  return {
    ...shared,
    outcome: "waiting",
    class: null,
    message,
    resetAtMs: null,
    text: progress.text,
    waiting,
  };
}

/** How far a turn may go. */
function limitsOf(
  models: readonly AgentModel[],
  options: AgentTurnOptions,
  resolved: ResolvedOptions,
): LoopTurn["limits"] {
  const { maxSteps = resolved.maxSteps, maxCostMicros } = options;
  checkNumbers(options, { maxSteps: "count", maxCostMicros: "limit" });
  for (const model of models) checkCostLimit(model, maxCostMicros);
  return { steps: maxSteps, costMicros: maxCostMicros ?? null };
}

export function checkCostLimit(model: AgentModel, maxCostMicros: number | undefined): void {
  if (maxCostMicros !== undefined && model.price === null)
    throw new LogError(
      "invalid_request",
      `The cost limit needs a price for ${model.id}. Pass the model with its price, or limit the steps instead.`,
      { model: model.id },
    );
}
