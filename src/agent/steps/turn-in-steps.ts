import type { Conversation } from "#conversation/conversation";
import type { EndingClass } from "#log/ending-class";
import { isLogError, LogError } from "#log/errors";
import { parseEntryId, parseKey } from "#log/ids";
import { type Usage, textOfBlocks } from "#log/message";
import type { PromptContent } from "#turn/accept";
import { saysTheSame } from "#turn/known-turn";
import type { AgentResult } from "#agent/agent-options";
import type { AgentWork, LoopProgress, LoopTurn } from "#agent/loop/loop-turn";
import type { CallsToRun } from "#agent/loop/run-calls";
import { type LoopEnd, runStep } from "#agent/loop/run-turn";
import { readWaiting } from "#agent/pending-permissions";
import { isAnswered } from "#agent/loop/answer-entries";
import type { DurableStep, StepBody } from "./engine-steps.ts";
import {
  batchEndOf,
  checkPointer,
  readPointer,
  readTurnFacts,
  readTurnEnd,
  type TurnFacts,
  parsePointer,
  type TurnPointer,
  WAITS,
} from "./turn-pointer.ts";
import type { Claim } from "#turn/one-at-a-time";

/** A turn that is in the log, ready to be carried on. */
export interface OpenTurn {
  readonly turn: LoopTurn;
  readonly calls: CallsToRun | null;
}

/** How turns are begun and taken up: as without an engine. */
export interface TurnActions {
  /** Null: there is no prompt, and the interrupted turn continues. */
  readonly content: PromptContent | null;
  /** The key of the prompt, where the caller gave one: what began under it is the same turn, whatever the task. */
  readonly key: string | undefined;
  /** Writes the prompt and the turn's start under this key. */
  begin(key: string): Promise<OpenTurn>;
  /** Continues the interrupted turn. */
  resume(): Promise<OpenTurn>;
  hasFollowUp(): Promise<boolean>;
  /** Makes the words that waited for the end of a turn the prompt of the next, in its run; null when none wait. */
  followUp(key: string, run: string | null): Promise<OpenTurn | null>;
}

type StepBatch = NonNullable<LoopProgress["stepBatch"]>;

/** What a step begins with. */
type Begin = "prompt" | "follow_up" | "middle";

/** Carries turns whose steps are an engine's: each is looked up in the log before it is run, and pointed at when it is there. */
export class TurnInSteps {
  readonly #work: AgentWork;
  readonly #steps: DurableStep;
  readonly #actions: TurnActions;
  /** The turn as this attempt has it; null if only the log has its current state. */
  #live: OpenTurn | null = null;
  #end: LoopEnd | null = null;
  /** Who was asked last, here. */
  #model: string | null = null;
  #last: TurnPointer | null = null;
  /** The turn of that step. */
  #turn: TurnFacts | null = null;
  /** Whether an earlier attempt began the turn. */
  #begunBefore: boolean = false;
  #differs: boolean = false;
  /** Of the turn that is carried. */
  #answers: number = 0;
  #used: { [counter: string]: number } = {};

  constructor(work: AgentWork, steps: DurableStep, actions: TurnActions) {
    this.#work = work;
    this.#steps = steps;
    this.#actions = actions;
  }

  get #conversation(): Conversation {
    return this.#work.conversation;
  }

  /** `model`: who is asked first. */
  async run(model: string): Promise<AgentResult> {
    let begin: Begin = "prompt";
    for (;;) {
      if (begin !== "middle") [this.#live, this.#end, this.#answers, this.#used] = [null, null, 0, {}];
      const { pointer, name } = await this.#step(begin);
      this.#count(pointer);
      const turn = await this.#turnAt(pointer.toSeq);
      if (begin === "prompt" && this.#begunBefore) this.#differs = !(await this.#isAsked(turn.start.prompt));
      begin = "middle";
      if (turn.end === null && pointer.finishReason !== WAITS) continue;
      const result = await this.#result(this.#model ?? model, pointer, turn);
      const next = this.#nextKey();
      const continues = result.outcome === "completed" && !this.#work.cancelled.aborted;
      if (!continues || !(await this.#hasFollowUp(next))) return this.#withRepeated(result, name, turn);
      begin = "follow_up";
    }
  }

  /** Returns the turn of a step. An open turn of this attempt is still the same turn. */
  async #turnAt(seq: number): Promise<TurnFacts> {
    const isOpenHere = this.#live !== null && this.#turn?.start.turn === this.#live.turn.turn;
    if (!isOpenHere || this.#turn === null) this.#turn = await readTurnFacts(this.#conversation, seq);
    return this.#turn;
  }

  /** Its key in the log tells a follow-up that was begun before. */
  async #hasFollowUp(key: string): Promise<boolean> {
    return (
      (await this.#conversation.findAppend(promptKey(key))) !== null || (await this.#actions.hasFollowUp())
    );
  }

  #nextKey(): string {
    const { id } = this.#conversation;
    return this.#key(stepName(id, attemptIn(this.#steps, id).steps + 1));
  }

  #key(name: string): string {
    return stepAppendKey(this.#steps.taskId, name);
  }

  async #step(begin: Begin): Promise<{ readonly pointer: TurnPointer; readonly name: string }> {
    const { id } = this.#conversation;
    const name = stepName(id, ++attemptIn(this.#steps, id).steps);
    let ran = false;
    const stored = await this.#steps.step(name, async (body) => {
      const batch = await this.#work.owner.findAppend(this.#key(body.stepKey));
      ran = batch === null;
      return batch === null ? this.#body(begin, body) : readPointer(this.#conversation, batch);
    });
    const pointer = parsePointer(stored, name);
    if (!ran) {
      this.#begunBefore = true;
      this.#live = null;
      await checkPointer(this.#conversation, pointer);
    }
    this.#last = pointer;
    return { pointer, name };
  }

  async #body(begin: Begin, { stepKey, signal }: StepBody): Promise<TurnPointer> {
    const key = this.#key(stepKey);
    const { owner } = this.#work;
    const giveUp = (): void => owner.giveUp(lostTask(this.#conversation, signal));
    if (signal.aborted) giveUp();
    signal.addEventListener("abort", giveUp, { once: true });
    try {
      const open = this.#live ?? (await this.#open(begin, key));
      if ("endedSeq" in open) return await readPointer(this.#conversation, { toSeq: open.endedSeq });
      const ended = await this.#run(open, key, signal);
      const { seq, id, link } = owner.lastKnown;
      // The owner knows the end of what it wrote, and nothing has to be looked up.
      if (ended !== null && seq === ended.toSeq)
        return await readPointer(this.#conversation, ended, { lastId: id, link });
    } catch (error) {
      // The log went on without us: what it has of this step counts, and there is nothing more to be done here.
      if (!isLogError(error, "head_moved") || (await owner.findAppend(key)) === null) throw error;
      this.#live = null;
    } finally {
      signal.removeEventListener("abort", giveUp);
    }
    const batch = await owner.findAppend(key);
    return readPointer(this.#conversation, batch ?? { toSeq: (await this.#conversation.head()).headSeq });
  }

  /** Where the batch lies that ended the step; null where it was not written here. */
  async #run({ turn, calls }: OpenTurn, key: string, signal: AbortSignal): Promise<StepBatch | null> {
    turn.progress.stepBatch = null;
    const cancelled = AbortSignal.any([this.#work.cancelled, signal]);
    const done = await runStep({ ...turn, stepKey: key, work: { ...turn.work, cancelled } }, calls);
    this.#end = done.outcome === null ? null : done;
    this.#model = turn.progress.model.id;
    // Another attempt has written this step, in other words: those count.
    this.#live = turn.progress.deduped || done.outcome !== null ? null : { turn, calls: done.calls };
    return turn.progress.deduped ? null : turn.progress.stepBatch;
  }

  /** Returns the open turn of a step, or the seq at which another process ended it. */
  async #open(begin: Begin, key: string): Promise<OpenTurn | { readonly endedSeq: number }> {
    const conversation = this.#conversation;
    if (begin === "middle") {
      const { start } = await readTurnFacts(conversation, this.#last?.toSeq ?? 0);
      return this.#leftOf(start.id);
    }
    const own = promptKey(key);
    const first = begin === "prompt" ? (this.#actions.key ?? own) : own;
    const startBatch = await this.#work.owner.findAppend(first);
    if (startBatch !== null) {
      this.#begunBefore = true;
      return this.#leftOf(startBatch.lastId);
    }
    if (begin === "prompt") return this.#actions.begin(first);
    const endedSeq = this.#last?.toSeq ?? 0;
    const { start } = await readTurnFacts(conversation, endedSeq);
    return (await this.#actions.followUp(first, start.run ?? null)) ?? { endedSeq };
  }

  async #leftOf(startId: string): Promise<OpenTurn | { readonly endedSeq: number }> {
    const start = await this.#conversation.entry(startId);
    const end = start.type === "turn_start" ? await readTurnEnd(this.#conversation, start) : null;
    if (end !== null) return { endedSeq: await batchEndOf(this.#conversation, end.seq) };
    const open = await this.#actions.resume();
    // What the steps before have used and taken counts towards the limits.
    open.turn.progress.steps = this.#answers;
    Object.assign(open.turn.progress.used, this.#used);
    return open;
  }

  #count({ usage, finishReason }: TurnPointer): void {
    if (isAnswered(finishReason)) this.#answers++;
    for (const [counter, count] of Object.entries(usage))
      this.#used[counter] = (this.#used[counter] ?? 0) + count;
  }

  /** What became of the turn, told from the log: the same in every attempt. */
  async #result(model: string, pointer: TurnPointer, { start, end }: TurnFacts): Promise<AgentResult> {
    const shared = {
      turn: start.turn,
      prompt: parseEntryId(start.prompt),
      run: start.run ?? null,
      model,
      steps: this.#answers,
      usage: this.#used as Usage,
      text: await this.#text(start.seq, pointer.toSeq),
    };
    if (end === null) {
      const waiting = await readWaiting(this.#conversation, pointer.toSeq);
      const message = "The turn is waiting for an answer";
      return { ...shared, outcome: "waiting", class: null, message, resetAtMs: null, waiting };
    }
    return {
      ...shared,
      outcome: end.outcome,
      class: (end.class ?? "failed") as EndingClass,
      message: this.#end !== null && "ending" in this.#end ? this.#end.ending.message : "",
      resetAtMs: end.resetAt === undefined ? null : Date.parse(end.resetAt),
      waiting: [],
    };
  }

  /** The words of the last answer. */
  async #text(after: number, toSeq: number): Promise<string> {
    const newest = { limit: 8, newestFirst: true, types: ["message"] } as const;
    for (let before = toSeq + 1; ;) {
      const page = await this.#conversation.read({ ...newest, after: before });
      for (const { seq, message } of page) {
        if (seq <= after) return "";
        if (message.role === "assistant") return textOfBlocks(message.content);
      }
      if (page.length < 8) return "";
      before = page.at(-1)?.seq ?? 0;
    }
  }

  /** A turn that was ended under none of this task's keys was another's. */
  async #withRepeated(result: AgentResult, name: string, { end }: TurnFacts): Promise<AgentResult> {
    const own = end === null || (await this.#conversation.findAppend(this.#key(name))) !== null;
    // The same task with another prompt: the prompt was dropped, and the result says so.
    if (own) return this.#differs ? { ...result, repeated: { differs: true } } : result;
    return { ...result, repeated: { differs: !(await this.#isAsked(result.prompt)) } };
  }

  /** Whether a prompt in the log has the same content as this request. */
  async #isAsked(prompt: string | undefined): Promise<boolean> {
    return prompt !== undefined && saysTheSame(this.#conversation, prompt, this.#actions.content);
  }
}

function lostTask({ id }: Conversation, { reason }: AbortSignal): LogError {
  return new LogError(
    "fenced",
    `The engine gave the task to another attempt, so this one stopped writing to conversation ${id}. The next attempt continues from the log.`,
    { conversation: id },
    { cause: reason },
  );
}

const STEP = "turn:v1"; // goes up when a step means something else: an engine keeps results for ever

/** What one attempt at a task has done in a conversation. */
interface AttemptIn {
  readonly claim: Claim;
  steps: number;
}

const attempts = new WeakMap<DurableStep, Map<string, AttemptIn>>();

/** The same for every turn that an attempt carries there: it owns the conversation in one epoch, and goes on numbering. */
export function attemptIn(steps: DurableStep, conversation: string): AttemptIn {
  checkSteps(steps);
  const byConversation = attempts.get(steps) ?? new Map<string, AttemptIn>();
  attempts.set(steps, byConversation);
  // Every attempt writes in the task's name, so that the next need not wait for the one before, and fences it off.
  const writer = `${steps.engine} task ${steps.taskId}`;
  const attempt = byConversation.get(conversation) ?? { claim: { writer, epoch: null }, steps: 0 };
  byConversation.set(conversation, attempt);
  return attempt;
}

function checkSteps(steps: unknown): void {
  const { taskId, step } = steps as { readonly taskId?: unknown; readonly step?: unknown };
  if (typeof taskId === "string" && taskId !== "" && typeof step === "function") return;
  throw new LogError("invalid_request", "Durable steps must have a task id and a function `step`");
}

/** Names the steps of turns by their order, which is the log's; a task may carry turns of several conversations. */
function stepName(conversation: string, number: number): string {
  return `${STEP}/${conversation}/${number}`;
}

/** What a step's last batch is known by. No time, no chance and no attempt is in it. */
function stepAppendKey(taskId: string, stepKey: string): string {
  return parseKey(`${taskId}/${stepKey}`);
}

/** The key of the batch that began the turn in that step. */
function promptKey(stepKey: string): string {
  return parseKey(`${stepKey}/prompt`);
}
