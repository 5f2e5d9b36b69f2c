import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { findConversation } from "#edges/cli/address";
import {
  countUsage,
  totalOf,
  type UsageBy,
  usageJson,
  type UsageRow,
  UsageRows,
  USAGE_BY,
} from "#transfer/shown/usage-rows";
import { costText } from "#edges/cli/view/usage-text";
import { safeLine } from "#edges/cli/terminal/terminal";

export const usage: Command = {
  name: "usage",
  summary: "Shows the tokens a conversation, or all of them, used, and what they cost",
  usage: ["[ID] [--by day|model|conversation]"],
  about: `Every attempt counts, also one that failed, was cancelled or was made again. What a fork
inherited was paid by its source and counts there. Input is what came from no cache. An answer
without a known price is in no cost: the cost is then unknown, or "at least" the rest. With --json
costMicros is null where no cost is known, and unpricedAnswers counts these answers. The total
includes replays, which also have a line of their own.

  --by WHAT  day (in UTC), model (unless told) or conversation`,
  examples: ["holdfast usage", "holdfast usage ID --by day", "holdfast usage --by conversation --json"],
  options: { by: { type: "string" } },
  arity: [0, 1],
  async run(call) {
    const asked = call.flags.text("by") ?? "model";
    const by = USAGE_BY.find((one) => one === asked);
    if (by === undefined)
      throw new LogError("invalid_request", `--by takes ${USAGE_BY.join(", ")}, not "${asked}"`);
    const holdfast = await call.open({ readOnly: true });
    const [id] = call.args;
    const [rows, replays] = [new UsageRows(), new UsageRows()];
    if (id === undefined) await countAll(call, { holdfast, by, rows, replays });
    else await countUsage(await findConversation(holdfast, id), by, rows);
    const counted = rows.result();
    if (counted.length === 0 && !call.json) return remark(call, "Nothing was used yet.");
    return show(call, by, counted, replays.result());
  },
};

interface CountingAll {
  readonly holdfast: Holdfast;
  readonly by: UsageBy;
  readonly rows: UsageRows;
  /** What of it replays have used, so that it can be told from what work has cost. */
  readonly replays: UsageRows;
}

async function countAll(call: Call, { holdfast, by, rows, replays }: CountingAll): Promise<void> {
  for await (const { conversation, summary } of holdfast.listAll())
    try {
      await countUsage(holdfast.handle(conversation), by, rows);
      if (summary?.run?.trigger === REPLAY_TRIGGER)
        await countUsage(holdfast.handle(conversation), by, replays);
    } catch (error) {
      if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
      await remark(call, safeLine(`Left out, for it cannot be read: ${conversation} (${error.message})`));
    }
}

async function show(
  call: Call,
  by: UsageBy,
  counted: readonly UsageRow[],
  replays: readonly UsageRow[],
): Promise<void> {
  const all = { name: "total", ...totalOf(counted) };
  const apart = replays.length === 0 ? [] : [{ name: "of it in replays", ...totalOf(replays) }];
  const value = {
    ...usageJson(by, counted),
    ...(apart.length === 0 ? {} : { replays: usageJson(by, replays).total }),
  };
  return answer(call, value, () => {
    const lines = [HEADINGS, ...[...counted, all, ...apart].map(cells)];
    const widths = HEADINGS.map((__, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
    const row = (line: readonly string[]): string =>
      line
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join("  ");
    return lines.map(row).join("\n");
  });
}

const HEADINGS = ["", "input", "cache read", "cache write", "output", "cost"];

function cells(row: UsageRow): readonly string[] {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens } = row;
  const counts = [inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens].map(String);
  return [safeLine(row.name), ...counts, costText(row)];
}
