import type { Bodies, EntryBody, EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { checkSeeds, endsOpen, type SeedMessage } from "#log/runs/check-seeds";
import type { Run } from "#log/runs/run-row";
import type { Conversation } from "#conversation/conversation";
import { keepImages } from "#conversation/image-blobs";
import { latestStart, readRunContext } from "#conversation/read-run";
import type { HeadView } from "#store/requests";
import type { AgentModel } from "#agent/models/model";
import { continuedBy, type RunInput, runIdFor, triggerKey } from "./run-options.ts";
import type { Tool } from "#turn/effects/tool";
import { type PromptPatch, storedPatch } from "#agent/prompt/prompt-sections";
import type { Context } from "#log/projections/context";
import type { RunContext } from "#log/runs/run-context";
import { spaceOf } from "#conversation/on-space";

/** A run as a turn begins in it. */
export interface RunStart {
  readonly start: Bodies["run_start"];
  /** Null: it begins with `bodies`, whose last is its start. */
  readonly startSeq: number | null;
  readonly bodies: readonly EntryBody[];
}

/** What a start records of the turns to come. */
interface RunRecord {
  readonly model: AgentModel;
  readonly tools: ReadonlyMap<string, unknown>;
  readonly newId: () => string;
}

/** The start of a run, and its seeds in front of it. */
export async function beginRun(
  conversation: Conversation,
  input: RunInput,
  { model, tools, newId }: RunRecord,
): Promise<RunStart> {
  const { trigger, mailbox, policy, promptPatch } = input;
  const run = trigger.id === undefined ? newId() : runIdFor(conversation.id, triggerKey(trigger));
  const unknown = input.tools?.find((name) => !tools.has(name));
  if (unknown !== undefined)
    throw new LogError(
      "invalid_request",
      `Unknown tool "${unknown}" in \`tools\` of the run. The agent does not have it.`,
    );
  const seeds = input.seeds === undefined ? null : await storeSeeds(conversation, checkSeeds(input.seeds));
  const continued = await readContinued(conversation, continuedBy(trigger, input));
  const seed = seeds === null ? [] : [{ type: "seed", id: newId(), run, messages: seeds } as const];
  const start: Bodies["run_start"] = {
    run,
    trigger: trigger.type,
    ...(trigger.id === undefined ? {} : { triggerId: trigger.id }),
    ...(mailbox === undefined ? {} : { mailbox }),
    ...seedOf(seed[0] ?? null, continued),
    model: model.id,
    ...(model.window === null ? {} : { window: model.window }),
    ...(policy === undefined ? {} : { policy }),
    ...(input.tools === undefined ? { tools: [...tools.keys()] } : { tools: input.tools, toolsOnly: true }),
    ...(continued === null ? {} : { continues: continued.run }),
    ...(promptPatch === undefined ? {} : { promptPatch }),
  };
  return { start, startSeq: null, bodies: [...seed, { type: "run_start", ...start }] };
}

/** Returns the run's own inputs, or those of the run it continues, which it shares. */
function seedOf(
  own: { readonly id: string; readonly messages: readonly Json[] } | null,
  continued: Run | null,
): Pick<Bodies["run_start"], "seed" | "seedCount"> {
  if (own !== null) return { seed: own.id, seedCount: own.messages.length };
  const { seed = null, seedCount = 0 } = continued ?? {};
  return seed === null ? {} : { seed, seedCount };
}

/** Word for word, but for the bytes of files, which are kept as blobs as everywhere. */
async function storeSeeds(
  conversation: Conversation,
  seeds: readonly SeedMessage[],
): Promise<readonly Json[]> {
  const stored: SeedMessage[] = [];
  for (const seed of seeds) stored.push({ ...seed, content: await keepImages(conversation, seed.content) });
  return stored as unknown as readonly Json[];
}

async function readContinued(conversation: Conversation, name: string | null): Promise<Run | null> {
  if (name === null) return null;
  if (name === "latest") return conversation.latestRun();
  const run = await findRun(conversation, name);
  if (run === null)
    throw new LogError("invalid_request", `Run ${name} not found in conversation ${conversation.id}`, {
      run: name,
    });
  return run;
}

/** The latest of this id. */
function findRun(conversation: Conversation, run: string): Promise<Run | null> {
  return latestStart(spaceOf(conversation), conversation.id, run, Number.MAX_SAFE_INTEGER);
}

/** A run that is in the log. */
export interface LoggedRun extends RunStart {
  readonly startSeq: number;
  /** No other run has begun since. */
  readonly isLatest: boolean;
}

export async function readRunStart(
  conversation: Conversation,
  { summary }: HeadView,
  run: string,
): Promise<LoggedRun | null> {
  const isLatest = (summary?.run ?? (await conversation.latestRun()))?.run === run;
  const summarySeq = isLatest ? summary?.run?.counted?.startSeq : undefined;
  const startSeq = summarySeq ?? (await findRun(conversation, run))?.startSeq ?? null;
  if (startSeq === null) return null;
  const place = { after: startSeq - 1, until: startSeq, limit: 1 };
  const [start] = await conversation.read({ ...place, types: ["run_start"] });
  return start === undefined ? null : { start: bodyOf(start), startSeq, isLatest, bodies: [] };
}

function bodyOf(entry: EntryOf<"run_start">): Bodies["run_start"] {
  const {
    v: _v,
    id: _id,
    seq: _seq,
    parentId: _parent,
    time: _time,
    type: _type,
    payload: _text,
    ...body
  } = entry;
  return body;
}

/** For one more turn of a run. One that another run has cut off is over: a run that continues it takes its place. */
export function continueRun({ start, startSeq, isLatest }: LoggedRun, newId: string): RunStart {
  if (isLatest) return { start, startSeq, bodies: [] };
  const next = { ...start, run: newId, continues: start.run };
  return { start: next, startSeq: null, bodies: [{ type: "run_start", ...next }] };
}

/** Returns the entry of run inputs that need an answer; throws if there are none. */
export async function checkAnswerable(
  conversation: Conversation,
  { start: { run, seed } }: RunStart,
): Promise<EntryId> {
  const entry = seed === undefined ? null : await conversation.entry(seed);
  if (entry?.type === "seed" && endsOpen(entry.messages)) return entry.id;
  throw new LogError(
    "invalid_request",
    `The inputs of run ${run} do not end with a message to answer. Send a prompt.`,
    { run },
  );
}

/** The run of a turn, as far as its requests depend on it. */
export interface LoopRun {
  readonly run: string;
  readonly startSeq: number;
  /** Null: its requests are made of the conversation's context. */
  readonly seed: EntryId | null;
  readonly seedCount: number;
  readonly continues: string | null;
  /** The only tools its model is offered; null: all there are. */
  readonly tools: ReadonlySet<string> | null;
  readonly promptPatch: PromptPatch | null;
}

export function loopRun(start: Bodies["run_start"], startSeq: number): LoopRun {
  const { run, seed = null, seedCount = 0, continues = null } = start;
  const tools = start.toolsOnly === true ? new Set(start.tools) : null;
  return { run, startSeq, seed, seedCount, continues, tools, promptPatch: storedPatch(start.promptPatch) };
}

export function toolsOfRun(tools: ReadonlyMap<string, Tool>, run: LoopRun | null): ReadonlyMap<string, Tool> {
  const only = run?.tools ?? null;
  return only === null ? tools : new Map([...tools].filter(([name]) => only.has(name)));
}

/** What goes out with the next request. `system`: in place of the prompt that is made for it; null: it is made. */
type RequestMessages = Pick<RunContext, "messages" | "system">;

/** The context of the conversation, or what the run of a turn has in its place. */
export async function readRequestMessages(
  conversation: Conversation,
  run: LoopRun | null,
  { context, ...input }: { readonly context: Context; readonly head?: HeadView },
): Promise<RequestMessages> {
  if (run === null || run.seed === null) return { messages: context.messages, system: null };
  const { id } = conversation;
  const head = input.head ?? (await conversation.head());
  const window = { ...run, conversation: id, highWater: head.headSeq };
  const end = { conversation: id, end: head.leaf };
  return (await readRunContext(spaceOf(conversation), window, end)).context;
}

/** The run of the turn that is open; null where none is, or it belongs to none. */
export async function readOpenRun(conversation: Conversation, head: HeadView): Promise<LoopRun | null> {
  const turn = head.summary?.turn ?? null;
  if (turn?.state !== "open" || turn.run === undefined) return null;
  const start = await readRunStart(conversation, head, turn.run);
  return start === null ? null : loopRun(start.start, start.startSeq);
}
