import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { keepImages } from "#conversation/image-blobs";
import { dueAt, type SteerQueue } from "#conversation/steer-queue";
import { accept, type PromptContent, turnStart } from "#turn/accept";
import type { AgentSendOptions, SettledOptions } from "./agent-options.ts";
import { type AgentWork, type LoopTurn, tell } from "./loop/loop-turn.ts";
import type { CallsToRun } from "./loop/run-calls.ts";
import { readTurnLeft, settleLeft } from "./loop/turn-left.ts";
import type { ChosenModel } from "./models/model-choice.ts";
import {
  beginRun,
  checkAnswerable,
  goOnIn,
  readRunStart,
  type RunBegun,
  type RunFound,
} from "./runs/begin-run.ts";
import { type LoopRun, loopRun } from "./runs/loop-run.ts";
import { CHAT_RUN, type RunGiven, type StartedRun } from "./runs/run-options.ts";

/** A turn that is in the log. */
export interface TurnBegun {
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

/** What is sent, and how; null: no words of its own. */
export interface TurnAsked {
  readonly content: PromptContent | null;
  readonly key: string | undefined;
  readonly options: AgentSendOptions;
}

/** By whom and within which limits a turn is carried. */
export interface TurnHow extends ChosenModel {
  readonly memory: LoopTurn["memory"];
  readonly tools: LoopTurn["tools"];
  readonly words: SteerQueue;
  readonly limits: LoopTurn["limits"];
}

/** What begins a turn: settings, its run where that begins with it, and the bodies of its own. */
interface TurnWritten {
  readonly settings: readonly EntryBody[];
  readonly run: RunBegun | null;
  readonly bodies: readonly EntryBody[];
  readonly key: string | undefined;
}

/** Begins turns, each in a run: those of new prompts, of seeds, and those that were left. */
export class TurnStarts {
  readonly #options: SettledOptions;

  constructor(options: SettledOptions) {
    this.#options = options;
  }

  begin(work: AgentWork, asked: TurnAsked, how: TurnHow): Promise<TurnBegun> {
    const { content, key, options } = asked;
    if (content !== null) return this.#accept(work, { content, key, options }, how);
    return typeof options.run === "string"
      ? this.#answerSeeds(work, { run: options.run, key }, how)
      : this.resume(work, how, key);
  }

  /** A run without a turn. */
  async run(work: AgentWork, given: RunGiven, how: TurnHow, key: string): Promise<StartedRun> {
    const { bodies, start } = await beginRun(work.conversation, given, {
      ...how,
      newId: this.#options.newId,
    });
    await settleLeft(work, this.#options);
    await work.owner.append([...how.bodies, ...bodies], { key });
    return { run: start.run, repeated: false };
  }

  async #accept(
    work: AgentWork,
    { content, key, options }: TurnAsked & { readonly content: PromptContent },
    how: TurnHow,
  ): Promise<TurnBegun> {
    const { conversation } = work;
    const { newId, pool } = this.#options;
    const { run: given = CHAT_RUN, details } = options;
    const run =
      typeof given === "string"
        ? await this.#startedRun(work, given)
        : await beginRun(conversation, given, { ...how, newId });
    await settleLeft(work, this.#options);
    const kept = await keepImages(conversation.space, conversation.id, content);
    const more = details === undefined ? {} : { details };
    const prompt = { content: kept, holder: pool.holder, run: run.start.run, ...more };
    const { bodies, ...accepted } = accept(prompt, await how.words.facts(), newId);
    return this.#begun(work, accepted, { settings: how.bodies, run, bodies, key });
  }

  /** A turn without words of its own: its run began with what is to be answered. */
  async #answerSeeds(
    work: AgentWork,
    { run: id, key }: { readonly run: string; readonly key: string | undefined },
    how: TurnHow,
  ): Promise<TurnBegun> {
    const { newId, pool } = this.#options;
    const run = await this.#startedRun(work, id);
    const prompt = await checkAnswerable(work.conversation, run);
    await settleLeft(work, this.#options);
    const turn = newId();
    const bodies = [turnStart({ turn, prompt, run: run.start.run }, pool.holder)];
    return this.#begun(work, { turn, prompt }, { settings: how.bodies, run, bodies, key });
  }

  /** The turn that was left: as it is where it is open, else under another name and in the same run. */
  async resume(work: AgentWork, how: TurnHow, key?: string): Promise<TurnBegun> {
    const { again, ...left } = await readTurnLeft(work, this.#options);
    const known = left.run === null ? null : await startOf(work, left.run);
    const run = again === null || known === null ? known : goOnIn(known, this.#options.newId());
    const bodies = again?.(run?.start.run) ?? [];
    return this.#begun(work, left, { settings: how.bodies, run, bodies, key });
  }

  /** What waits for the end of a turn is the prompt of the next, in the same run. */
  async followUp(
    work: AgentWork,
    how: TurnHow,
    of: { readonly run: LoopRun | string | null; readonly key?: string },
  ): Promise<TurnBegun | null> {
    const [next] = dueAt(await how.words.owned(), ["turn"]);
    if (next === undefined) return null;
    const { newId, pool } = this.#options;
    const known = typeof of.run === "string" ? await startOf(work, of.run) : null;
    const run = known === null ? null : goOnIn(known, newId());
    const [prompt, turn] = [newId(), newId()];
    const id = typeof of.run === "string" ? run?.start.run : of.run?.run;
    const bodies: readonly EntryBody[] = [
      { type: "message", id: prompt, message: { role: "user", content: next.content } },
      { type: "steer", steer: next.steer, state: "delivered" },
      turnStart({ turn, prompt, run: id }, pool.holder),
    ];
    const begun = await this.#begun(work, { turn, prompt }, { settings: [], run, bodies, key: of.key });
    return typeof of.run === "string" ? begun : { ...begun, run: of.run };
  }

  /** The turn's start is the last of what is written: by it a keyed turn is known again. */
  async #begun<T extends Omit<TurnBegun, "run">>(
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

  /** A run that is in the log, for a turn that is asked for by its id. */
  async #startedRun(work: AgentWork, id: string): Promise<RunBegun> {
    const known = await startOf(work, id);
    if (known !== null) return goOnIn(known, this.#options.newId());
    const { id: conversation } = work.conversation;
    throw new LogError(
      "invalid_request",
      `There is no run ${id} in conversation ${conversation}; start it first. Nothing was written or sent`,
      { run: id },
    );
  }
}

function startOf({ conversation, owner }: AgentWork, run: string): Promise<RunFound | null> {
  return readRunStart(conversation, owner.acquiredHead, run);
}
