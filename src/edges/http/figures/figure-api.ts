import type { RoutesOf } from "#edges/http/routes/route";
import { id, ofConversation, type OfConversation, pageLimit } from "#edges/http/routes/shared-schemas";
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
import type { ContextSizes, MessageSize } from "./context-sizes.ts";
import {
  dailyUsage,
  type DailyUsageView,
  turnUsage,
  type TurnUsageView,
} from "#edges/http/usage/usage-answers";
import type { Finding } from "#store/requests";

/** One entry as it lies in the log, without what it says. */
export interface RecordView {
  readonly seq: number;
  readonly id: string;
  readonly parentId: string | null;
  readonly type: string;
  readonly time: string;
  /** Of its line in an export. */
  readonly bytes: number;
  /** SHA-256 over what it says, as links hold it. */
  readonly digest: string;
  /** Where a batch ends with it: the link, which holds everything before it. */
  readonly link: string | null;
  /** What it says is no JSON any more. */
  readonly unreadable: boolean;
}

/** Where a log can be read no further. */
export interface LogDamage {
  readonly message: string;
  /** The last entry in front of it. */
  readonly reachableSeq: number;
  /** In the file, where the store has one. */
  readonly position: number | null;
}

export interface RecordPage extends OfConversation {
  readonly records: readonly RecordView[];
  /** Null: no reading has met any. */
  readonly damage: LogDamage | null;
  readonly next: number | null;
  readonly previous: number | null;
  readonly headSeq: number;
}

/** One record, and what it says to the letter. */
export interface RecordLine extends OfConversation {
  readonly seq: number;
  /** Its line in an export. Of a record that is unreadable it is no JSON. */
  readonly line: string;
}

/** What is served, and how much there is of it. */
export interface StoreView {
  readonly kind: string | null;
  readonly address: string | null;
  readonly bytes: number | null;
  /** Of entries, and of the objects that are answered. */
  readonly formatVersion: number;
  readonly schemaVersion: number;
  readonly conversations: number;
  /** Kept for programs, such as memory. */
  readonly unlisted: number;
  /** There are more than were counted. */
  readonly more: boolean;
  readonly damaged: readonly string[];
}

/** How many things a person should look at. */
interface IssueCount extends OfConversation {
  /** Null: the log is long and not read to its end yet, or cannot be read. */
  readonly issues: number | null;
}

/** Sizes, sums and checks. */
export interface FigureApi {
  listRecords: {
    readonly params: OfConversation;
    readonly query: {
      readonly after?: number;
      readonly before?: number;
      readonly limit?: number;
      readonly types?: readonly string[];
    };
    readonly response: RecordPage;
  };
  getRecord: {
    readonly params: OfConversation;
    readonly query: { readonly seq?: number; readonly entry?: string };
    readonly response: RecordLine;
  };
  getContextSizes: {
    readonly params: OfConversation;
    readonly query: { readonly at?: string };
    readonly response: ContextSizes;
  };
  getDailyUsage: {
    readonly query: { readonly since?: string; readonly until?: string; readonly conversation?: string };
    readonly response: DailyUsageView;
  };
  getTurnUsage: {
    readonly params: OfConversation;
    readonly query: { readonly limit?: number };
    readonly response: TurnUsageView;
  };
  countIssues: {
    readonly query: { readonly conversation: readonly string[] };
    readonly response: { readonly counts: readonly IssueCount[] };
  };
  getStore: { readonly response: StoreView };
  checkSpace: { readonly response: { readonly findings: readonly Finding[] } };
}

const group = "Figures";
const COUNTED_MAX = 100; // conversations in one request
const day: Schema<string> = text({ max: 10, pattern: /^\d{4}-\d{2}-\d{2}$/, about: "YYYY-MM-DD, in UTC" });

export const FIGURE_ROUTES: RoutesOf<FigureApi> = {
  listRecords: {
    method: "GET",
    path: "/api/conversations/{conversation}/records",
    right: "read",
    group,
    summary:
      "Lists its own entries as they lie in the log: bytes, digest and links, not what they say; of a damaged log what can be read",
    params: ofConversation,
    query: object<FigureApi["listRecords"]["query"]>({
      after: optional(count({ about: "entries behind this seq" })),
      before: optional(count({ min: 1, about: "the last entries in front of this seq" })),
      limit: optional(pageLimit),
      types: optional(list(text({ min: 1, max: 64, pattern: /^[a-z_]+$/ }), { max: 64 })),
    }),
    response: answer<RecordPage>({
      conversation: text(),
      records: list(
        named(
          "Record",
          open<RecordView>({
            seq: count(),
            id: text(),
            parentId: nullable(text()),
            type: text(),
            time: text(),
            bytes: count(),
            digest: text(),
            link: nullable(text()),
            unreadable: flag(),
          }),
        ),
      ),
      damage: nullable(
        open<LogDamage>({
          message: text({ max: 100_000 }),
          reachableSeq: count(),
          position: nullable(count()),
        }),
      ),
      next: nullable(count()),
      previous: nullable(count()),
      headSeq: count(),
    }),
  },
  getRecord: {
    method: "GET",
    path: "/api/conversations/{conversation}/record",
    right: "read",
    group,
    summary:
      "Gives one record to the letter, by its seq or its entry; `conversation` is the log that it lies in, which for what was inherited is another. In a damaged log: what lies in front of the damage",
    params: ofConversation,
    query: object<FigureApi["getRecord"]["query"]>({
      seq: optional(count({ min: 1, about: "its place in this log" })),
      entry: optional(id),
    }),
    response: answer<RecordLine>({ conversation: text(), seq: count(), line: text() }),
  },
  getContextSizes: {
    method: "GET",
    path: "/api/conversations/{conversation}/context/sizes",
    right: "read",
    group,
    summary: "Estimates how many tokens each message of the context is, now or as it was at any entry",
    params: ofConversation,
    query: object<FigureApi["getContextSizes"]["query"]>({ at: optional(id) }),
    response: answer<ContextSizes>({
      conversation: text(),
      leaf: text(),
      model: nullable(text()),
      window: nullable(count()),
      compaction: nullable(text()),
      messages: list(
        open<MessageSize>({ entry: nullable(text()), role: text(), chars: count(), tokens: count() }),
      ),
      tokens: count(),
    }),
  },
  getDailyUsage: {
    method: "GET",
    path: "/api/usage/daily",
    right: "read",
    group,
    summary: "Adds up what was used on each day with each model; what a fork inherited counts once",
    query: object<FigureApi["getDailyUsage"]["query"]>({
      since: optional(day),
      until: optional(day),
      conversation: optional(id),
    }),
    response: dailyUsage,
  },
  getTurnUsage: {
    method: "GET",
    path: "/api/conversations/{conversation}/usage/turns",
    right: "read",
    group,
    summary:
      "Tells what each turn used, how large its context was, and where sessions and summaries took over; the newest turns",
    params: ofConversation,
    query: object<FigureApi["getTurnUsage"]["query"]>({ limit: optional(pageLimit) }),
    response: turnUsage,
  },
  countIssues: {
    method: "GET",
    path: "/api/issue-counts",
    right: "read",
    group,
    summary:
      "Counts what a person should look at in each conversation, for lists: what was counted before is kept, and a long log is read over several requests",
    query: object<FigureApi["countIssues"]["query"]>({
      conversation: list(id, { min: 1, max: COUNTED_MAX }),
    }),
    response: answer<FigureApi["countIssues"]["response"]>({
      counts: list(
        named("IssueCount", open<IssueCount>({ conversation: text(), issues: nullable(count()) })),
      ),
    }),
  },
  getStore: {
    method: "GET",
    path: "/api/store",
    right: "read",
    group,
    summary: "Says what is served and how much of it; where it lies only to tokens with the right admin",
    response: answer<StoreView>({
      kind: nullable(text()),
      address: nullable(text()),
      bytes: nullable(count()),
      formatVersion: count(),
      schemaVersion: count(),
      conversations: count(),
      unlisted: count(),
      more: flag(),
      damaged: list(text()),
    }),
  },
  checkSpace: {
    method: "GET",
    long: true,
    path: "/api/check",
    right: "admin",
    group,
    summary: "Reads every log of the space and proves its links, as `holdfast doctor` does; repairs nothing",
    response: answer<FigureApi["checkSpace"]["response"]>({
      findings: list(
        open<Finding>({
          conversation: nullable(text()),
          severity: choice(["damage", "torn", "note"]),
          message: text({ max: 100_000 }),
          repaired: flag(),
        }),
      ),
    }),
  },
};
