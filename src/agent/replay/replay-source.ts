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

/** The branch that the run's own messages lie on, up to the last of them. */
async function runOf(
  holdfast: Holdfast,
  { run: id, conversation: within }: { readonly run: string; readonly conversation?: string },
): Promise<ReadBranch> {
  const { run, messages } = await holdfast.hydrate(id, within === undefined ? {} : { conversation: within });
  const conversation = await holdfast.conversation(run.conversation);
  const [first, last] = [messages[0], messages.at(-1)];
  const branch = last === undefined ? [] : await conversation.branch({ at: last.id });
  const start = branch.findIndex((node) => node.id === first?.id);
  return { conversation, run, branch, start: Math.max(start, 0) };
}

function calledIn(nodes: readonly Entry[]): readonly string[] {
  const names = nodes.flatMap((node) =>
    node.type === "message" ? callsIn(node.message.content).map(({ name }) => name) : [],
  );
  return [...new Set(names)];
}
