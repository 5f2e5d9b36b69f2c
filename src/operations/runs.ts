import type { UsageSum } from "#log/add-usage";
import { type HydratedRun, runNotFound } from "#conversation/hydrate";
import type { Run } from "#log/runs/run-row";
import { hydratedText } from "#transfer/context-text";
import { JsonText, operation } from "./operation.ts";
import {
  answer,
  anything,
  choice,
  count,
  cursor,
  flag,
  idField,
  list,
  named,
  nextCursor,
  nullable,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
  time,
  usageFields,
} from "./schemas.ts";

const row = { group: "Across conversations", access: "read", kind: "read" } as const;
const RUNS_PAGE = 50;
const runName = text({ min: 1, max: 512 });
const ofRun = { run: runName, conversation: optional(idField) };
const usage: Schema<UsageSum> = named("Usage", open<UsageSum>(usageFields));
const run: Schema<Run> = named(
  "Run",
  open<Run>({
    run: text(),
    conversation: text(),
    trigger: open({ type: text(), id: nullable(text()) }),
    model: nullable(text()),
    status: choice(["running", "completed", "failed"]),
    error: nullable(open({ message: text({ max: 100_000 }), code: nullable(text()) })),
    usage,
    startSeq: count(),
    highWater: count(),
    startedAt: text(),
    completedAt: nullable(text()),
  }),
);

export const listRuns = operation({
  ...row,
  summary: "List runs: trigger, time, status and cost",
  http: "GET /api/runs",
  cli: "runs [conversation]",
  input: {
    conversation: optional(idField),
    mailbox: optional(text({ max: 1_000 })),
    trigger: optional(text({ max: 1_000 })),
    since: optional(time),
    until: optional(time),
    newestFirst: optional(flag()),
    limit: optional(pageLimit),
    cursor: optional(cursor),
  },
  output: answer({ runs: list(run), next: nextCursor }),
  run: ({ limit = RUNS_PAGE, ...request }, { holdfast }) => holdfast.runPage({ limit, ...request }),
});

export const getRun = operation({
  ...row,
  summary: "Show a run and its totals",
  http: "GET /api/runs/{run}",
  input: ofRun,
  output: run,
  async run({ run: id, ...within }, { holdfast }) {
    const { conversation = null } = within;
    const one = await holdfast.run(id, within);
    if (one === null) throw runNotFound(id, conversation);
    return one;
  },
});

export const forkRun = operation({
  ...row,
  access: "write",
  kind: "act",
  summary:
    "Fork at any message of a run and start a run that continues it, with another model, tools or task text",
  http: "POST /api/runs/{run}/forks",
  status: 201,
  input: {
    run: runName,
    conversation: optional(idField),
    at: optional(idField),
    id: optional(idField),
    model: optional(text({ min: 1, max: 200 })),
    tools: optional(list(text({ min: 1, max: 200 }), { max: 1_000 })),
    system: optional(text({ min: 1, max: 1_000_000 })),
  },
  local: { cwd: optional(text({ max: 4_096 })) },
  output: answer({ conversation: text(), run: text(), source: text(), entry: text() }),
  async run({ run: id, system, ...options }, { holdfast, key }) {
    const forked = await holdfast.forkRun(id, {
      ...options,
      ...(key === undefined ? {} : { key }),
      ...(system === undefined ? {} : { promptPatch: { system } }),
    });
    const { origin, leaf } = await forked.conversation.head();
    return {
      conversation: forked.conversation.id,
      run: forked.run,
      source: origin?.source ?? forked.conversation.id,
      entry: origin?.entry ?? leaf.id,
    };
  },
});

export const hydrate = operation({
  ...row,
  summary: "Show everything about a run: inputs, messages, next request and state",
  http: "GET /api/runs/{run}/hydrate",
  cli: "runs show run",
  input: ofRun,
  output: named(
    "HydratedRun",
    open<HydratedRun>({
      run,
      seeds: list(anything()),
      messages: list(anything()),
      context: open({ messages: list(anything()) }),
      totals: open({ steps: count(), prompts: count(), usage }),
    }),
  ),
  run: async ({ run: id, ...within }, { holdfast }) =>
    new JsonText(hydratedText(await holdfast.exactRun(id, within))),
});
