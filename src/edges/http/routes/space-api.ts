import type { HydratedRun } from "#conversation/runs/hydrate";
import type { Run } from "#log/runs/run-row";
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

interface Found {
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

/** What is to be other than in the run. */
interface ForkRunBody {
  readonly conversation?: string;
  readonly at?: string;
  readonly id?: string;
  readonly model?: string;
  readonly tools?: readonly string[];
  readonly system?: string;
}

/** Operations on a space as a whole. */
export interface SpaceApi {
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
  forkRun: {
    readonly params: OfRun;
    readonly body: ForkRunBody;
    readonly response: {
      readonly conversation: string;
      /** The run that is begun in it. */
      readonly run: string;
      readonly source: string;
      readonly entry: string;
    };
  };
  hydrate: {
    readonly params: OfRun;
    readonly query: { readonly conversation?: string };
    readonly response: HydratedRun;
  };
}

const group = "Across conversations";
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
  forkRun: {
    method: "POST",
    path: "/api/runs/{run}/forks",
    right: "write",
    writes: true,
    status: 201,
    group,
    summary:
      "Makes a fork from any message of a run, in which a run that continues it is begun: with another model, tools or words of its task",
    params: runParams,
    body: object<ForkRunBody>({
      conversation: optional(id),
      at: optional(id),
      id: optional(id),
      model: optional(text({ min: 1, max: 200 })),
      tools: optional(list(text({ min: 1, max: 200 }), { max: 1_000 })),
      system: optional(text({ min: 1, max: 1_000_000 })),
    }),
    response: answer<SpaceApi["forkRun"]["response"]>({
      conversation: text(),
      run: text(),
      source: text(),
      entry: text(),
    }),
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
