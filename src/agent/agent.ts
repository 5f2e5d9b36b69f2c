import { LogError } from "#log/errors";
import type { CutPoint } from "#log/projections/cut-point";
import { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { checkContent, type PromptContent } from "#turn/accept";
import type { CloseOptions, Note } from "#turn/one-at-a-time";
import { type Steered, SteeredTurns, type SteerOptions } from "#turn/steering";
import { editTurn, type Turns, moveBranch } from "#turn/turns";
import {
  type AgentCarryOptions,
  type AgentOptions,
  type AgentResult,
  type AgentSendOptions,
  type AgentTurnOptions,
  type ResolvedOptions,
  resolveOptions,
  toolsFor,
} from "./agent-options.ts";
import type { EntryBody, Skill } from "#log/entry";
import type { Tool } from "#turn/effects/tool";
import type { Message, ToolResultMessage } from "#log/message";
import { type Repair, wholePairs } from "#log/projections/whole-pairs";
import { keepImages } from "#conversation/image-blobs";
import type { BranchSummaryResult } from "./compaction/branch-summary.ts";
import type { CompactionResult } from "./compaction/compact.ts";
import { compactHere, leaveBranch } from "./loop/compact-in-turn.ts";
import { type PastCall, rerunCall } from "./loop/rerun-call.ts";
import { TurnRunner } from "./turn-runner.ts";
import { closeAbandonedTurn } from "./loop/abandoned-turn.ts";
import type { Memory } from "./memory/memory.ts";
import { ModelChoice } from "./models/model-choice.ts";
import { AgentPool } from "./agent-pool.ts";
import { AgentTurns } from "./agent-turns.ts";
import { type Restored, type RestoreInput, restoreFrom } from "./restore.ts";
import type { RunTrigger, StartedRun, StartRunOptions } from "./loop/run-options.ts";
import { serversFor } from "./mcp/conversation-servers.ts";
import { activateSkill, deactivateSkill, listSkills, type SkillWork } from "./skills/change-skills.ts";
import type { SkillList } from "./skills/skills.ts";
import { readCut } from "#conversation/read-cut";
import type { AgentWork } from "./loop/loop-turn.ts";

/**
 * An agent loop on the log: turns are carried by our own model calls and tools. Whatever dies in between, the conversation
 * goes on from what is in the log.
 */
export class Agent implements Turns, AsyncDisposable {
  readonly #holdfast: Holdfast;
  readonly #options: ResolvedOptions;
  readonly #turns: AgentTurns;
  readonly #steers: SteeredTurns;
  readonly #models: ModelChoice;
  readonly #runner: TurnRunner;
  /** The conversations that are held between turns. */
  readonly pool: AgentPool;

  constructor(holdfast: Holdfast, options: AgentOptions) {
    this.#holdfast = holdfast;
    this.#options = resolveOptions(options);
    checkMemory(this.#options.memory, holdfast);
    this.#steers = new SteeredTurns(holdfast, this.#options.newId);
    this.#models = new ModelChoice(this.#options);
    this.#runner = new TurnRunner(this.#options, this.#models, this.#steers);
    this.#turns = new AgentTurns(holdfast, this.#options, this.#runner);
    this.pool = new AgentPool({
      agent: this,
      part: this.#turns.warm,
      open: (of) => this.#conversation(of),
      restored: (id, warm) => warm.restored(this.#restoreInput(id)),
    });
  }

  /** Sends one prompt and resolves when its turn has ended, or waits for a person. */
  async send(
    to: Conversation | string,
    content: PromptContent,
    options: AgentSendOptions = {},
  ): Promise<AgentResult> {
    checkContent(content);
    return this.#turns.once(idOf(to), { verb: "send", content, options });
  }

  /**
   * Starts a run, before its first turn: once for each trigger, whichever process comes with it, and however often. The run is
   * carried by `send` with its id, or by `carryRun` where its seeds end with what is to be answered.
   */
  async startRun(
    to: Conversation | string,
    trigger: RunTrigger & { readonly id: string },
    options: StartRunOptions = {},
  ): Promise<StartedRun> {
    return this.#turns.startRun(idOf(to), trigger, options);
  }

  /** Runs a turn without a prompt for a run whose inputs need an answer. */
  async carryRun(
    to: Conversation | string,
    run: string,
    options: AgentCarryOptions = {},
  ): Promise<AgentResult> {
    return this.#turns.once(idOf(to), { verb: "send", content: null, options: { ...options, run } });
  }

  /**
   * Finishes a turn that was cut off, failed, was stopped or waits, without a new prompt: calls that were not started are
   * run, what is known stays, outcomes that nobody knows stay unknown, and the model is asked for the rest.
   */
  async continue(to: Conversation | string, options: AgentCarryOptions = {}): Promise<AgentResult> {
    return this.#turns.once(idOf(to), { verb: "continue", content: null, options });
  }

  /** The same as `continue`: a prompt that nothing has answered is in the context, and the model is asked again. */
  retry(to: Conversation | string, options: AgentCarryOptions = {}): Promise<AgentResult> {
    return this.continue(to, options);
  }

  /** Sends a prompt in place of an earlier one; what followed that one stays in the log, beside the branch. */
  async edit(
    to: Conversation | string,
    entry: string,
    content: PromptContent,
    options: AgentSendOptions = {},
  ): Promise<AgentResult> {
    const edit = { conversation: idOf(to), content, key: options.key };
    return editTurn(this.#holdfast, edit, {
      goBack: () => this.goBackTo(to, entry),
      send: () => this.send(to, content, options),
    });
  }

  /** Answers a permission request and continues its turn. */
  async answer(
    to: Conversation | string,
    request: string,
    outcome: "allowed" | "denied",
    options: AgentCarryOptions & { readonly by?: string } = {},
  ): Promise<AgentResult> {
    const { by, ...more } = options;
    const conversation = await this.#conversation(to);
    await conversation.answer(request, outcome, by === undefined ? {} : { by });
    return this.continue(conversation, more);
  }

  /** Says something while a turn runs: durable first, then delivered when its moment comes, once. */
  async steer(
    to: Conversation | string,
    content: PromptContent,
    options: SteerOptions = {},
  ): Promise<Steered> {
    return this.#steers.steer(idOf(to), content, options);
  }

  /** Puts a message into the log; no model is called. */
  async addMessage(to: Conversation | string, role: "user" | "assistant", text: string): Promise<void> {
    await this.note(to, [{ type: "message", message: { role, content: [{ type: "text", text }] } }]);
  }

  /**
   * Puts messages into the log that were kept elsewhere, every call with its result, and says what did not fit together and
   * was mended; no model is called.
   */
  async addMessages(
    to: Conversation | string,
    messages: readonly Message[],
  ): Promise<{ readonly repairs: readonly Repair[] }> {
    const conversation = await this.#conversation(to);
    const whole = wholePairs(messages);
    const bodies: EntryBody[] = [];
    for (const message of whole.messages)
      bodies.push({
        type: "message",
        message: { ...message, content: await keepImages(conversation, message.content) },
      });
    if (bodies.length > 0) await this.note(to, bodies);
    return { repairs: whole.repairs };
  }

  /**
   * Nothing said before reaches the model any more, and no skill is active: both are what a reset does. Says which skills
   * those were; the log keeps everything.
   */
  async clearHistory(to: Conversation | string): Promise<{ readonly deactivated: readonly string[] }> {
    const conversation = await this.#conversation(to);
    const { skills } = await conversation.settings();
    await this.note(to, [{ type: "reset", reason: "cleared" }]);
    return { deactivated: skills.map(({ name }) => name) };
  }

  /**
   * From here on the instructions of this skill are part of every prompt; written at once, or when the running turn ends.
   * Activating one that is active changes nothing, unless it is another by now.
   */
  async activateSkill(
    to: Conversation | string,
    name: string,
  ): Promise<{ readonly skill: Skill; readonly changed: boolean }> {
    return activateSkill(this.#skillWork(await this.#conversation(to)), name);
  }

  async deactivateSkill(to: Conversation | string, name: string): Promise<{ readonly changed: boolean }> {
    return deactivateSkill(this.#skillWork(await this.#conversation(to)), name);
  }

  /** Lists the available and the active skills of a conversation, and problems with others. */
  async listSkills(of: Conversation | string): Promise<SkillList & { readonly active: readonly Skill[] }> {
    return listSkills(this.#skillWork(await this.#conversation(of)));
  }

  #skillWork(conversation: Conversation): SkillWork {
    const note = (bodies: Note): Promise<void> => this.#turns.note(conversation.id, bodies);
    return { conversation, skills: this.#options.skills, note };
  }

  /**
   * Makes a call of the past once more, because a person asks for it: a new call with a result of its own, in the log like any
   * other. What a rule forbids stays forbidden.
   */
  async rerun(
    to: Conversation | string,
    past: PastCall,
    options: AgentTurnOptions = {},
  ): Promise<ToolResultMessage | null> {
    return this.#turns.alone(idOf(to), options, async (work) => {
      await closeAbandonedTurn(work, this.#options);
      const setup = await this.#runner.prepare(work, options);
      return rerunCall(work, past, (turn, prompt) =>
        this.#runner.loopTurn(work, { turn, prompt, run: null }, setup),
      );
    });
  }

  /**
   * Goes on from another entry; with `summarise` the model is told what was said on the branch that is left. A summary that
   * fails changes nothing, and the conversation stays where it was.
   */
  async goTo(
    to: Conversation | string,
    entry: string,
    options: AgentTurnOptions & { readonly summarise?: boolean; readonly focus?: string } = {},
  ): Promise<BranchSummaryResult | { readonly state: "moved" }> {
    return this.#turns.alone(idOf(to), options, async (work) => {
      await closeAbandonedTurn(work, this.#options);
      const { model } = await this.#models.choose(work, options.model);
      const { summarise = false, focus } = options;
      const summary = summarise ? await leaveBranch(work, this.#options, { model, entry, focus }) : null;
      if (summary !== null && summary.state !== "nothing") return summary;
      await work.owner.append({ type: "leaf", target: entry });
      return { state: "moved" };
    });
  }

  /** Summarises all but the newest messages for the model. The log keeps every entry. */
  async compact(
    to: Conversation | string,
    options: AgentTurnOptions & { readonly focus?: string } = {},
  ): Promise<CompactionResult> {
    const { focus } = options;
    return this.#turns.alone(idOf(to), options, async (work) => {
      await closeAbandonedTurn(work, this.#options);
      const { model } = await this.#models.choose(work, options.model);
      const more = focus === undefined ? {} : { focus };
      return compactHere(work, this.#options, { model, fixedTokens: 0, ...more });
    });
  }

  /** Goes back before a user's message, so that other words can take its place; what came after stays in the log. */
  async goBackTo(to: Conversation | string, entry: string): Promise<CutPoint> {
    return this.#turns.alone(idOf(to), {}, (work) => goBack(work, entry, this.#options));
  }

  /** Everything a turn would go on from, as it is now. */
  async restore(of: Conversation | string): Promise<Restored> {
    const conversation = await this.#conversation(of);
    return this.#turns.warm.use(conversation.id, async ({ context }) =>
      restoreFrom(conversation, await context.now(), this.#restoreInput(conversation.id)),
    );
  }

  #restoreInput(id: string): RestoreInput {
    const { skills, memory } = this.#options;
    const tools = (cwd: string | null): Promise<readonly Tool[]> => toolsFor(this.#options, cwd, id);
    const modelProblem = (model: string): Promise<string | null> => this.#models.problem(model);
    return { tools, modelProblem, skills, memory, servers: serversFor(this.#options.servers, id) };
  }

  /** Writes what happened beside the turns: at once, or when the running turn ends. */
  async note(to: Conversation | string, note: Note): Promise<void> {
    return this.#turns.note(idOf(to), note);
  }

  /** Stops the running turn; what came of it is kept. */
  cancel(of: Conversation | string): boolean {
    return this.#turns.cancel(idOf(of));
  }

  /** Stops what runs and lets go of every lease; what came of it is kept, for `continue`, here or on another node at once. */
  async close(options: CloseOptions = {}): Promise<void> {
    await this.#turns.close(options);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #conversation(of: Conversation | string): Promise<Conversation> {
    return of instanceof Conversation ? of : this.#holdfast.conversation(of);
  }
}

/** Throws if the memory belongs to another space. */
function checkMemory(memory: Memory | null, { spaceId }: Holdfast): void {
  if (memory !== null && memory.spaceId !== spaceId)
    throw new LogError(
      "invalid_request",
      `The memory belongs to space ${memory.spaceId}, but the agent works in space ${spaceId}. Create the memory with the same Holdfast as the agent.`,
    );
}

function idOf(conversation: Conversation | string): string {
  return typeof conversation === "string" ? conversation : conversation.id;
}

/** Moves the branch's end before a message of the user's. A turn that was left open is ended first: it stays where it was. */
async function goBack(
  work: AgentWork,
  entry: string,
  options: Parameters<typeof closeAbandonedTurn>[1],
): Promise<CutPoint> {
  const cut = await readCut(work.conversation, entry);
  if (cut.editable === null)
    throw new LogError("invalid_request", `Entry ${entry} is not a user message, so it cannot be edited`, {
      entry,
    });
  await closeAbandonedTurn(work, options);
  await moveBranch(work, cut.at);
  return cut;
}
