import { type Usage, textOfBlocks } from "#log/message";
import type { ModelOutcome, ModelRequest } from "#agent/models/model";
import type { Ending } from "#turn/rules/ending";
import {
  wholeStart,
  SUMMARY_HEADINGS,
  summaryRequest,
  type SummaryTask,
  type FileTools,
} from "./summary-request.ts";
import { estimateTokens } from "./token-estimate.ts";
import type { Conversation } from "#conversation/conversation";
import type { Owner } from "#conversation/owner";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { checkFree } from "#log/plans/lease";
import type { HeadView } from "#store/requests";
import { attemptEnd } from "#turn/rules/attempt-record";

const WINDOW_UNKNOWN = 100_000; // of a model that does not say: one that takes less says that it was too long
const ANSWER_TOKENS = 16_384; // stays free for the summary
const HALVINGS_MAX = 3; // of what a model found too long although it was counted as fitting
const CALLS_MAX = 64; // of one summary: a history of millions of tokens

/** Calls a model. The caller supplies it, and cancels it if needed; it may fail. */
export type Summarise = (request: ModelRequest) => Promise<ModelOutcome>;

/** Why a summary was not taken. */
export type SummaryProblem =
  | "no_answer"
  | "length"
  | "filtered"
  | "unfinished"
  | "empty"
  | "tool_call"
  | "shapeless"
  | "longer"
  | "too_long";

/** A summary that was not taken; the conversation is as it was. */
export class SummaryRefused extends Error {
  readonly problem: SummaryProblem;
  readonly ending: Ending | null;

  constructor(problem: SummaryProblem, message: string, ending: Ending | null = null) {
    super(message);
    this.problem = problem;
    this.ending = ending;
  }
}

/** Asks for summaries, in pieces where a model takes no more at once, and counts what they used. */
export class SummaryWriter {
  readonly #summarise: Summarise;
  /** Of a request's record and previous summary, in tokens. */
  #room: number;
  #halvings: number = 0;
  #calls: number = 0;
  #usage: Usage | null = null;

  constructor(summarise: Summarise, window: number | null) {
    this.#summarise = summarise;
    const whole = window ?? WINDOW_UNKNOWN;
    this.#room = Math.max(1_000, whole - Math.min(ANSWER_TOKENS, Math.floor(whole / 2)) - 1_000);
  }

  /** The usage of all calls; null if no provider reported any. */
  get usage(): Usage | null {
    return this.#usage;
  }

  /** How many tokens of texts go into one request. */
  get room(): number {
    return this.#room;
  }

  /** The summary of all the texts: each piece's takes in the one before. */
  async write(task: SummaryTask): Promise<string> {
    let { previous, texts: rest } = task;
    let summary: string | null = null;
    while (summary === null || rest.length > 0) {
      const piece = firstPiece(rest, this.#room - estimateTokens(previous ?? ""));
      const answer = await this.#ask({ ...task, texts: piece.texts, previous });
      if (answer === null) continue; // there is less room now
      [summary, previous, rest] = [answer, answer, piece.rest];
    }
    return summary;
  }

  /** Null: it was too long, and there is less room from here on. */
  async #ask(task: SummaryTask): Promise<string | null> {
    if (++this.#calls > CALLS_MAX)
      throw new SummaryRefused("too_long", `The messages are too long to summarize in ${CALLS_MAX} calls`);
    const outcome = await this.#answer(summaryRequest(task));
    const { usage } = outcome.ending === null ? outcome.answer : outcome;
    this.#usage = sumUsage(this.#usage, usage ?? null);
    if (outcome.ending?.class === "too_long" && this.#halvings++ < HALVINGS_MAX) {
      this.#room = Math.max(1_000, Math.floor(this.#room / 2));
      return null;
    }
    return summaryIn(outcome);
  }

  async #answer(request: ModelRequest): Promise<ModelOutcome> {
    try {
      const outcome: unknown = await this.#summarise(request);
      if (isAsked(outcome)) return outcome;
    } catch (error) {
      throw noAnswer(error instanceof Error ? error.message : String(error));
    }
    throw noAnswer("the response is not a model answer");
  }
}

function noAnswer(why: string): SummaryRefused {
  return new SummaryRefused("no_answer", `The model returned no summary: ${why}`);
}

function isAsked(value: unknown): value is ModelOutcome {
  if (typeof value !== "object" || value === null || !("answer" in value) || !("ending" in value))
    return false;
  const { answer, ending } = value;
  if (ending !== null) return typeof ending === "object";
  return (
    typeof answer === "object" && answer !== null && "content" in answer && Array.isArray(answer.content)
  );
}

/** The text of a whole answer that is a summary. Anything else must not stand for a conversation. */
function summaryIn(outcome: ModelOutcome): string {
  if (outcome.ending !== null) {
    const { message } = outcome.ending;
    throw new SummaryRefused("no_answer", `The model returned no summary: ${message}`, outcome.ending);
  }
  const { content, finish } = outcome.answer;
  if (finish === "length")
    throw new SummaryRefused("length", "The summary was cut off by the model's output limit");
  if (finish === "filtered")
    throw new SummaryRefused("filtered", "The provider's filter blocked the summary");
  if (finish === "calls" || content.some((block) => block.type === "toolCall"))
    throw new SummaryRefused("tool_call", "The model called a tool instead of writing a summary");
  if (finish !== "stop") throw new SummaryRefused("unfinished", "The model did not finish its summary");
  const text = textOfBlocks(content).trim();
  if (text === "") throw new SummaryRefused("empty", "The summary was empty");
  if (!text.split("\n").some((line) => SUMMARY_HEADINGS.includes(line.trim())))
    throw new SummaryRefused(
      "shapeless",
      "The model's answer is not a summary: it lacks the required headings",
    );
  return text;
}

/** As many texts as there is room for, and at least a part of the first. */
function firstPiece(
  texts: readonly string[],
  room: number,
): { readonly texts: readonly string[]; readonly rest: readonly string[] } {
  const least = Math.max(500, room);
  let tokens = 0;
  for (const [index, text] of texts.entries()) {
    tokens += estimateTokens(text);
    if (tokens <= least) continue;
    if (index > 0) return { texts: texts.slice(0, index), rest: texts.slice(index) };
    const end = wholeStart(text, Math.max(2, Math.floor((text.length * least) / tokens)));
    return { texts: [text.slice(0, end)], rest: [text.slice(end), ...texts.slice(1)] };
  }
  return { texts, rest: [] };
}

function sumUsage(one: Usage | null, other: Usage | null): Usage | null {
  if (one === null || other === null) return one ?? other;
  const sum: { -readonly [K in keyof Usage]: number } = { ...one };
  for (const [counter, value] of Object.entries(other) as [keyof Usage, number][])
    sum[counter] = (sum[counter] ?? 0) + value;
  return sum;
}

/** Who is asked for a summary, and who writes it down. */
export interface SummaryOptions {
  readonly summarise: Summarise;
  /** What the model that is asked is called in the log. */
  readonly model?: string;
  /** The model's window in tokens. A longer history is summarised in pieces. */
  readonly summaryWindow?: number | null;
  /** What a person asked to be kept in mind. */
  readonly focus?: string;
  /** The tools that read and change files (default: `read`, `write` and `edit`). */
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

/** Writes the entry with the summary, or the usage of a failed one. */
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
