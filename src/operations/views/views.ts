import { liveLabels, type LiveProjections } from "#conversation/live-projection";
import type { EntryId } from "#log/ids";
import { IssueCounts } from "./issue-counts.ts";
import { DailyUsageCache, TurnUsageCache } from "./usage-views.ts";
import { ChainCache, TreePages } from "./whole-logs.ts";

/** Caches of logs that one process shares among its callers: a lost one costs time. */
export class Views {
  readonly chains: ChainCache = new ChainCache();
  readonly labels: LiveProjections<Map<EntryId, string>> = liveLabels({ logs: 64, maxAgeMs: 600_000 });
  readonly trees: TreePages = new TreePages();
  readonly dailyUsage: DailyUsageCache = new DailyUsageCache();
  readonly turnUsage: TurnUsageCache = new TurnUsageCache();
  readonly issueCounts: IssueCounts = new IssueCounts();
}
