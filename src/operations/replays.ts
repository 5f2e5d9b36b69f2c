import type { SourcePrompt, ReplayTarget } from "#agent/replay/replay-source";
import { type ReplayPlan, REPLAY_TOOLS } from "#agent/replay/replay-options";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { readJson } from "#log/json/read-json";
import { diffJson, type NamedBranch } from "#transfer/views/diff-json";
import { entryPreview } from "#transfer/views/entry-preview";
import { operation, type OperationContext, type ReplayRunner } from "./operation.ts";
import {
  isRunning,
  readReplay,
  REPLAY_PREFIX,
  type ReplayEnd,
  replayLog,
  type ReplayProgress,
  requestStop,
} from "./views/replay-log.ts";
import {
  answer,
  choice,
  count,
  cursor,
  flag,
  idField,
  list,
  named,
  nextCursor,
  nullable,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
  usageSumFields,
} from "./schemas.ts";

/** What could be replayed here, and with what: nothing of it is begun. */
export interface ReplayOffer {
  readonly source: ReplayPlan["source"];
  readonly title: string | null;
  /** All prompts that could be sent again. */
  readonly promptCount: number;
  /** Which of them would be the first, from 1. */
  readonly first: number;
  /** The newest of them, each with its number among all, and which message it is, from 1. */
  readonly prompts: readonly {
    readonly number: number;
    readonly message: number;
    readonly entry: string;
    readonly text: string;
  }[];
  readonly models: readonly string[];
  /** What a model would be offered; what has an effect says what it would do only where it can. */
  readonly tools: readonly {
    readonly name: string;
    readonly hasEffect: boolean;
    readonly hasDryRun: boolean;
  }[];
  /** Tools of the original that are not here. */
  readonly absent: readonly string[];
}

/** A replay as it stands. */
export interface ReplayView {
  readonly replay: string;
  /** Which conversation it is of, in words. */
  readonly title: string;
  /** `lost`: the process that ran it is gone; what came of it is in its forks. */
  readonly status: "running" | "lost" | ReplayEnd["status"];
  readonly message: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
  readonly plan: ReplayPlan;
  readonly progress: ReplayProgress | null;
  /** What became of each model, on which fork. */
  readonly results: readonly object[];
}

/** The same with what differs from the original, for each model: where they part, and the totals. */
export interface ReplayDetails extends ReplayView {
  readonly diffs: readonly object[];
}

const row = { group: "Replays", access: "read", kind: "read" } as const;
const REPLAY_MODELS_MAX = 25; // a letter for each beside the original
const REPLAYS_PAGE = 20;
const PROMPTS_MAX = 500; // in one offer
export const progressShape: Schema<ReplayProgress> = named(
  "ReplayProgress",
  open<ReplayProgress>({
    model: count(),
    models: count(),
    turn: count(),
    turns: count(),
    matched: count(),
    diverged: count(),
    spent: open(usageSumFields),
  }),
);
const source: Schema<ReplayPlan["source"]> = open<ReplayPlan["source"]>({
  conversation: text(),
  entry: text(),
  run: nullable(text()),
});
const viewFields = {
  replay: text(),
  title: text(),
  status: choice(["running", "lost", "completed", "stopped", "failed"]),
  message: text({ max: 100_000 }),
  startedAt: text(),
  endedAt: nullable(text()),
  plan: open<ReplayPlan>({
    source,
    models: list(text()),
    tools: choice(REPLAY_TOOLS),
    prompts: count(),
    absent: list(text()),
    added: list(text()),
  }),
  progress: nullable(progressShape),
  results: list(open<object>({ conversation: text(), model: text() })),
};
const view: Schema<ReplayView> = named("Replay", open<ReplayView>(viewFields));
const ofReplay = { replay: idField };
const sourceFields = {
  run: optional(text({ min: 1, max: 512 })),
  conversation: optional(idField),
  at: optional(idField),
  from: optional(idField),
};

export const planReplay = operation({
  ...row,
  summary:
    "Show what can be replayed of a run or branch, with which models and tools; `from` is the first entry to send again",
  http: "GET /api/replay-plan",
  input: sourceFields,
  output: named(
    "ReplayOffer",
    open<ReplayOffer>({
      source,
      title: nullable(text()),
      promptCount: count(),
      first: count(),
      prompts: list(open({ number: count(), message: count(), entry: text(), text: text() })),
      models: list(text()),
      tools: list(open({ name: text(), hasEffect: flag(), hasDryRun: flag() })),
      absent: list(text()),
    }),
  ),
  async run({ from, ...input }, context) {
    const runner = runnerOf(context);
    const { holdfast, folder = null } = context;
    const what = whatOf(input);
    const place = folder === null ? {} : { cwd: folder };
    const { plan, prompts, tools } = await runner.prepare(holdfast, what, place);
    const rest =
      from === undefined
        ? prompts
        : (await runner.prepare(holdfast, what, { ...place, fromEntry: from })).prompts;
    const { title } = await (await holdfast.conversation(plan.source.conversation)).head();
    return {
      source: plan.source,
      title,
      promptCount: prompts.length,
      first: prompts.length - rest.length + 1,
      prompts: prompts
        .map((prompt, index) => ({
          number: index + 1,
          message: prompt.messageNumber,
          entry: prompt.entry.id,
          text: previewOf(prompt),
        }))
        .slice(-PROMPTS_MAX),
      models: runner.models,
      tools: tools.map((tool) => ({
        name: tool.name,
        hasEffect: tool.effect !== "none",
        hasDryRun: "dryRun" in tool && tool.dryRun !== undefined,
      })),
      absent: plan.absent,
    };
  },
});

export const startReplay = operation({
  ...row,
  access: "write",
  kind: "act",
  summary:
    "Replay the prompts of a run or branch on other models, each on its own fork; tools have no effect unless `tools` is `live`, which needs `confirm`",
  http: "POST /api/replays",
  status: 202,
  input: {
    ...sourceFields,
    models: optional(list(text({ min: 1, max: 200 }), { max: REPLAY_MODELS_MAX })),
    tools: optional(choice(REPLAY_TOOLS, "(default: dry-run)")),
    confirm: optional(flag("required for live tools, which take effect again")),
    fromMessage: optional(count({ min: 1, about: "the first message to send again, starting at 1" })),
    system: optional(text({ min: 1, max: 1_000_000, about: "the task section of the system prompt" })),
    maxPrompts: optional(count({ min: 1, about: "maximum number of prompts" })),
    maxSteps: optional(count({ min: 1, about: "maximum answers per model, over all turns" })),
    maxCostMicros: optional(count({ min: 1 })),
  },
  output: view,
  async run({ run, conversation, at, from, system, confirm = false, ...options }, context) {
    const { models = [], tools = "dry-run", ...limits } = options;
    if (tools === "live" && !confirm)
      throw new LogError("invalid_request", "Live tools take effect again. Set `confirm` to allow this.");
    const { holdfast, key, folder = null } = context;
    const log = await runnerOf(context).start(holdfast, {
      what: whatOf({ run, conversation, at }),
      key,
      options: {
        ...limits,
        models,
        tools,
        ...(from === undefined ? {} : { fromEntry: from }),
        ...(system === undefined ? {} : { patchSystem: system }),
        ...(folder === null ? {} : { cwd: folder }),
      },
    });
    return viewOf(log);
  },
});

export const listReplays = operation({
  ...row,
  summary: "List replays, newest first, of every process",
  http: "GET /api/replays",
  input: { conversation: optional(idField), limit: optional(pageLimit), cursor: optional(cursor) },
  output: answer({ replays: list(view), next: nextCursor }),
  async run({ conversation, limit = REPLAYS_PAGE, ...place }, { holdfast }) {
    const filter = { prefix: REPLAY_PREFIX, unlisted: true };
    const page = await holdfast.listPage({ limit, filter, ...place });
    const replays: ReplayView[] = [];
    for (const { conversation: id } of page.conversations) {
      const one = await viewOfLog(holdfast.handle(id));
      if (one !== null && (conversation === undefined || concerns(one, conversation))) replays.push(one);
    }
    return { replays, next: page.cursor };
  },
});

export const getReplay = operation({
  ...row,
  summary: "Show a replay and its differences from the original",
  http: "GET /api/replays/{replay}",
  input: ofReplay,
  output: answer({ ...viewFields, diffs: list(open<object>({ same: flag() })) }),
  async run({ replay }, { holdfast }): Promise<ReplayDetails> {
    const one = await viewOf(await replayLog(holdfast, replay));
    return { ...one, diffs: await diffsOf(holdfast, one) };
  },
});

export const stopReplay = operation({
  ...row,
  access: "write",
  kind: "act",
  summary: "Stop a replay in any process; its results are kept",
  http: "POST /api/replays/{replay}/stop",
  input: ofReplay,
  output: view,
  async run({ replay }, { holdfast }) {
    const log = await replayLog(holdfast, replay);
    await requestStop(log);
    return viewOf(log);
  },
});

function runnerOf({ replays }: OperationContext): ReplayRunner {
  if (replays !== undefined) return replays;
  throw new LogError("invalid_request", "This server has no models for replays");
}

function whatOf(input: {
  readonly run?: string | undefined;
  readonly conversation?: string | undefined;
  readonly at?: string | undefined;
}): ReplayTarget {
  const { run, conversation, at } = input;
  if (run !== undefined && at === undefined)
    return { run, ...(conversation === undefined ? {} : { conversation }) };
  if (run === undefined && conversation !== undefined)
    return { conversation, ...(at === undefined ? {} : { at }) };
  throw new LogError("invalid_request", "Pass `run`, or `conversation` and `at`");
}

function previewOf({ entry }: SourcePrompt): string {
  return entry.type === "seed" ? "The inputs of the run" : entryPreview(entry);
}

/** Whether a replay is of a conversation, or one of its forks is that conversation. */
function concerns({ plan, results }: ReplayView, conversation: string): boolean {
  return plan.source.conversation === conversation || forksOf(results).includes(conversation);
}

function forksOf(results: ReplayView["results"]): readonly string[] {
  return results.map((one) => (one as { readonly conversation: string }).conversation);
}

async function viewOf(log: Conversation): Promise<ReplayView> {
  const one = await viewOfLog(log);
  if (one === null) throw new LogError("damaged", `Log ${log.id} is not the log of a replay`);
  return one;
}

async function viewOfLog(log: Conversation): Promise<ReplayView | null> {
  const replay = await readReplay(log);
  if (replay === null) return null;
  const { plan, startedAt, progress, end } = replay;
  const status = end?.status ?? ((await isRunning(log)) ? "running" : "lost");
  return {
    replay: log.id,
    title: (await log.head()).title ?? log.id,
    status,
    message: end?.message ?? "",
    startedAt,
    endedAt: end?.at ?? null,
    plan,
    progress,
    results: end?.results ?? [],
  };
}

/** What each model did otherwise: where it parts from the original, and the totals. */
async function diffsOf(holdfast: Holdfast, { plan, results }: ReplayView): Promise<ReplayDetails["diffs"]> {
  const { conversation, entry } = plan.source;
  const forks = forksOf(results);
  if (forks.length === 0) return [];
  const diffs = await holdfast.compare(
    { conversation, at: entry },
    forks.map((fork) => ({ conversation: fork })),
  );
  const a: NamedBranch = { letter: "A", address: `${conversation}@${entry}`, conversation, entry };
  return forks.flatMap((fork, index) => {
    const diff = diffs[index];
    if (diff === undefined) return [];
    const b: NamedBranch = { letter: "B", address: fork, conversation: fork, entry: null };
    return [readJson([...diffJson({ a, b, diff }, { isStat: true, hasAll: false })].join("")) as object];
  });
}
