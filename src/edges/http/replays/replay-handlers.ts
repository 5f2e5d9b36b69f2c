import type { ReplayWhat } from "#agent/replay/replay-source";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { HandlersOf } from "#edges/http/handlers/asked";
import { lastSeen, stream } from "#edges/http/events/event-handlers";
import { LogError } from "#log/errors";
import { diffJson, type NamedBranch } from "#transfer/views/diff-json";
import type { ReplayApi, ReplayDetails, ReplayedQuery, ReplayView } from "./replay-api.ts";
import { askToStop, readReplay, REPLAY_PREFIX, replayLog } from "./replay-log.ts";
import { replayOffer } from "./replay-offer.ts";
import { isRunning, replayTexts } from "./replay-texts.ts";
import { readJson } from "#log/json/read-json";

const REPLAYS_PAGE = 20;

export const REPLAY_HANDLERS: HandlersOf<ReplayApi> = {
  async planReplay({ holdfast, query, server }) {
    return replayOffer(holdfast, server, { what: whatOf(query), from: query.from });
  },

  async startReplay({ holdfast, body, key, server }) {
    const {
      models = [],
      tools = "dry-run",
      confirm = false,
      system,
      from,
      fromMessage,
      maxPrompts,
      maxSteps,
    } = body;
    if (tools === "live" && !confirm)
      throw new LogError(
        "invalid_request",
        "Live tools act in the world again, beside what the original did: say that this is meant with confirm",
      );
    const log = await server.replays.start(holdfast, {
      what: whatOf(body),
      key,
      options: {
        models,
        tools,
        ...(fromMessage === undefined ? {} : { fromMessage }),
        ...(from === undefined ? {} : { fromEntry: from }),
        ...(maxPrompts === undefined ? {} : { maxPrompts }),
        ...(system === undefined ? {} : { patchSystem: system }),
        ...(maxSteps === undefined ? {} : { maxSteps }),
        ...(body.maxCostMicros === undefined ? {} : { maxCostMicros: body.maxCostMicros }),
        ...(server.cwd === null ? {} : { cwd: server.cwd }),
      },
    });
    return viewOf(log);
  },

  async listReplays({ holdfast, query }) {
    const { limit = REPLAYS_PAGE, cursor, conversation: of } = query;
    const filter = { prefix: REPLAY_PREFIX, unlisted: true };
    const page = await holdfast.listPage({ limit, filter, ...(cursor === undefined ? {} : { cursor }) });
    const replays: ReplayView[] = [];
    for (const { conversation } of page.conversations) {
      const view = await viewOfLog(holdfast.handle(conversation));
      if (view !== null && (of === undefined || concerns(view, of))) replays.push(view);
    }
    return { replays, next: page.cursor };
  },

  async getReplay({ holdfast, params }) {
    const view = await viewOf(await replayLog(holdfast, params.replay));
    return { ...view, diffs: await diffsOf(holdfast, view) };
  },

  async stopReplay({ holdfast, params }) {
    const log = await replayLog(holdfast, params.replay);
    await askToStop(log);
    return viewOf(log);
  },

  async replayEvents(asked) {
    const { holdfast, params, query } = asked;
    const log = await replayLog(holdfast, params.replay);
    const after = lastSeen(asked) ?? query.after ?? 0;
    return stream(asked, ({ signal, stopped }) => replayTexts({ log, signal, stopped }, after));
  },
};

function whatOf({ run, conversation, at }: ReplayedQuery): ReplayWhat {
  if (run !== undefined && at === undefined)
    return { run, ...(conversation === undefined ? {} : { conversation }) };
  if (run === undefined && conversation !== undefined)
    return { conversation, ...(at === undefined ? {} : { at }) };
  throw new LogError(
    "invalid_request",
    "A replay is of a run, or of a conversation up to an entry: say which by run, or by conversation and at",
  );
}

/** Whether a replay is of a conversation, or one of its forks is that conversation. */
function concerns({ plan, results }: ReplayView, conversation: string): boolean {
  return (
    plan.source.conversation === conversation ||
    results.some((one) => (one as { readonly conversation: string }).conversation === conversation)
  );
}

async function viewOf(log: Conversation): Promise<ReplayView> {
  const view = await viewOfLog(log);
  if (view === null) throw new LogError("damaged", `The log ${log.id} does not say what is replayed`);
  return view;
}

async function viewOfLog(log: Conversation): Promise<ReplayView | null> {
  const told = await readReplay(log);
  if (told === null) return null;
  const { plan, startedAt, progress, end } = told;
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
  const forks = results.map((one) => (one as { readonly conversation: string }).conversation);
  if (forks.length === 0) return [];
  const diffs = await holdfast.compare(
    { conversation, at: entry },
    forks.map((fork) => ({ conversation: fork })),
  );
  const a: NamedBranch = { letter: "A", address: `${conversation}@${entry}`, conversation, entry };
  return forks.flatMap((fork, at) => {
    const diff = diffs[at];
    if (diff === undefined) return [];
    const b: NamedBranch = { letter: "B", address: fork, conversation: fork, entry: null };
    return [readJson([...diffJson({ a, b, diff }, { isStat: true, hasAll: false })].join("")) as object];
  });
}
