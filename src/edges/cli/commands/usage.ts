import { isUnpriced } from "#agent/models/model-table";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { Usage } from "#log/message";
import { decodeEntry } from "#log/codec";
import { DailyUsage } from "#log/projections/daily-usage";
import { answer, type Call, type Command, remark } from "#edges/cli/command";
import { findConversation } from "#edges/cli/address";
import { costText } from "#edges/cli/view/usage-text";
import { safeLine } from "#edges/cli/terminal/terminal";

const WAYS = ["day", "model", "conversation"] as const;
type Way = (typeof WAYS)[number];

type Total = Required<Usage>;

interface Counted {
  readonly name: string;
  readonly total: Total;
  /** Tokens of models whose price is not known are in no cost. */
  readonly isWhole: boolean;
}

export const usage: Command = {
  name: "usage",
  summary: "Shows the tokens a conversation, or all of them, used, and what they cost",
  usage: ["[ID] [--by day|model|conversation]"],
  about: `Every attempt counts, also one that failed, was cancelled or was made again. What a fork
inherited was paid by its source and counts there. Input is what came from no cache. Where the
price of a model is not known the cost is shown as unknown, or as "at least" where others are
known; with --json it is null, or costIsWhole is false.

  --by WHAT  day (in UTC), model (unless told) or conversation`,
  examples: ["holdfast usage", "holdfast usage ID --by day", "holdfast usage --by conversation --json"],
  options: { by: { type: "string" } },
  arity: [0, 1],
  async run(call) {
    const asked = call.flags.text("by") ?? "model";
    const by = WAYS.find((way) => way === asked);
    if (by === undefined)
      throw new LogError("invalid_request", `--by takes ${WAYS.join(", ")}, not "${asked}"`);
    const holdfast = await call.open({ readOnly: true });
    const [id] = call.args;
    const rows = new UsageRows();
    if (id === undefined) await countAll(call, { holdfast, by, rows });
    else await count(await findConversation(holdfast, id), by, rows);
    const counted = rows.result();
    if (counted.length === 0 && !call.json) return remark(call, "Nothing was used yet.");
    return show(call, by, counted);
  },
};

async function countAll(
  call: Call,
  { holdfast, by, rows }: { readonly holdfast: Holdfast; readonly by: Way; readonly rows: UsageRows },
): Promise<void> {
  for await (const { conversation } of holdfast.listAll())
    try {
      await count(holdfast.unopened(conversation), by, rows);
    } catch (error) {
      if (!isLogError(error) || (error.group !== "damaged" && error.group !== "missing")) throw error;
      await remark(call, safeLine(`Left out, for it cannot be read: ${conversation} (${error.message})`));
    }
}

async function count(conversation: Conversation, by: Way, rows: UsageRows): Promise<void> {
  if (by !== "day") {
    const { byModel } = await conversation.usage();
    for (const [model, used] of Object.entries(byModel))
      rows.add(by === "model" ? model : conversation.id, model, used);
    return;
  }
  const days = new DailyUsage();
  for await (const stored of conversation.log()) days.add(decodeEntry(stored));
  for (const { day, model, usage: used } of days.result()) rows.add(day, model, { ...NOTHING, ...used });
}

/** Totals by name. */
class UsageRows {
  readonly #rows = new Map<string, Counted>();

  add(name: string, model: string, used: Total): void {
    const row = this.#rows.get(name) ?? { name, total: NOTHING, isWhole: true };
    const isWhole = row.isWhole && !isUnpriced(model, used);
    this.#rows.set(name, { name, total: sum([row.total, used]), isWhole });
  }

  result(): readonly Counted[] {
    return [...this.#rows.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }
}

const NOTHING: Total = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

function sum(totals: readonly Total[]): Total {
  const all = { ...NOTHING };
  for (const one of totals)
    for (const counter of Object.keys(NOTHING) as (keyof Total)[]) all[counter] += one[counter];
  return all;
}

async function show(call: Call, by: Way, counted: readonly Counted[]): Promise<void> {
  const all = {
    name: "total",
    total: sum(counted.map(({ total }) => total)),
    isWhole: counted.every(({ isWhole }) => isWhole),
  };
  const { name: _, ...total } = jsonRow(all);
  return answer(call, { by, rows: counted.map(jsonRow), total }, () => {
    const lines = [HEADINGS, ...[...counted, all].map(cells)];
    const widths = HEADINGS.map((__, at) => Math.max(...lines.map((line) => line[at]?.length ?? 0)));
    const row = (line: readonly string[]): string =>
      line
        .map((cell, at) => (at === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[at] ?? 0)))
        .join("  ");
    return lines.map(row).join("\n");
  });
}

interface JsonRow extends Omit<Total, "costMicros"> {
  readonly name: string;
  readonly costMicros: number | null;
  readonly costIsWhole: boolean;
}

function jsonRow({ name, total, isWhole }: Counted): JsonRow {
  const costMicros = !isWhole && total.costMicros === 0 ? null : total.costMicros;
  return { name, ...total, costMicros, costIsWhole: isWhole };
}

const HEADINGS = ["", "input", "cache read", "cache write", "output", "cost"];

function cells({ name, total, isWhole }: Counted): readonly string[] {
  const { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens, costMicros } = total;
  const counts = [inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens].map(String);
  return [safeLine(name), ...counts, costText(costMicros, isWhole)];
}
