import type { HydratedRun } from "#conversation/runs/hydrate";
import type { Run } from "#log/runs/run-row";
import type { UsageBy } from "#transfer/shown/usage-rows";
import { usageBy, usageMembers, type UsageView } from "./record-api.ts";
import type { RoutesOf } from "./route.ts";
import { cursor, id, nextCursor, pageLimit, run, time, usage } from "./shared-schemas.ts";
import {
  answer,
  anything,
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

export interface Found {
  readonly conversation: string;
  readonly entry: string;
  readonly seq: number;
  readonly snippet: string;
}

interface RunsQuery {
  readonly conversation?: string;
  readonly mailbox?: string;
  readonly trigger?: string;
  readonly since?: string;
  readonly until?: string;
  readonly newestFirst?: boolean;
  readonly limit?: number;
  readonly cursor?: string;
}

interface DiffQuery {
  readonly a: string;
  readonly b: string;
  readonly toolsOnly?: boolean;
  readonly stat?: boolean;
  readonly all?: boolean;
}

/** What is compared, of which more is told by docs/guides/diff.md. */
export interface DiffView {
  readonly same: boolean;
  readonly a: object;
  readonly b: object;
  readonly counts: object;
  readonly divergence: object | null;
}

interface OfRun {
  readonly run: string;
}

/** Operations on a space as a whole. */
export interface SpaceApi {
  exportBundle: {
    readonly query: { readonly conversation: readonly string[]; readonly withForks?: boolean };
    readonly response: Uint8Array;
  };
  getSpaceUsage: {
    readonly query: { readonly by?: UsageBy };
    readonly response: UsageView & { readonly leftOut: readonly string[] };
  };
  search: {
    readonly query: { readonly q: string; readonly conversation?: string; readonly limit?: number };
    readonly response: { readonly hits: readonly Found[] };
  };
  diff: { readonly query: DiffQuery; readonly response: DiffView };
  listRuns: {
    readonly query: RunsQuery;
    readonly response: { readonly runs: readonly Run[]; readonly next: string | null };
  };
  getRun: {
    readonly params: OfRun;
    readonly query: { readonly conversation?: string };
    readonly response: Run;
  };
  hydrate: {
    readonly params: OfRun;
    readonly query: { readonly conversation?: string };
    readonly response: HydratedRun;
  };
}

const group = "Across conversations";
const BUNDLED_MAX = 100; // that are named in one address
const runParams: Schema<OfRun> = object<OfRun>({ run: text({ min: 1, max: 512 }) });
const runQuery: Schema<{ readonly conversation?: string }> = object<{ readonly conversation?: string }>({
  conversation: optional(id),
});
const address: Schema<string> = text({
  min: 1,
  max: 300,
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]*(?:@[A-Za-z0-9][A-Za-z0-9._:-]*)?$/,
  about: "ID or ID@ENTRY",
});

export const SPACE_ROUTES: RoutesOf<SpaceApi> = {
  exportBundle: {
    method: "GET",
    path: "/api/bundle",
    right: "read",
    answers: "bytes",
    group,
    summary: "Gives conversations as a bundle, which `holdfast import` reads; made as it is read",
    query: object<SpaceApi["exportBundle"]["query"]>({
      conversation: list(id, { min: 1, max: BUNDLED_MAX }),
      withForks: optional(flag("with all forks of them, and the forks of those")),
    }),
    response: anything<Uint8Array>(),
  },
  getSpaceUsage: {
    method: "GET",
    path: "/api/usage",
    right: "read",
    group,
    summary: "Adds up what all conversations used; those that cannot be read are named",
    query: object<{ readonly by?: UsageBy }>({ by: optional(usageBy) }),
    response: answer<SpaceApi["getSpaceUsage"]["response"]>({ ...usageMembers, leftOut: list(text()) }),
  },
  search: {
    method: "GET",
    path: "/api/search",
    right: "read",
    group,
    summary: "Finds entries that hold every word, newest first",
    query: object<SpaceApi["search"]["query"]>({
      q: text({ min: 1, max: 1_000 }),
      conversation: optional(id),
      limit: optional(pageLimit),
    }),
    response: answer<SpaceApi["search"]["response"]>({
      hits: list(
        named("Found", open<Found>({ conversation: text(), entry: text(), seq: count(), snippet: text() })),
      ),
    }),
  },
  diff: {
    method: "GET",
    path: "/api/diff",
    right: "read",
    group,
    summary: "Compares two branches, forks or replays",
    query: object<DiffQuery>({
      a: address,
      b: address,
      toolsOnly: optional(flag("calls alone are compared")),
      stat: optional(flag("where they part and the totals, not each change")),
      all: optional(flag("also what is the same")),
    }),
    response: named(
      "Diff",
      open<DiffView>({
        same: flag(),
        a: open({ conversation: text() }),
        b: open({ conversation: text() }),
        counts: open({}),
        divergence: nullable(open({ kind: text() })),
      }),
    ),
  },
  listRuns: {
    method: "GET",
    path: "/api/runs",
    right: "read",
    group,
    summary: "Lists runs by the time they began",
    query: object<RunsQuery>({
      conversation: optional(id),
      mailbox: optional(text({ max: 1_000 })),
      trigger: optional(text({ max: 1_000 })),
      since: optional(time),
      until: optional(time),
      newestFirst: optional(flag()),
      limit: optional(pageLimit),
      cursor: optional(cursor),
    }),
    response: answer<SpaceApi["listRuns"]["response"]>({ runs: list(run), next: nextCursor }),
  },
  getRun: {
    method: "GET",
    path: "/api/runs/{run}",
    right: "read",
    group,
    summary: "Shows a run with what it has counted",
    params: runParams,
    query: runQuery,
    response: run,
  },
  hydrate: {
    method: "GET",
    path: "/api/runs/{run}/hydrate",
    right: "read",
    group,
    summary:
      "Gives all that it takes to look into a run: seeds, messages, what its next request would send, state",
    params: runParams,
    query: runQuery,
    response: named(
      "HydratedRun",
      open<HydratedRun>({
        run,
        seeds: list(anything()),
        messages: list(anything()),
        context: open({ messages: list(anything()) }),
        totals: open({ steps: count(), prompts: count(), usage }),
      }),
    ),
  },
};
