import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { BranchEntry } from "#conversation/history-pages";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import type { Run } from "#log/runs/run-row";
import { callsIn } from "#agent/rules/answer-entries";
import { type PromptsToReplay, promptsToReplay, type ReplayPrompt } from "./replay-prompts.ts";

/** What is replayed: the prompts of a run, or those of a branch, up to an entry or to the leaf. */
export type ReplayWhat =
  | { readonly run: string; readonly conversation?: string }
  | { readonly conversation: string; readonly at?: string; readonly run?: undefined };

/** What is replayed, as the log has it. */
export interface ReplaySource {
  readonly conversation: Conversation;
  readonly run: Run | null;
  /** The entry that the replayed branch ends with. */
  readonly end: EntryId;
  /** Where the forks grow from. */
  readonly keptTo: EntryId;
  readonly prompts: readonly ReplayPrompt[];
  /** The nodes behind that entry. */
  readonly nodes: readonly Entry[];
  /** The names of the tools that were called, and of those that the run was begun with. */
  readonly called: readonly string[];
  readonly listed: readonly string[] | null;
}

/** Reads what is replayed. Whatever cannot be replayed is refused here; nothing is written. */
export async function readReplaySource(
  holdfast: Holdfast,
  what: ReplayWhat,
  from: number,
): Promise<ReplaySource> {
  const found = what.run === undefined ? await branchOf(holdfast, what) : await runOf(holdfast, what);
  const { conversation, run, branch, start } = found;
  const { prompts, keptTo, nodes, messages } = promptsToReplay(branch, { start, from });
  const end = branch.at(-1)?.id;
  const [first] = prompts;
  if (first === undefined || keptTo === null || end === undefined)
    throw nothingToSend(run === null ? `Conversation ${conversation.id}` : `Run ${run.run}`, from, messages);
  return {
    conversation,
    run,
    end,
    keptTo,
    prompts,
    nodes,
    called: calledIn(nodes),
    listed: (run ?? (await conversation.latestRun()))?.tools ?? null,
  };
}

function nothingToSend(name: string, from: number, messages: PromptsToReplay["messages"]): LogError {
  const why =
    from > messages
      ? `has ${messages} messages, so there is none to begin with at ${from}`
      : `has no prompt from message ${from} on`;
  return new LogError("invalid_request", `${name} ${why}. Nothing was sent or written`, { from, messages });
}

interface ReadBranch {
  readonly conversation: Conversation;
  readonly run: Run | null;
  readonly branch: readonly BranchEntry[];
  /** Where messages begin to count. */
  readonly start: number;
}

async function branchOf(
  holdfast: Holdfast,
  { conversation: id, at }: { readonly conversation: string; readonly at?: string },
): Promise<ReadBranch> {
  const conversation = await holdfast.conversation(id);
  const branch = await conversation.branch(at === undefined ? {} : { at });
  return { conversation, run: null, branch, start: 0 };
}

/** The branch that the run's last turn is on, up to the last node of it. */
async function runOf(
  holdfast: Holdfast,
  { run: id, conversation: within }: { readonly run: string; readonly conversation?: string },
): Promise<ReadBranch> {
  const run = await holdfast.run(id, within === undefined ? {} : { conversation: within });
  if (run === null)
    throw new LogError("invalid_request", `There is no run ${id} here. Nothing was sent or written`, {
      run: id,
    });
  const conversation = await holdfast.conversation(run.conversation);
  const prompts = new Set<EntryId>();
  for (const fact of await conversation.facts(["turn_start"]))
    if (fact.type === "turn_start" && fact.run === id && fact.prompt !== undefined) prompts.add(fact.prompt);
  const last = await lastMessage(conversation, run);
  const whole = last === null ? [] : await conversation.branch({ at: last });
  const start = whole.findIndex((node) => prompts.has(node.id));
  return { conversation, run, branch: start === -1 ? [] : whole, start: Math.max(start, 0) };
}

/** The newest message of the run's time. */
async function lastMessage({ space, id }: Conversation, run: Run): Promise<EntryId | null> {
  const [last] = await space.read({
    conversation: id,
    after: run.highWater + 1,
    limit: 1,
    types: ["message"],
    newestFirst: true,
  });
  return last === undefined || last.seq < run.startSeq ? null : last.id;
}

function calledIn(nodes: readonly Entry[]): readonly string[] {
  const names = nodes.flatMap((node) =>
    node.type === "message" ? callsIn(node.message.content).map(({ name }) => name) : [],
  );
  return [...new Set(names)];
}
