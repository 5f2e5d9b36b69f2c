import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { withImages } from "#conversation/image-blobs";
import { detailsOf } from "#log/message";
import type { HostEvent } from "#turn/host";
import { runEnd } from "#turn/rules/ending";
import type { ToolOutput } from "#turn/effects/tool";
import { returnedBeside } from "#turn/effects/tool-output";
import { Agent } from "#agent/agent";
import {
  type AgentResult,
  type AgentTurnOptions,
  askForEffects,
  type Permission,
} from "#agent/agent-options";
import type { ModelInput } from "#agent/models/model";
import {
  type ReplayEvent,
  type ReplayOptions,
  type ReplayResult,
  dryRunTool,
  type UnansweredCall,
  recordedTool,
  type ReplayTools,
  isStandIn,
} from "./replay-options.ts";
import type { BeforePrompt, ReplayPrompt, ReplaySource, SourcePrompt } from "./replay-source.ts";
import { ReplayRuns } from "./replay-runs.ts";
import { callKey } from "#log/diff/diff-item";
import type { Entry, EntryOf } from "#log/entry";
import { resultsByCall } from "#log/results-by-call";
import { decidedBy } from "#agent/loop/run-calls";
import { answeredYes, type Decision } from "#agent/tools/permissions";
import type { ComparedBranches } from "#conversation/read-diff";
import { decodeEntry } from "#log/codec";
import { type BranchDiff, diffBranches, type Divergence, firstOtherResult } from "#log/diff/diff-branches";

interface ModelReplayParts {
  readonly options: ReplayOptions;
  readonly model: ModelInput;
  readonly modelId: string;
  readonly cwd: string | null;
  /** The names of the tools that are here. */
  readonly tools: readonly string[];
}

/** How a replay stands: how its last turn ended, or why there was none. */
type ReplayEnd = Pick<AgentResult, "outcome" | "class" | "message">;

const TITLE_CHARS_MAX = 200;

const COMPLETED: ReplayEnd = { outcome: "completed", class: "completed", message: "" };
const CANCELLED: ReplayEnd = {
  outcome: "interrupted",
  class: "cancelled",
  message: "The replay was stopped",
};
const LIMIT: ReplayEnd = {
  outcome: "interrupted",
  class: "turn_limit",
  message: "The replay has reached its limit",
};

/** A replay by one model, on its own fork. */
export class ModelReplay {
  readonly #holdfast: Holdfast;
  readonly #source: ReplaySource;
  readonly #parts: ModelReplayParts;
  readonly #missed: UnansweredCall[] = [];
  #sent: number = 0;
  #steps: number = 0;
  #endState: ReplayEnd = COMPLETED;

  constructor(holdfast: Holdfast, source: ReplaySource, parts: ModelReplayParts) {
    this.#holdfast = holdfast;
    this.#source = source;
    this.#parts = parts;
  }

  async run(): Promise<ReplayResult> {
    const { options, modelId, cwd, tools } = this.#parts;
    const { conversation: original, keptTo, prompts } = this.#source;
    const fork = await original.fork({ at: keptTo, ...(cwd === null ? {} : { cwd }) });
    const { title } = await original.head();
    await fork.title(
      `Replay on ${modelId}: ${title ?? original.id}`.slice(0, TITLE_CHARS_MAX).toWellFormed(),
    );
    const newId = (): string => this.#holdfast.newId();
    const { patchSystem } = options;
    const runs = new ReplayRuns(fork, this.#source, { model: modelId, tools, patchSystem, newId });
    const [first] = prompts;
    const run = first === undefined ? "" : await runs.of(first);
    this.#tell({ type: "forked", conversation: fork.id, run, model: modelId });
    await using agent = this.#agent(fork);
    const stop = (): void => void agent.cancel(fork);
    options.signal?.addEventListener("abort", stop);
    try {
      for (const prompt of prompts) if (!(await this.#send(agent, { fork, runs }, prompt))) break;
    } finally {
      options.signal?.removeEventListener("abort", stop);
    }
    return this.#end(fork, runs.ids);
  }

  get #tools(): ReplayTools {
    return this.#parts.options.tools ?? "dry-run";
  }

  #tell(event: ReplayEvent): void {
    this.#parts.options.onEvent?.(event);
  }

  #agent(fork: Conversation): Agent {
    const { options, model } = this.#parts;
    const { agent: agentOptions = {} } = options;
    const mode = this.#tools;
    const recorded = new AnswerRecord(this.#source.nodes);
    const answerOf = (call: UnansweredCall): Promise<ToolOutput | null> =>
      this.#recorded(fork, recorded, call);
    return new Agent(this.#holdfast, {
      ...agentOptions,
      model,
      fallbackModels: [],
      whenAsked: "refuse",
      permission: replayPermission(mode, agentOptions.permission),
      ...(mode === "recorded" ? { replaceTool: (tool) => recordedTool(tool, answerOf) } : {}),
      ...(mode === "dry-run" ? { replaceTool: dryRunTool } : {}),
    });
  }

  async #recorded(
    fork: Conversation,
    recorded: AnswerRecord,
    call: UnansweredCall,
  ): Promise<ToolOutput | null> {
    const entry = recorded.next(call);
    if (entry?.message.role !== "toolResult") {
      this.#missed.push(call);
      this.#tell({ type: "missed", conversation: fork.id, ...call });
      return null;
    }
    return {
      content: await withImages(this.#source.conversation, entry.message.content),
      isError: entry.message.isError === true,
      ...returnedBeside(detailsOf(entry)),
    };
  }

  /** False: the replay is over. */
  async #send(
    agent: Agent,
    { fork, runs }: { readonly fork: Conversation; readonly runs: ReplayRuns },
    prompt: SourcePrompt,
  ): Promise<boolean> {
    const { options, model } = this.#parts;
    const limits = await this.#remainingLimits(fork);
    if (limits === null) return false;
    await this.#putBefore(agent, fork, prompt.before);
    const run = await runs.of(prompt);
    const { headSeq } = await fork.head();
    const place = { conversation: fork.id, number: this.#sent + 1, messageNumber: prompt.messageNumber };
    this.#tell({ type: "prompt", ...place });
    const { onPermission } = options;
    const { turn, outcome, steps, ...result } = await this.#carry(
      agent,
      { fork, run, prompt },
      {
        model,
        key: `replay/${place.number}`,
        ...limits,
        onEvent: (event) => {
          // It may have been stopped when there was no turn yet that could be.
          if (options.signal?.aborted === true) agent.cancel(fork);
          this.#pass(event);
        },
        ...(onPermission === undefined ? {} : { onPermission }),
      },
    );
    this.#sent++;
    this.#steps += steps;
    this.#endState = { outcome, class: result.class, message: result.message };
    // An answer that says nothing is none that the next prompt could follow.
    if (result.class === "empty") this.#endState = { ...this.#endState, outcome: "failed" };
    const written = { fork, after: headSeq, tools: this.#tools };
    const differs = await diffOfTurn(this.#source, prompt, written);
    this.#tell({ type: "turn", ...place, turn, steps, ...this.#endState, ...differs });
    return this.#endState.outcome === "completed";
  }

  /** Runs a turn for run inputs that need an answer, and sends every other prompt. */
  async #carry(
    agent: Agent,
    {
      fork,
      run,
      prompt,
    }: { readonly fork: Conversation; readonly run: string; readonly prompt: SourcePrompt },
    options: AgentTurnOptions,
  ): Promise<AgentResult> {
    const { entry } = prompt;
    if (entry.type === "seed") return agent.carryRun(fork, run, options);
    const details = detailsOf(entry);
    const more = details === undefined ? { run } : { run, details };
    return agent.send(fork, await withImages(this.#source.conversation, entry.message.content), {
      ...options,
      ...more,
    });
  }

  /** Returns the remaining limits; null if none remain, or the replay was cancelled. */
  async #remainingLimits(
    fork: Conversation,
  ): Promise<{ readonly maxSteps?: number; readonly maxCostMicros?: number } | null> {
    const { maxSteps, maxCostMicros, signal } = this.#parts.options;
    const spent = maxCostMicros === undefined ? 0 : ((await fork.usage()).costMicros ?? 0);
    const limits = {
      ...(maxSteps === undefined ? {} : { maxSteps: maxSteps - this.#steps }),
      ...(maxCostMicros === undefined ? {} : { maxCostMicros: maxCostMicros - spent }),
    };
    if (signal?.aborted === true) this.#endState = CANCELLED;
    else if (Object.values(limits).some((one) => one <= 0)) this.#endState = LIMIT;
    else return limits;
    return null;
  }

  async #putBefore(agent: Agent, fork: Conversation, before: readonly BeforePrompt[]): Promise<void> {
    for (const one of before)
      if (one.type !== "message") await agent.note(fork, [one]);
      else {
        const content = await withImages(this.#source.conversation, one.message.content);
        await agent.addMessages(fork, [{ ...one.message, content }]);
      }
  }

  /** How a turn ended is told with what it did otherwise. */
  #pass(event: HostEvent): void {
    if (event.type !== "ended" && event.type !== "forked") this.#tell(event);
  }

  async #end(fork: Conversation, runs: readonly string[]): Promise<ReplayResult> {
    const diff = await diffOfReplay(this.#holdfast, this.#source, fork, this.#sent);
    const run = runs.at(-1) ?? "";
    // A run ends with its turns; one that had none does not.
    if (this.#sent === 0)
      await fork.append(
        runEnd(run, { outcome: "interrupted", class: "cancelled", message: this.#endState.message }),
      );
    const result: ReplayResult = {
      conversation: fork.id,
      run,
      runs,
      model: this.#parts.modelId,
      ...this.#endState,
      prompts: this.#source.prompts.length,
      sent: this.#sent,
      steps: this.#steps,
      calls: diff?.totals.b.calls ?? 0,
      usage: await fork.usage(),
      missed: this.#missed,
      ...(diff === null ? { divergence: null, textDiffers: false } : replayDifference(diff, this.#tools)),
    };
    this.#tell({ type: "ended", ...result });
    return result;
  }
}

/** The results of a branch by the call that they answer: the same call again has the next one. */
class AnswerRecord {
  readonly #results = new Map<string, EntryOf<"message">[]>();

  constructor(nodes: readonly Entry[]) {
    const { of } = resultsByCall(nodes);
    for (const entry of nodes)
      if (entry.type === "message" && entry.message.role === "assistant")
        for (const block of entry.message.content)
          if (block.type === "toolCall") this.#add(callKey(block.name, block.input), of.get(block));
  }

  #add(key: string | null, entry: EntryOf<"message"> | undefined): void {
    if (key === null || entry?.message.role !== "toolResult") return;
    const results = this.#results.get(key) ?? [];
    results.push(entry);
    this.#results.set(key, results);
  }

  /** Each is given once. */
  next({ name, input }: UnansweredCall): EntryOf<"message"> | null {
    const key = callKey(name, input);
    return key === null ? null : (this.#results.get(key)?.shift() ?? null);
  }
}

/**
 * What may run in a replay. What a rule forbids stays so, but where the record answers: it has the refusal. For what only says
 * what it would do nobody is asked; live, every effect is asked for again, whatever was allowed for good.
 */
function replayPermission(
  mode: ReplayTools,
  rules: Permission = askForEffects,
): (...call: Parameters<Extract<Permission, (...call: never) => unknown>>) => Promise<Decision> {
  return async (call) => {
    if (mode === "recorded") return "allow";
    const decision = await decidedBy(rules, call);
    if (mode === "dry-run") return isStandIn(call.tool) ? answeredYes(decision) : decision;
    return call.tool.effect === "none" || decision === "deny" ? decision : "ask";
  };
}

/** What a replay did otherwise. */
interface ReplayDifference {
  /** The first call that differs by name, arguments or order; by the record also the first that gave something else. */
  readonly divergence: Divergence | null;
  /** Two models never word an answer alike, so this alone is no divergence. */
  readonly textDiffers: boolean;
}

/** What a call gave is compared where the record answers it: a tool that runs, or does not run, may give something else. */
function replayDifference({ divergence, rows }: BranchDiff, tools: ReplayTools): ReplayDifference {
  const gave = tools === "recorded" ? firstOtherResult(rows) : null;
  return {
    divergence: divergence?.kind === "call" ? divergence : gave,
    textDiffers: rows.some(({ op, a, b }) => op !== "same" && (a ?? b)?.kind === "text"),
  };
}

/** One prompt: what came of it in the original, and in the entries that its replay wrote. */
async function diffOfTurn(
  { nodes }: ReplaySource,
  prompt: ReplayPrompt,
  {
    fork,
    after,
    tools,
  }: { readonly fork: Conversation; readonly after: number; readonly tools: ReplayTools },
): Promise<ReplayDifference> {
  const written: Entry[] = [];
  for await (const stored of fork.log({ after, types: ["message"] })) written.push(decodeEntry(stored));
  const from = Math.max(
    0,
    nodes.findIndex(({ id }) => id === prompt.entry.id),
  ); // seeds may be kept
  const to = nodes.findIndex(({ id }) => id === prompt.end);
  const [a, b] = [nodes.slice(from, to + 1), written].map((side) => ({ nodes: side, facts: [] }));
  const none = { nodes: [], facts: [] };
  return replayDifference(diffBranches(a ?? none, b ?? none, { msOf: Date.parse }), tools);
}

/** All that was sent, against the same part of the original. */
async function diffOfReplay(
  holdfast: Holdfast,
  { conversation, prompts, keptTo }: ReplaySource,
  fork: Conversation,
  sent: number,
): Promise<ComparedBranches | null> {
  const at = prompts[sent - 1]?.end ?? keptTo;
  const [diff] = await holdfast.compare({ conversation: conversation.id, at }, [{ conversation: fork.id }]);
  return diff ?? null;
}
