import type { ReplayPlan } from "#agent/replay/replay-options";
import type { ReplayTools } from "#agent/replay/replay-tools";
import type { RoutesOf } from "#edges/http/routes/route";
import { cursor, id, nextCursor, pageLimit } from "#edges/http/routes/shared-schemas";
import {
  answer,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  optional,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";
import type { ReplayEnd } from "./replay-log.ts";
import type { ReplayProgress } from "./replay-progress.ts";

/** What is replayed, and from where on. */
export interface ReplayedQuery {
  readonly run?: string;
  readonly conversation?: string;
  readonly at?: string;
  readonly from?: string;
}

interface ReplayBody extends ReplayedQuery {
  readonly models?: readonly string[];
  readonly tools?: ReplayTools;
  readonly confirm?: boolean;
  readonly fromMessage?: number;
  readonly system?: string;
  readonly maxPrompts?: number;
  readonly maxSteps?: number;
  readonly maxCostMicros?: number;
}

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

/** The same with what is other than in the original, for each model: where they part, and the totals. */
export interface ReplayDetails extends ReplayView {
  readonly diffs: readonly object[];
}

/** Something that happened in a replay, and how far it is. */
export interface ReplayTold {
  readonly event: { readonly type: string };
  readonly progress: ReplayProgress;
}

interface OfReplay {
  readonly replay: string;
}

export interface ReplayApi {
  planReplay: { readonly query: ReplayedQuery; readonly response: ReplayOffer };
  startReplay: { readonly body: ReplayBody; readonly response: ReplayView };
  listReplays: {
    readonly query: { readonly conversation?: string; readonly limit?: number; readonly cursor?: string };
    readonly response: { readonly replays: readonly ReplayView[]; readonly next: string | null };
  };
  getReplay: { readonly params: OfReplay; readonly response: ReplayDetails };
  stopReplay: { readonly params: OfReplay; readonly body: object; readonly response: ReplayView };
  replayEvents: {
    readonly params: OfReplay;
    readonly query: { readonly after?: number };
    readonly response: ReplayTold;
  };
}

const group = "Replays";
const MODELS_MAX = 25; // a letter for each beside the original
const progress: Schema<ReplayProgress> = named(
  "ReplayProgress",
  open<ReplayProgress>({
    model: count(),
    models: count(),
    turn: count(),
    turns: count(),
    matched: count(),
    diverged: count(),
    spent: open({
      inputTokens: count(),
      outputTokens: count(),
      costMicros: nullable(count()),
      unpricedAnswers: count(),
    }),
  }),
);
const source: Schema<ReplayPlan["source"]> = open<ReplayPlan["source"]>({
  conversation: text(),
  entry: text(),
  run: nullable(text()),
});
const viewMembers = {
  replay: text(),
  title: text(),
  status: choice(["running", "lost", "completed", "stopped", "failed"]),
  message: text({ max: 100_000 }),
  startedAt: text(),
  endedAt: nullable(text()),
  plan: open<ReplayPlan>({
    source,
    models: list(text()),
    tools: choice(["dry-run", "recorded", "live"]),
    prompts: count(),
    absent: list(text()),
    added: list(text()),
  }),
  progress: nullable(progress),
  results: list(open<object>({ conversation: text(), model: text() })),
};
const view: Schema<ReplayView> = named("Replay", open<ReplayView>(viewMembers));
const offer: Schema<ReplayOffer> = named(
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
);
const replayed = {
  run: optional(text({ min: 1, max: 512 })),
  conversation: optional(id),
  at: optional(id),
  from: optional(id),
};
const ofReplay: Schema<OfReplay> = object<OfReplay>({ replay: id });

export const REPLAY_ROUTES: RoutesOf<ReplayApi> = {
  planReplay: {
    method: "GET",
    path: "/api/replay-plan",
    right: "read",
    group,
    summary:
      "Tells what of a run or a branch could be replayed here, and with which models and tools; `from` is the entry from which on prompts are sent again",
    query: object<ReplayedQuery>(replayed),
    response: offer,
  },
  startReplay: {
    method: "POST",
    path: "/api/replays",
    right: "write",
    writes: true,
    status: 202,
    group,
    summary:
      "Sends the prompts of a run or a branch once more, each model on a fork of its own; the original is not touched. Nothing has an effect unless `tools` is `live`, which needs `confirm`",
    body: object<ReplayBody>({
      ...replayed,
      models: optional(list(text({ min: 1, max: 200 }), { max: MODELS_MAX })),
      tools: optional(choice(["dry-run", "recorded", "live"], "dry-run unless told")),
      confirm: optional(flag("live tools act in the world again: true says that this is meant")),
      fromMessage: optional(count({ min: 1, about: "the first message that is not kept, from 1" })),
      system: optional(text({ min: 1, max: 1_000_000, about: "what the model is told of its task" })),
      maxPrompts: optional(count({ min: 1, about: "how many prompts are sent" })),
      maxSteps: optional(count({ min: 1, about: "answers of each model, in all its turns" })),
      maxCostMicros: optional(count({ min: 1 })),
    }),
    response: view,
  },
  listReplays: {
    method: "GET",
    path: "/api/replays",
    right: "read",
    group,
    summary:
      "Lists replays, the most recent first, whichever process ran them; those of one conversation may be fewer than a page",
    query: object<ReplayApi["listReplays"]["query"]>({
      conversation: optional(id),
      limit: optional(pageLimit),
      cursor: optional(cursor),
    }),
    response: answer<ReplayApi["listReplays"]["response"]>({ replays: list(view), next: nextCursor }),
  },
  getReplay: {
    method: "GET",
    path: "/api/replays/{replay}",
    right: "read",
    group,
    summary: "Shows a replay as it stands, with what is other than in the original",
    params: ofReplay,
    response: answer<ReplayDetails>({ ...viewMembers, diffs: list(open<object>({ same: flag() })) }),
  },
  stopReplay: {
    method: "POST",
    path: "/api/replays/{replay}/stop",
    right: "write",
    writes: true,
    group,
    summary: "Stops a replay, whichever process runs it; what came of it is kept",
    params: ofReplay,
    body: object<object>({}),
    response: view,
  },
  replayEvents: {
    method: "GET",
    path: "/api/replays/{replay}/events",
    right: "read",
    answers: "events",
    group,
    summary: "Streams what happens in a replay and how far it is, until it ends; the last event is `end`",
    params: ofReplay,
    query: object<{ readonly after?: number }>({
      after: optional(count({ about: "the id of the last event you have seen" })),
    }),
    response: open<ReplayTold>({ event: open({ type: text() }), progress }),
  },
};
