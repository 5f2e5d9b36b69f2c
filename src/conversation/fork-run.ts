import { decodeEntry } from "#log/codec";
import type { Bodies, EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { type EntryId, parseConversationId, parseEntryId, parseKey } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { modelChange } from "#log/projections/settings";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import type { Conversation, ForkOptions } from "./conversation.ts";
import type { Holdfast } from "./holdfast.ts";
import { idForKey } from "./id-for-key.ts";
import type { NodeAt } from "./reading.ts";
import { findRun, runNotFound } from "./hydrate.ts";
import { readLeafAt } from "./leaf-at.ts";
import { spaceOf } from "./on-space.ts";

/** Where a run is gone on with, and what is to be other than in it. */
export interface ForkRunOptions extends ForkOptions {
  /** Any message of the run, or its seeds; its end when absent. */
  readonly at?: string;
  /** Where the run is, as for `hydrate`. */
  readonly conversation?: string;
  readonly model?: string;
  /** The names of the tools that its model is offered. */
  readonly tools?: readonly string[];
  /** Sections of the system prompt that are other words; null takes one away. */
  readonly promptPatch?: { readonly [section: string]: Json };
}

export interface ForkedRun {
  readonly conversation: Conversation;
  /** The run that is begun in it. */
  readonly run: string;
}

/**
 * A fork in which a run that continues another is begun, with what is other than there. What it costs does not grow with the
 * log: the messages and the seeds are shared.
 */
export async function forkRun(holdfast: Holdfast, id: string, options: ForkRunOptions): Promise<ForkedRun> {
  const space = spaceOf(holdfast);
  const { conversation: named, at, id: forkId, cwd, key } = options;
  const from = named === undefined ? null : parseConversationId(named);
  const row = await findRun(space, id, from);
  if (row === null) throw runNotFound(id, from);
  const { run, view } = row;
  const end = view?.end ?? (await readLeafAt(space, run.conversation, run.highWater));
  const source = await holdfast.conversation(view?.conversation ?? run.conversation);
  const start = await readStart(space, run);
  const entry = at === undefined ? end.id : await nodeOfRun(space, source, run, { at, end });
  const fork = await source.fork({
    at: entry,
    ...(forkId === undefined ? {} : { id: forkId }),
    ...(cwd === undefined ? {} : { cwd }),
    ...(key === undefined ? {} : { key }),
  });
  const name = key === undefined ? holdfast.newId() : idForKey("fork-run", fork.id, parseKey(key));
  const { model } = options;
  const bodies: readonly EntryBody[] = [
    ...(model === undefined ? [] : [modelChange(model)]),
    { type: "run_start", ...startOfFork(start, options), run: name, trigger: "fork", triggerId: run.run },
  ];
  await fork.append(bodies, { key: "run/fork" });
  return { conversation: fork, run: name };
}

async function readStart(
  space: SpaceStore,
  { run, conversation, startSeq }: Run,
): Promise<Bodies["run_start"]> {
  const [stored] = await space.read({ conversation, after: startSeq - 1, until: startSeq, limit: 1 });
  const entry = stored === undefined ? null : decodeEntry(stored);
  if (entry?.type === "run_start") return entry;
  throw new LogError("damaged", `The first entry of run ${run} in ${conversation} is missing`, {
    conversation,
    seq: startSeq,
  });
}

/** What its start says: all that the run it continues was begun with, but for what is to be other. */
function startOfFork(
  start: Bodies["run_start"],
  { model, tools, promptPatch }: ForkRunOptions,
): Omit<Bodies["run_start"], "trigger" | "triggerId"> {
  const patch = { ...start.promptPatch, ...promptPatch };
  return {
    run: start.run,
    ...(start.mailbox === undefined ? {} : { mailbox: start.mailbox }),
    ...(start.seed === undefined ? {} : { seed: start.seed }),
    ...(start.seedCount === undefined ? {} : { seedCount: start.seedCount }),
    ...modelOf(start, model),
    ...(start.policy === undefined ? {} : { policy: start.policy }),
    ...toolsOf(start, tools),
    continues: start.run,
    ...(Object.keys(patch).length === 0 ? {} : { promptPatch: patch }),
  };
}

/** How much another model takes is not known here. */
function modelOf(
  start: Bodies["run_start"],
  model: string | undefined,
): Pick<Bodies["run_start"], "model" | "window"> {
  if (model !== undefined && model !== start.model) return { model };
  return {
    ...(start.model === undefined ? {} : { model: start.model }),
    ...(start.window === undefined ? {} : { window: start.window }),
  };
}

function toolsOf(
  start: Bodies["run_start"],
  tools: readonly string[] | undefined,
): Pick<Bodies["run_start"], "tools" | "toolsOnly"> {
  if (tools !== undefined) return { tools, toolsOnly: true };
  if (start.tools === undefined) return {};
  return { tools: start.tools, ...(start.toolsOnly === undefined ? {} : { toolsOnly: start.toolsOnly }) };
}

/** A fork from a run begins within it: with any of its nodes, taken back or not, or right behind its seeds. */
async function nodeOfRun(
  space: SpaceStore,
  source: Conversation,
  run: Run,
  { at, end }: { readonly at: string; readonly end: NodeAt },
): Promise<EntryId> {
  const { place, seq, id } = await space.entry(source.id, parseEntryId(at));
  const inRun = place?.conversation === run.conversation && seq >= run.startSeq && seq <= run.highWater;
  if (place !== null && (inRun || id === run.seed || id === end.id)) return id;
  throw new LogError(
    "invalid_request",
    `Entry ${at} is not a message of run ${run.run}. \`hydrate\` returns its messages.`,
    { run: run.run, entry: at },
  );
}
