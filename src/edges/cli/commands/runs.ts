import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Run } from "#log/runs/run-row";
import { check, type JsonText, perform } from "#operations/operation";
import { listRuns, hydrate } from "#operations/runs";
import { findId, pagesOf } from "#edges/cli/operation-command";
import { type Call, type Command, commandGroup, jsonLine, remark, type Sink } from "#edges/cli/command";
import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";
import { seedMessages } from "#log/runs/seed-messages";
import { systemClock } from "#conversation/clock";
import type { HydratedRun } from "#conversation/hydrate";
import { blockPreview } from "#transfer/views/entry-preview";
import { costText } from "./usage.ts";
import { clockOf, ageOf } from "#edges/cli/terminal/time";
import { counted, safeLine, safeText, wrap, fit, pad, type Style } from "#edges/cli/terminal/terminal";
import { toolLines } from "#edges/cli/terminal/printer";
import { shortId } from "#transfer/views/safe-text";

const PAGE = 100;

const listCommand: Command = {
  name: "runs list",
  summary: "List runs: trigger, time, status and cost",
  forms: ["[ID]"],
  about: `A run is everything that one trigger starts: an email, a timer, a chat. Oldest first. In a pipe
each line has run, conversation, time, status, trigger and mailbox, separated by tabs.`,
  examples: [
    "holdfast runs --mailbox billing -n 10",
    "holdfast runs ID --json | jq .usage.costMicros",
    "holdfast runs ID --along --trigger email",
  ],
  options: {
    "--mailbox NAME": "runs of this mailbox",
    "--trigger TYPE": "runs of this trigger type, such as email or chat",
    "--since TIME": "runs that started at this time or later",
    "--until TIME": "runs that started before this time",
    "--along": "with ID: also runs of the conversations it was forked from or caused by",
    "-n, --limit COUNT": "the newest runs only, at most this many",
  },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const { out } = call.io;
    const view = { columns: out.columns, style: out.style };
    let count = 0;
    for await (const run of runsOf(call, holdfast)) {
      if (count++ === 0 && out.isTerminal && !call.json) await out.write(`${runHeading(view)}\n`);
      const line = out.isTerminal ? runLine(run, Date.now(), view) : plainRunLine(run);
      await out.write(call.json ? jsonLine(run) : `${line}\n`);
    }
    if (count === 0 && !call.json) await remark(call, "No runs match.");
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
  const readPages = (newestFirst: boolean): AsyncGenerator<Run> =>
    isAlong && conversation !== undefined
      ? holdfast.runs({ ...filter, along: conversation, newestFirst })
      : eachRun(holdfast, { ...input, newestFirst });
  if (limit === undefined) return yield* readPages(false);
  const newest: Run[] = [];
  if (limit > 0) for await (const run of readPages(true)) if (newest.push(run) === limit) break;
  yield* newest.toReversed();
}

async function* eachRun(holdfast: Holdfast, input: object): AsyncGenerator<Run> {
  for await (const { runs } of pagesOf(listRuns, { ...input, limit: PAGE }, { holdfast })) yield* runs;
}

const showCommand: Command = {
  name: "runs show",
  summary: "Show a run: inputs, messages and its next request",
  forms: ["RUN"],
  about: `RUN is the whole id that \`holdfast runs\` prints. --json prints one object: run, seeds (its inputs,
such as the system prompt), messages, context (its next request), state and totals, all as stored.
Without --json long tool results are shortened.`,
  examples: ["holdfast runs show RUN", "holdfast runs show RUN --json | jq .context.messages"],
  options: {
    "--conversation ID":
      "the conversation of the run, if several have it after an import; or a fork, to see the part it inherited",
  },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const [run = ""] = call.args;
    const name = call.flags.text("conversation");
    const within = name === undefined ? {} : { conversation: await findId(holdfast, name) };
    const { out } = call.io;
    if (call.json) {
      const output = await perform(hydrate, { run, ...within }, { holdfast, clock: systemClock });
      return out.write(`${(output as JsonText).text}\n`);
    }
    check(hydrate, { run, ...within });
    const hydrated = await holdfast.exactRun(run, within);
    for (const line of headLines(hydrated)) await out.write(`${out.style.dim(safeLine(line))}\n`);
    const { system, messages } = seedMessages(hydrated.seeds);
    if (system !== null)
      await out.write(`\n${section("seed · system", [{ type: "text", text: system }], out)}\n`);
    for (const { role, content } of messages)
      await out.write(`\n${section(`seed · ${role}`, content, out)}\n`);
    for (const { message, hidden } of hydrated.messages)
      await out.write(
        `\n${section(hidden ? `${message.role} · hidden` : message.role, displayBlocks(message), out)}\n`,
      );
    for (const issue of hydrated.context.issues)
      await out.write(`\n${out.style.yellow("⚠")} ${safeLine(issue.message)}\n`);
  },
};

function headLines({ run, totals, context, state }: HydratedRun): readonly string[] {
  const { usage } = totals;
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${costText(usage)}`;
  return [
    `${run.run} · ${triggerText(run)} · ${statusText(run)}`,
    `conversation ${run.conversation} · started ${clockOf(run.startedAt)}${run.continues === null ? "" : ` · continues ${run.continues}`}`,
    `${counted(totals.prompts, "prompt")}, ${counted(totals.steps, "step")} · ${tokens}`,
    `its next request sends ${counted(context.messages.length, "message")}${context.system === null ? "" : " and a system prompt of its own"}`,
    ...(state === null ? [] : [`state ${stateText(state)}`]),
  ];
}

function statusText({ status, error }: Run): string {
  return error === null ? status : `${status}: ${error.message}`;
}

const STATE_CHARS = 200;

function stateText(state: Json): string {
  const text = JSON.stringify(state);
  return text.length <= STATE_CHARS ? text : `${text.slice(0, STATE_CHARS)}…`;
}

/** A tool's result by its beginning and its end; --json has all of it. */
function displayBlocks(message: Message): readonly ContentBlock[] {
  if (message.role !== "toolResult") return message.content;
  const output = message.content.map(blockPreview).join("\n");
  return [{ type: "text", text: toolLines(message.isError === true, output).join("\n") }];
}

function section(name: string, content: readonly ContentBlock[], { style, columns }: Sink): string {
  const lines = content.flatMap((block) => wrap(safeText(blockPreview(block)), Math.max(20, columns - 2)));
  return [style.bold(safeLine(name)), ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}

const [RUN, BEGUN, STATUS, CONVERSATION, TRIGGER_MIN] = [36, 6, 11, 8, 9]; // together 80 columns, with two between each

interface RunRowStyle {
  readonly columns: number;
  readonly style: Style;
}

function runHeading({ style }: RunRowStyle): string {
  const cells = [pad("RUN", RUN), pad("BEGUN", BEGUN), pad("STATUS", STATUS), pad("IN", CONVERSATION)];
  return style.dim([...cells, "TRIGGER"].join("  "));
}

/** For a person at a terminal; a run is named by its whole id, which is not cut where it is one of ours. */
function runLine(run: Run, nowMs: number, { columns, style }: RunRowStyle): string {
  const paint = run.status === "failed" ? style.red : run.status === "running" ? style.yellow : style.green;
  const cells = [
    style.cyan(pad(fit(safeLine(run.run), RUN), RUN)),
    style.dim(pad(ageOf(run.startedAt, nowMs), BEGUN)),
    paint(pad(fit(safeLine(run.error?.code ?? run.status), STATUS), STATUS)),
    pad(fit(shortId(run.conversation), CONVERSATION), CONVERSATION),
  ];
  const used = RUN + BEGUN + STATUS + CONVERSATION + 2 * cells.length;
  const from = run.mailbox === null ? "" : ` · ${run.mailbox}`;
  const trigger = safeLine(`${triggerText(run)}${from}`);
  return `${cells.join("  ")}  ${fit(trigger, Math.max(TRIGGER_MIN, columns - used))}`.trimEnd();
}

/** For a pipe: whole ids, a tab between members. */
function plainRunLine(run: Run): string {
  const { run: id, conversation, status, startedAt, mailbox } = run;
  const cells = [id, conversation, startedAt, status, triggerText(run), mailbox ?? ""];
  return cells
    .map((cell) => safeLine(cell))
    .join("\t")
    .trimEnd();
}

function triggerText({ trigger: { type, id } }: Pick<Run, "trigger">): string {
  return id === null ? type : `${type} ${id}`;
}

export const runsCommand: Command = commandGroup(
  {
    name: "runs",
    summary: "List runs, or show one",
    about: listCommand.about,
    examples: [...listCommand.examples, ...showCommand.examples],
  },
  [listCommand, showCommand],
);
