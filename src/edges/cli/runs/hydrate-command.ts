import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";
import type { Run } from "#log/runs/run-row";
import { seedMessages } from "#log/runs/seed-messages";
import { systemClock } from "#conversation/clock";
import type { HydratedRun } from "#conversation/hydrate";
import { check, type JsonText, perform } from "#operations/operation";
import { hydrate } from "#operations/runs";
import { findId } from "#edges/cli/operation-command";
import type { Command, Sink } from "#edges/cli/command";
import { blockPreview } from "#transfer/views/entry-preview";
import { costText } from "#edges/cli/view/usage-text";
import { clockOf } from "#edges/cli/view/time";
import { counted, safeLine, safeText, wrap } from "#edges/cli/terminal/terminal";
import { toolLines } from "#edges/cli/terminal/printer";
import { triggerText } from "./run-view.ts";

export const hydrateCommand: Command = {
  name: "hydrate",
  summary: "Shows a run as it was: seeds, messages, what its next request would send",
  usage: ["RUN [--conversation ID]"],
  about: `Only the run's own stretch of the log is read: two runs of one conversation are never mixed. RUN is
the whole id, as \`holdfast runs\` lists it. --json prints one object: run (the row that \`runs\` prints),
seeds (what the model saw when it began), messages (those of the run alone), context (what its next
request would send), state and totals, all as stored. Without --json long tool results are shortened.

  --conversation ID  the conversation it is in, where an import has brought the same run twice; or
                     a fork, which shows the run as far as it inherited it`,
  examples: ["holdfast hydrate RUN", "holdfast hydrate RUN --json | jq .context.messages"],
  options: { conversation: { type: "string" } },
  arity: [1, 1],
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
      await out.write(`\n${said("seed · system", [{ type: "text", text: system }], out)}\n`);
    for (const { role, content } of messages) await out.write(`\n${said(`seed · ${role}`, content, out)}\n`);
    for (const { message, hidden } of hydrated.messages)
      await out.write(`\n${said(hidden ? `${message.role} · hidden` : message.role, shown(message), out)}\n`);
    for (const issue of hydrated.context.issues)
      await out.write(`\n${out.style.yellow("⚠")} ${safeLine(issue.message)}\n`);
  },
};

function headLines({ run, totals, context, state }: HydratedRun): readonly string[] {
  const { usage } = totals;
  const tokens = `${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${costText(usage)}`;
  return [
    `${run.run} · ${triggerText(run)} · ${statusText(run)}`,
    `conversation ${run.conversation} · begun ${clockOf(run.startedAt)}${run.continues === null ? "" : ` · continues ${run.continues}`}`,
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
function shown(message: Message): readonly ContentBlock[] {
  if (message.role !== "toolResult") return message.content;
  const output = message.content.map(blockPreview).join("\n");
  return [{ type: "text", text: toolLines(message.isError === true, output).join("\n") }];
}

function said(name: string, content: readonly ContentBlock[], { style, columns }: Sink): string {
  const lines = content.flatMap((block) => wrap(safeText(blockPreview(block)), Math.max(20, columns - 2)));
  return [style.bold(safeLine(name)), ...lines.map((line) => `  ${line}`.trimEnd())].join("\n");
}
