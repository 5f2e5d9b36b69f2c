import { IssueCounts } from "./issue-counts.ts";
import { DailyUsageCache, TurnUsageCache } from "./usage-views.ts";
import { StampCache, TreePages } from "./whole-logs.ts";

/** Caches of logs that one process shares among its callers: a lost one costs time. */
export class Views {
  readonly stamps: StampCache = new StampCache();
  readonly trees: TreePages = new TreePages();
  readonly dailyUsage: DailyUsageCache = new DailyUsageCache();
  readonly turnUsage: TurnUsageCache = new TurnUsageCache();
  readonly issueCounts: IssueCounts = new IssueCounts();
}
