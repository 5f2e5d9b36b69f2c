import { textOfBlocks } from "#log/message";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody, EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import type { Conversation } from "#conversation/conversation";
import { turnStart } from "#turn/accept";
import { endLeftAgent, endLeftTools, endToolProcesses } from "#turn/effects/left-processes";
import { readLastModelNode, readModelNodeBeforeSeed } from "#turn/last-said";
import { GO_ON } from "#turn/rules/unanswered";
import { settleOpenTurn } from "#turn/settle";
import { refusal, answerPlace, openCalls } from "./answer-entries.ts";
import type { ResolvedOptions } from "#agent/agent-options";
import type { AgentWork } from "./loop-turn.ts";
import type { CallsToRun } from "./run-calls.ts";
import { spaceOf } from "#conversation/on-space";

const BRANCH_END = 256; // an answer and the results of its calls
const TURN_FACTS = ["turn_start", "attempt", "turn_end"] as const;

const NOT_STARTED = "Not executed: this call was recorded but never started.";

type AbandonedTurnOptions = Pick<ResolvedOptions, "newId" | "endProcess" | "pool">;

/** Ends an abandoned turn before a new prompt. Calls that never started get a result that says so. */
export async function closeAbandonedTurn(
  work: AgentWork,
  { newId, endProcess }: AbandonedTurnOptions,
): Promise<void> {
  const { conversation, owner } = work;
  const head = owner.unchangedHead ?? (await conversation.head());
  if ((await conversation.openTurn(head)) === null) return;
  const facts = await readLastTurn(conversation);
  await endLeftAgent(facts, endProcess);
  const calls = await readCalls(conversation);
  const started = calls === null ? new Set<string>() : await readIntents(conversation, calls.seq);
  const results = (calls?.calls ?? [])
    .filter(({ id }) => !started.has(id))
    .map((call): EntryBody => ({ type: "message", message: refusal(call, NOT_STARTED) }));
  if (results.length > 0) await owner.append(results);
  await settleOpenTurn({ conversation, owner, newId }, facts);
}

/**
 * Ends the processes of a turn that nobody runs any more, and returns the entries that record it. The turn stays open, for
 * `continue`. Call it when nobody else can write.
 */
export async function endTurnProcesses(
  conversation: Conversation,
  endProcess: AbandonedTurnOptions["endProcess"],
): Promise<readonly EntryBody[]> {
  const facts = await readLastTurn(conversation);
  const [start] = facts;
  if (start === undefined || endOf(facts) !== null) return [];
  await endLeftAgent(facts, endProcess);
  return endToolProcesses(conversation, start.seq);
}

/** A turn that did not complete, with everything needed to continue it. */
export interface AbandonedTurn {
  readonly turn: string;
  readonly prompt: string;
  /** The run it was begun in. */
  readonly run: string | null;
  /** Calls of its last answer that have no result. */
  readonly calls: CallsToRun | null;
  readonly attemptsBefore: number;
  /** The last of those, which gave no answer: whoever goes on does not begin to count anew. */
  readonly unanswered: number;
  /** The text of its last answer; empty if it has none or a new turn continues it. */
  readonly text: string;
  /** Set when the turn has ended and a new turn continues it: the entries that start that turn. */
  readonly restart: ((run: string | undefined) => readonly EntryBody[]) | null;
}

/** The turn to go on with: the open one as it is, or a new one for the prompt of one that ended otherwise than completed. */
export async function readAbandonedTurn(
  work: AgentWork,
  { newId, endProcess, pool }: AbandonedTurnOptions,
): Promise<AbandonedTurn> {
  const { conversation, owner } = work;
  let facts = await readLastTurn(conversation);
  const start = startOf(facts);
  // An agent session ran the turn: its messages stay, and the model is asked for a new answer.
  const elsewhere = facts.some((fact) => fact.type === "attempt" && fact.upstream !== undefined);
  if (elsewhere && endOf(facts) === null) {
    await endLeftAgent(facts, endProcess);
    await settleOpenTurn({ conversation, owner, newId }, facts);
    facts = await readLastTurn(conversation);
  }
  const { turn, prompt, run = null } = start;
  if (prompt === undefined) throw nothingToContinue("The last turn has no prompt");
  const end = endOf(facts);
  if (end?.outcome === "completed")
    throw nothingToContinue("Nothing to continue: the last turn is complete", { completed: turn });
  const last = await readLast(conversation);
  await checkPlace(conversation, { start, end, last });
  // The agent session ran its own calls. The outcome of one without a result is unknown.
  const calls = elsewhere ? null : await readCalls(conversation);
  if (end === null) {
    await endLeftTools(work, start.seq);
    const attempts = facts.filter(({ type }) => type === "attempt");
    const unanswered = attempts.filter(({ seq }) => seq > last.seq).length;
    const text = await readLastAnswer(conversation, start.seq);
    return { turn, prompt, run, calls, attemptsBefore: attempts.length, unanswered, text, restart: null };
  }
  const next = newId();
  const isAnswer = last.type === "message" && last.message.role === "assistant";
  const cutOff = calls === null && isAnswer && !(await isBeforeSeed(conversation, prompt, last));
  const goOn: EntryBody = {
    type: "message",
    message: { role: "user", content: [{ type: "text", text: GO_ON }], internal: true },
  };
  const restart = (of: string | undefined): readonly EntryBody[] => [
    ...(cutOff ? [goOn] : []),
    turnStart({ turn: next, prompt, run: of }, pool.holder),
  ];
  return { turn: next, prompt, run, calls, attemptsBefore: 0, unanswered: 0, text: "", restart };
}

function nothingToContinue(why: string, details: { readonly completed?: string } = {}): LogError {
  return new LogError("invalid_request", why, details);
}

function startOf(facts: readonly Entry[]): EntryOf<"turn_start"> {
  const [start] = facts;
  if (start?.type !== "turn_start")
    throw nothingToContinue("Nothing to continue: this conversation has no turn. Send a prompt.");
  return start;
}

function endOf(facts: readonly Entry[]): EntryOf<"turn_end"> | null {
  const end = facts.find((fact) => fact.type === "turn_end");
  return end?.type === "turn_end" ? end : null;
}

/** The facts of the latest turn, or of the latest before a seq, oldest first: those that are of that time. */
async function readLastTurn(conversation: Conversation, before?: number): Promise<readonly Entry[]> {
  const start = await conversation.latest(["turn_start"], before);
  if (start === null) return [];
  const until = before === undefined ? {} : { until: before };
  const after = { after: start.seq, limit: 100_000 };
  return [start, ...(await conversation.read({ ...after, types: TURN_FACTS, ...until }))];
}

async function readLast(conversation: Conversation): Promise<Entry> {
  const { leaf } = await conversation.head();
  return conversation.entry(await readLastModelNode(spaceOf(conversation), conversation.id, leaf));
}

async function readLastAnswer(conversation: Conversation, since: number): Promise<string> {
  const newest = await conversation.read({ limit: BRANCH_END, newestFirst: true, types: ["message"] });
  const last = newest.find(({ message }) => message.role === "assistant");
  return last === undefined || last.seq < since ? "" : textOfBlocks(last.message.content);
}

/** Throws if the active branch no longer ends with the turn, because a user went to another entry. */
async function checkPlace(
  conversation: Conversation,
  place: {
    readonly start: EntryOf<"turn_start">;
    readonly end: EntryOf<"turn_end"> | null;
    readonly last: Entry;
  },
): Promise<void> {
  const { start, end, last } = place;
  const own = new Set<string>([start.prompt ?? "", ...(end?.node === undefined ? [] : [end.node])]);
  if (own.has(last.id)) return;
  const types = ["message", "compaction", "leaf"] as const;
  const since = await conversation.entries({ after: start.seq, limit: 100_000, types });
  // A turn that continues another one starts after its messages.
  if (last.seq < start.seq && since.every(({ type }) => type !== "leaf")) return;
  if (since.some((entry) => entry.id === last.id)) return;
  if (await isBeforeSeed(conversation, start.prompt, last)) return;
  throw nothingToContinue(
    `Nothing to continue here: the current entry ${last.id} is not part of the last turn. Go back to ${end?.node ?? start.prompt} to continue that turn, or send a prompt.`,
  );
}

/** Whether a turn that began with seeds has said nothing yet: this is what stood there before. */
async function isBeforeSeed(
  conversation: Conversation,
  prompt: string | undefined,
  last: Entry,
): Promise<boolean> {
  if (prompt === undefined) return false;
  return (await readModelNodeBeforeSeed(spaceOf(conversation), conversation.id, prompt)) === last.id;
}

/** Returns the calls without a result at the end of the branch. They may belong to an earlier turn that this one continues. */
async function readCalls(conversation: Conversation): Promise<CallsToRun | null> {
  const page = await spaceOf(conversation).page({ conversation: conversation.id, limit: BRANCH_END });
  const open = openCalls(page.entries.map((stored) => decodeEntry(stored)));
  if (open === null) return null;
  const { seq } = open.answer;
  const place = answerPlace(await readLastTurn(conversation, seq), seq);
  return place === null ? null : { calls: open.calls, place, seq };
}

async function readIntents(conversation: Conversation, after: number): Promise<Set<string>> {
  const intents = await conversation.read({ after, limit: 1_024, types: ["tool_intent"] });
  return new Set(intents.map(({ call }) => call));
}
