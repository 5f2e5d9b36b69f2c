import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import type { Usage } from "#log/message";
import { checkFree } from "#log/plans/lease";
import type { HeadView } from "#store/requests";
import { attemptEnd } from "#turn/rules/attempt-record";
import type { Ending } from "#turn/rules/ending";
import type { FileTools } from "./file-lists.ts";
import { type Summarise, type SummaryProblem, SummaryRefused, SummaryWriter } from "./summary-writer.ts";

/** Who is asked for a summary, and who writes it down. */
export interface SummaryOptions {
  readonly summarise: Summarise;
  /** What the model that is asked is called in the log. */
  readonly model?: string;
  /** How many tokens that model takes: what is longer is summarised in pieces. */
  readonly summaryWindow?: number | null;
  /** What a person asked to be kept in mind. */
  readonly focus?: string;
  /** Which tools read and change files; `read`, `write` and `edit` unless given. */
  readonly fileTools?: FileTools;
  /** The owner of the running turn, where there is one; without it the conversation must not be owned. */
  readonly owner?: Pick<Owner, "append">;
  /** The turn it is done in: what a failed summary used is recorded under it. */
  readonly turn?: string;
}

export interface SummaryFailed {
  readonly state: "failed";
  readonly problem: SummaryProblem;
  /** How the call of the model ended, where it gave no answer. */
  readonly ending: Ending | null;
  /** What happened, for people. */
  readonly message: string;
  readonly usage: Usage | null;
}

/** Where a summary is made: the conversation as it was found, and what its cost is recorded under outside of a turn. */
export interface SummaryPlace {
  readonly conversation: Conversation;
  readonly head: HeadView;
  readonly key: string;
}

type WrittenSummary =
  | { readonly state: "written"; readonly entry: EntryId; readonly usage: Usage | null }
  | SummaryFailed;

/** Writes the node with the summary, or what was used for none. */
export async function withSummary(
  place: SummaryPlace,
  options: SummaryOptions,
  bodyOf: (writer: SummaryWriter) => Promise<EntryBody>,
): Promise<WrittenSummary> {
  const { conversation, head } = place;
  // Told before anything is paid for.
  if (options.owner === undefined) checkFree(head, head.lease);
  const writer = new SummaryWriter(options.summarise, options.summaryWindow ?? null);
  const append = async (bodies: readonly EntryBody[], expected?: number) =>
    options.owner === undefined
      ? conversation.append(bodies, expected === undefined ? {} : { expected })
      : options.owner.append(bodies);
  const spent = (ending: string): readonly EntryBody[] =>
    attemptEnd({
      turn: options.turn ?? place.key,
      class: ending,
      upstream: null,
      model: options.model ?? null,
      usage: writer.usage,
    });
  try {
    const { lastId } = await append([await bodyOf(writer)], head.headSeq);
    return { state: "written", entry: lastId, usage: writer.usage };
  } catch (error) {
    const refused = error instanceof SummaryRefused;
    if (!refused && !isLogError(error, "head_moved")) throw error;
    const cost = spent(refused ? (error.ending?.class ?? "failed") : "failed");
    if (cost.length > 0) await append(cost);
    if (!refused) throw error;
    const { problem, ending, message } = error;
    return { state: "failed", problem, ending, message, usage: writer.usage };
  }
}
