import type { Issue } from "#log/projections/issue";
import type { Queued } from "#log/projections/queue";
import type { EffectRow } from "#transfer/shown/effect-rows";
import type { LinkDetails } from "#transfer/shown/link-details";
import type { UsageBy, UsageRow } from "#transfer/shown/usage-rows";
import type { PermissionAsked } from "#turn/host";
import type { RoutesOf } from "./route.ts";
import {
  cursor,
  id,
  issue,
  link,
  type LinkView,
  nextCursor,
  ofConversation,
  type OfConversation,
  pageLimit,
} from "./shared-schemas.ts";
import {
  answer,
  anything,
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
} from "./value-schema.ts";

/** Which sessions a message was sent to, or came from, in that order. */
export interface Stamp {
  readonly entry: string;
  readonly upstreams: readonly {
    readonly id: string;
    readonly agent: string;
    readonly account: string | null;
    /** Its place in the chain: an id that comes back is another link. */
    readonly link: number;
  }[];
}

/** Its details are there where they were asked for. */
type DetailedLink = LinkView & Partial<LinkDetails>;

export interface UsageView {
  readonly by: UsageBy;
  readonly rows: readonly UsageRow[];
  readonly total: Omit<UsageRow, "name">;
}

/** All of it where no limit is given. */
interface PageQuery {
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string;
}

export interface RecordApi {
  getChain: {
    readonly params: OfConversation;
    readonly query: { readonly details?: boolean };
    readonly response: OfConversation & { readonly links: readonly DetailedLink[] };
  };
  listStamps: {
    readonly params: OfConversation;
    readonly query: {
      readonly entry?: string;
      readonly entries?: readonly string[];
      readonly upstream?: string;
    };
    readonly response: OfConversation & { readonly stamps: readonly Stamp[] };
  };
  listEffects: {
    readonly params: OfConversation;
    readonly query: PageQuery;
    readonly response: OfConversation & {
      readonly effects: readonly EffectRow[];
      readonly cursor: string | null;
    };
  };
  getUsage: {
    readonly params: OfConversation;
    readonly query: { readonly by?: UsageBy };
    readonly response: UsageView;
  };
  listIssues: {
    readonly params: OfConversation;
    readonly query: PageQuery;
    readonly response: OfConversation & {
      readonly issues: readonly Issue[];
      readonly cursor: string | null;
    };
  };
  listWaiting: {
    readonly params: OfConversation;
    readonly response: OfConversation & {
      /** Words that wait to be delivered. */
      readonly queue: readonly Queued[];
      /** Calls that wait for a person. */
      readonly asked: readonly PermissionAsked[];
    };
  };
}

const group = "What happened";
export const usageBy: Schema<UsageBy> = choice(["day", "model", "conversation"], "model unless told");
const usageRow: Schema<UsageRow> = named(
  "UsageRow",
  open<UsageRow>({
    name: text(),
    inputTokens: count(),
    outputTokens: count(),
    cacheReadTokens: count(),
    cacheWriteTokens: count(),
    costMicros: nullable(count()),
    unpricedAnswers: count(),
  }),
);
/** What every answer about usage has. */
export const usageMembers: {
  readonly by: Schema<UsageBy>;
  readonly rows: Schema<readonly UsageRow[]>;
  readonly total: Schema<Omit<UsageRow, "name">>;
} = {
  by: usageBy,
  rows: list(usageRow),
  total: open<Omit<UsageRow, "name">>({
    inputTokens: count(),
    outputTokens: count(),
    costMicros: nullable(count()),
    unpricedAnswers: count(),
  }),
};

export const RECORD_ROUTES: RoutesOf<RecordApi> = {
  getChain: {
    method: "GET",
    path: "/api/conversations/{conversation}/chain",
    right: "read",
    group,
    summary: "Lists the upstream sessions it has held, why each began and what it carried",
    params: ofConversation,
    query: object<RecordApi["getChain"]["query"]>({
      details: optional(
        flag("also how many messages each carried, what prior context it was sent and how it ended"),
      ),
    }),
    response: answer<RecordApi["getChain"]["response"]>({
      conversation: text(),
      links: list(link),
    }),
  },
  listStamps: {
    method: "GET",
    path: "/api/conversations/{conversation}/stamps",
    right: "read",
    group,
    summary:
      "Says which sessions each message was sent to or came from; of one message, of some, or of one session",
    params: ofConversation,
    query: object<RecordApi["listStamps"]["query"]>({
      entry: optional(id),
      entries: optional(list(id, { max: 200 })),
      upstream: optional(text({ min: 1, max: 1_000 })),
    }),
    response: answer<RecordApi["listStamps"]["response"]>({
      conversation: text(),
      stamps: list(
        named(
          "Stamp",
          open<Stamp>({
            entry: text(),
            upstreams: list(open({ id: text(), agent: text(), account: nullable(text()), link: count() })),
          }),
        ),
      ),
    }),
  },
  listEffects: {
    method: "GET",
    path: "/api/conversations/{conversation}/effects",
    right: "read",
    group,
    summary: "Lists what its tools did, on every branch",
    params: ofConversation,
    query: object<PageQuery>({ limit: optional(pageLimit), cursor: optional(cursor) }),
    response: answer<RecordApi["listEffects"]["response"]>({
      conversation: text(),
      cursor: nextCursor,
      effects: list(
        named(
          "Effect",
          open<EffectRow>({
            call: text(),
            name: text(),
            input: anything(),
            state: choice(["done", "failed", "unknown", "not_started"]),
            how: nullable(choice(["refused", "stopped"])),
          }),
        ),
      ),
    }),
  },
  getUsage: {
    method: "GET",
    path: "/api/conversations/{conversation}/usage",
    right: "read",
    group,
    summary: "Adds up what it used; what a fork inherited counts where it was spent",
    params: ofConversation,
    query: object<{ readonly by?: UsageBy }>({ by: optional(usageBy) }),
    response: answer<UsageView>(usageMembers),
  },
  listIssues: {
    method: "GET",
    path: "/api/conversations/{conversation}/issues",
    right: "read",
    group,
    summary: "Lists what a person should look at",
    params: ofConversation,
    query: object<PageQuery>({ limit: optional(pageLimit), cursor: optional(cursor) }),
    response: answer<RecordApi["listIssues"]["response"]>({
      conversation: text(),
      issues: list(issue),
      cursor: nextCursor,
    }),
  },
  listWaiting: {
    method: "GET",
    path: "/api/conversations/{conversation}/waiting",
    right: "read",
    group,
    summary: "Lists words that wait to be delivered and calls that wait for a person",
    params: ofConversation,
    response: answer<RecordApi["listWaiting"]["response"]>({
      conversation: text(),
      queue: list(open<Queued>({ steer: text(), content: list(anything()), acceptedAt: text() })),
      asked: list(open<PermissionAsked>({ request: text(), call: text(), tool: text(), input: anything() })),
    }),
  },
};
