import type { OfConversation } from "#edges/http/routes/shared-schemas";
import {
  answer,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  open,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";
import type { UsageSum } from "#log/add-usage";
import type { TurnMark, TurnUsageRow } from "./turn-usage.ts";

/** What was spent on one day with one model, by conversations or by replays of them. */
export interface DailyRow extends UsageSum {
  readonly day: string;
  readonly model: string;
  readonly replay: boolean;
}

/** What one conversation used of that time. */
export interface ConversationCost extends Omit<DailyRow, "day" | "model"> {
  readonly conversation: string;
  readonly title: string | null;
  readonly rollovers: number;
}

/** What the turns of a conversation used, the newest of them where there are many. */
export interface TurnUsageView extends OfConversation {
  readonly turns: readonly TurnUsageRow[];
  readonly marks: readonly TurnMark[];
  /** All turns, those that are not told too. */
  readonly count: number;
  /** How many tokens the model of the last turn takes, where that is known. */
  readonly window: number | null;
  /** What the answers that it shares with its source cost there; in none of its sums. Null: it is no fork. */
  readonly inherited: UsageSum | null;
  /** What was spent on replays of it; in none of its sums. */
  readonly replays: UsageSum & { readonly count: number };
}

/** What was used on each day, and by whom. */
export interface DailyUsageView {
  readonly rows: readonly DailyRow[];
  /** Those that cost the most. */
  readonly conversations: readonly ConversationCost[];
  readonly conversationCount: number;
  /** Which are not among the conversations that are counted. */
  readonly replayCount: number;
  readonly rollovers: number;
  readonly leftOut: readonly string[];
}

const usageCounts = {
  inputTokens: count(),
  outputTokens: count(),
  cacheReadTokens: count(),
  cacheWriteTokens: count(),
  costMicros: nullable(count()),
  unpricedAnswers: count(),
};

export const dailyUsage: Schema<DailyUsageView> = answer<DailyUsageView>({
  rows: list(
    named(
      "DailyUsage",
      open<DailyRow>({
        day: text(),
        model: text(),
        replay: flag(),
        ...usageCounts,
      }),
    ),
  ),
  conversations: list(
    open<ConversationCost>({
      conversation: text(),
      title: nullable(text()),
      replay: flag(),
      rollovers: count(),
      ...usageCounts,
    }),
  ),
  conversationCount: count(),
  replayCount: count(),
  rollovers: count(),
  leftOut: list(text()),
});

export const turnUsage: Schema<TurnUsageView> = answer<TurnUsageView>({
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
        ...usageCounts,
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
  inherited: nullable(open<UsageSum>(usageCounts)),
  replays: open<TurnUsageView["replays"]>({ count: count(), ...usageCounts }),
});
