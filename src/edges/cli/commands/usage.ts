import { systemClock } from "#conversation/clock";
import { type OutputOf, perform, valueOf } from "#operations/operation";
import { getSpaceUsage, getUsage } from "#operations/usage";
import { answer, type Command, remark } from "#edges/cli/command";
import { findId } from "#edges/cli/operation-command";
import type { UsageRow } from "#transfer/views/usage-rows";
import { safeLine } from "#edges/cli/terminal/terminal";
import type { UsageSum } from "#log/add-usage";

export const usage: Command = {
  name: "usage",
  summary: "Show tokens and cost, by model, day or conversation",
  forms: ["[ID]"],
  about: `Counts every attempt, including failed, canceled and repeated ones. A fork counts its own usage; its
source counts what the fork inherited. INPUT is tokens that came from no cache. If a price is
unknown, the cost is "unknown" or "at least"; with --json costMicros is null and
unpricedAnswers counts the answers without a price. Replays have a line of their own.`,
  examples: ["holdfast usage", "holdfast usage ID --by day", "holdfast usage --by conversation --json"],
  options: { "--by day|model|conversation": "one line for each (days are UTC; default: model)" },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const context = { holdfast, clock: systemClock };
    const [id] = call.args;
    const by = call.flags.text("by");
    const input = by === undefined ? {} : { by };
    const output: Partial<OutputOf<typeof getSpaceUsage>> & OutputOf<typeof getUsage> =
      id === undefined
        ? valueOf(await perform(getSpaceUsage, input, context))
        : valueOf(await perform(getUsage, { ...input, conversation: await findId(holdfast, id) }, context));
    const { rows, total, replays, leftOut = [] } = output;
    for (const one of leftOut)
      await remark(
        call,
        `Left out, because it cannot be read: ${safeLine(one)}. \`holdfast doctor\` says why.`,
      );
    if (rows.length === 0 && !call.json) return remark(call, "No usage yet.");
    const apart = replays === undefined ? [] : [{ name: "of it in replays", ...replays }];
    return answer(call, output, () => table([...rows, { name: "total", ...total }, ...apart]));
  },
};

function table(rows: readonly UsageRow[]): string {
  const lines = [HEADINGS, ...rows.map(cells)];
  const widths = HEADINGS.map((__, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const row = (line: readonly string[]): string =>
    line
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0),
      )
      .join("  ");
  return lines.map(row).join("\n");
}

const HEADINGS = ["", "input", "cache read", "cache write", "output", "cost"];

function cells(row: UsageRow): readonly string[] {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = row;
  const counts = [inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens].map(String);
  return [safeLine(row.name), ...counts, costText(row)];
}

/** Microdollars as people read them. */
export function dollarText(micros: number): string {
  return `$${(micros / 1_000_000).toFixed(micros !== 0 && micros < 10_000 ? 6 : 4)}`;
}

/** A cost of which some, or all, may be unknown. */
export function costText({ costMicros, unpricedAnswers }: UsageSum): string {
  if (costMicros === null) return "unknown";
  if (unpricedAnswers === 0) return dollarText(costMicros);
  const answers = unpricedAnswers === 1 ? "1 answer" : `${unpricedAnswers} answers`;
  return `at least ${dollarText(costMicros)}, ${answers} without a known price`;
}

/** What a conversation used, in one line. */
export function usageText(sum: UsageSum): string {
  const { inputTokens, outputTokens, cacheReadTokens } = sum;
  const cached = cacheReadTokens === 0 ? "" : ` (and ${cacheReadTokens} from the cache)`;
  return `${inputTokens} tokens in${cached}, ${outputTokens} out; cost ${costText(sum)}`;
}
