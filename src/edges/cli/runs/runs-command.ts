import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Run } from "#log/runs/run-row";
import { check } from "#operations/operation";
import { listRuns } from "#operations/runs";
import { findId, pagesOf } from "#edges/cli/operation-command";
import { type Call, type Command, jsonLine, remark } from "#edges/cli/command";
import { plainRunLine, runHeading, runLine } from "./run-view.ts";

const PAGE = 100;

export const runsCommand: Command = {
  name: "runs",
  summary: "Lists runs: what began when and by what, how it went and what it cost",
  usage: ["[ID] [--mailbox M] [--trigger T] [--since TIME] [--until TIME] [--along] [-n COUNT]"],
  about: `A run is what happens in a conversation from one trigger on: an email, a timer, a chat.
Oldest first, those of one conversation in the order of its log. In a pipe one line each, with a tab
between run, conversation, time, status, trigger and mailbox. With --json one object per line.

  ID           only those of this conversation
  --mailbox M  only those of this mailbox
  --trigger T  only those that this type of trigger began, such as email or chat
  --since TIME --until TIME
               only those begun at that time or later, and before that one
  --along      with ID: also those of the conversations that it was forked from or that caused it
  -n COUNT     at most this many, the newest of them`,
  examples: [
    "holdfast runs --mailbox billing -n 10",
    "holdfast runs ID --json | jq .usage.costMicros",
    "holdfast runs ID --along --trigger email",
  ],
  options: {
    mailbox: { type: "string" },
    trigger: { type: "string" },
    since: { type: "string" },
    until: { type: "string" },
    along: { type: "boolean" },
    limit: { type: "string", short: "n" },
  },
  arity: [0, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const { out } = call.io;
    const view = { columns: out.columns, style: out.style };
    let shown = 0;
    for await (const run of runsOf(call, holdfast)) {
      if (shown++ === 0 && out.isTerminal && !call.json) await out.write(`${runHeading(view)}\n`);
      const line = out.isTerminal ? runLine(run, Date.now(), view) : plainRunLine(run);
      await out.write(call.json ? jsonLine(run) : `${line}\n`);
    }
    if (shown === 0 && !call.json) await remark(call, "No run is like that.");
  },
};

async function* runsOf({ args: [id], flags }: Call, holdfast: Holdfast): AsyncGenerator<Run> {
  const filter = Object.fromEntries(
    ["mailbox", "trigger", "since", "until"].flatMap((name) => {
      const text = flags.text(name);
      return text === undefined ? [] : [[name, text] as const];
    }),
  );
  const isAlong = flags.has("along");
  if (id === undefined && isAlong)
    throw new LogError("invalid_request", "--along goes with a conversation: name it");
  const conversation = id === undefined ? undefined : await findId(holdfast, id);
  const input = { ...filter, ...(conversation === undefined ? {} : { conversation }) };
  const limit = flags.count("limit");
  check(listRuns, input);
  const read = (newestFirst: boolean): AsyncGenerator<Run> =>
    isAlong && conversation !== undefined
      ? holdfast.runs({ ...filter, along: conversation, newestFirst })
      : eachRun(holdfast, { ...input, newestFirst });
  if (limit === undefined) return yield* read(false);
  const newest: Run[] = [];
  if (limit > 0) for await (const run of read(true)) if (newest.push(run) === limit) break;
  yield* newest.toReversed();
}

async function* eachRun(holdfast: Holdfast, input: object): AsyncGenerator<Run> {
  for await (const { runs } of pagesOf(listRuns, { ...input, limit: PAGE }, { holdfast })) yield* runs;
}
