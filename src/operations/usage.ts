import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import type { UsageSum } from "#log/add-usage";
import { isLogError } from "#log/errors";
import {
  countUsage,
  totalOf,
  USAGE_BY,
  usageJson,
  type UsageRow,
  UsageRows,
} from "#transfer/views/usage-rows";
import { conversationOf, viewsOf } from "./acts.ts";
import { operation } from "./operation.ts";
import {
  answer,
  choice,
  count,
  flag,
  idField,
  list,
  named,
  nullable,
  open,
  optional,
  pageLimit,
  text,
  usageFields,
  usageSumFields,
} from "./schemas.ts";
import type { TurnMark, TurnUsageRow } from "./views/turn-usage.ts";
import type { ConversationCost, DailyRow, TurnUsageView } from "./views/usage-views.ts";

const TURNS_MAX = 500;
const by = optional(choice(USAGE_BY, "(default: model)"));
const day = text({ max: 10, pattern: /^\d{4}-\d{2}-\d{2}$/, about: "YYYY-MM-DD, in UTC" });

/** The fields of every answer about usage. */
const sums = {
  by: choice(USAGE_BY, "(default: model)"),
  rows: list(named("UsageRow", open<UsageRow>({ name: text(), ...usageFields }))),
  total: open<UsageSum>(usageSumFields),
};

export const getUsage = operation({
  summary: "Total usage of a conversation; inherited messages count in the source",
  group: "What happened",
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/usage",
  input: { conversation: idField, by },
  output: answer(sums),
  async run({ by: of = "model", ...input }, context) {
    const rows = new UsageRows();
    await countUsage(conversationOf(input, context), of, rows);
    return usageJson(of, rows.result());
  },
});

export const getSpaceUsage = operation({
  summary: "Total usage of all conversations; unreadable ones are listed",
  group: "Across conversations",
  access: "read",
  kind: "read",
  http: "GET /api/usage",
  cli: "usage",
  input: { by },
  output: answer({
    ...sums,
    replays: optional(open<UsageSum>(usageFields)),
    leftOut: list(text()),
  }),
  async run({ by: of = "model" }, { holdfast }) {
    const [rows, replays] = [new UsageRows(), new UsageRows()];
    const leftOut: string[] = [];
    for await (const { conversation, summary } of holdfast.listAll())
      try {
        await countUsage(holdfast.handle(conversation), of, rows);
        const { run } = summary ?? (await holdfast.handle(conversation).summary());
        if (run?.trigger === REPLAY_TRIGGER) await countUsage(holdfast.handle(conversation), of, replays);
      } catch (error) {
        if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
        leftOut.push(conversation);
      }
    const ofReplays = replays.result();
    return {
      ...usageJson(of, rows.result()),
      ...(ofReplays.length === 0 ? {} : { replays: totalOf(ofReplays) }),
      leftOut,
    };
  },
});

export const getDailyUsage = operation({
  summary: "Usage per day and model; inherited messages count once",
  group: "Figures",
  access: "read",
  kind: "read",
  http: "GET /api/usage/daily",
  input: { since: optional(day), until: optional(day), conversation: optional(idField) },
  output: answer({
    rows: list(
      named("DailyUsage", open<DailyRow>({ day: text(), model: text(), replay: flag(), ...usageFields })),
    ),
    conversations: list(
      open<ConversationCost>({
        conversation: text(),
        title: nullable(text()),
        replay: flag(),
        rollovers: count(),
        ...usageFields,
      }),
    ),
    conversationCount: count(),
    replayCount: count(),
    rollovers: count(),
    leftOut: list(text()),
  }),
  run: (input, context) => viewsOf(context).dailyUsage.read(context.holdfast, input),
});

export const getTurnUsage = operation({
  summary: "List usage and context size of the newest turns, with new sessions and summaries",
  group: "Figures",
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/usage/turns",
  input: { conversation: idField, limit: optional(pageLimit) },
  output: answer({
    conversation: text(),
    turns: list(
      named(
        "TurnUsage",
        open<TurnUsageRow>({
          number: count(),
          turn: nullable(text()),
          prompt: nullable(text()),
          time: text(),
          outcome: nullable(choice(["open", "completed", "interrupted", "failed"])),
          model: nullable(text()),
          carrier: nullable(count()),
          contextTokens: nullable(count()),
          ...usageFields,
        }),
      ),
    ),
    marks: list(
      open<TurnMark>({
        kind: choice(["rollover", "compaction"]),
        turn: count(),
        entry: text(),
        time: text(),
        reason: nullable(text()),
        carrier: nullable(count()),
        tokensBefore: nullable(count()),
      }),
    ),
    count: count(),
    window: nullable(count()),
    inherited: nullable(open<UsageSum>(usageFields)),
    replays: open<TurnUsageView["replays"]>({ count: count(), ...usageFields }),
  }),
  run: ({ limit = TURNS_MAX, ...input }, context) =>
    viewsOf(context).turnUsage.read(context.holdfast, conversationOf(input, context), limit),
});
