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

interface ReplayBody {
  readonly run?: string;
  readonly conversation?: string;
  readonly at?: string;
  readonly models?: readonly string[];
  readonly tools?: ReplayTools;
  readonly confirm?: boolean;
  readonly fromMessage?: number;
  readonly system?: string;
  readonly maxSteps?: number;
  readonly maxCostMicros?: number;
}

/** A replay as it stands. */
export interface ReplayView {
  readonly replay: string;
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
  startReplay: { readonly body: ReplayBody; readonly response: ReplayView };
  listReplays: {
    readonly query: { readonly limit?: number; readonly cursor?: string };
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
    spent: open({ inputTokens: count(), outputTokens: count(), costMicros: nullable(count()) }),
  }),
);
const viewMembers = {
  replay: text(),
  status: choice(["running", "lost", "completed", "stopped", "failed"]),
  message: text({ max: 100_000 }),
  startedAt: text(),
  endedAt: nullable(text()),
  plan: open<ReplayPlan>({
    source: open({ conversation: text(), entry: text(), run: nullable(text()) }),
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
const ofReplay: Schema<OfReplay> = object<OfReplay>({ replay: id });

export const REPLAY_ROUTES: RoutesOf<ReplayApi> = {
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
      run: optional(text({ min: 1, max: 512 })),
      conversation: optional(id),
      at: optional(id),
      models: optional(list(text({ min: 1, max: 200 }), { max: MODELS_MAX })),
      tools: optional(choice(["dry-run", "recorded", "live"], "dry-run unless told")),
      confirm: optional(flag("live tools act in the world again: true says that this is meant")),
      fromMessage: optional(count({ min: 1, about: "the first message that is not kept, from 1" })),
      system: optional(text({ min: 1, max: 1_000_000, about: "what the model is told of its task" })),
      maxSteps: optional(count({ min: 1 })),
      maxCostMicros: optional(count({ min: 1 })),
    }),
    response: view,
  },
  listReplays: {
    method: "GET",
    path: "/api/replays",
    right: "read",
    group,
    summary: "Lists replays, the most recent first, whichever process ran them",
    query: object<ReplayApi["listReplays"]["query"]>({
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
