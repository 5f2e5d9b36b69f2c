import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { readSummary } from "#conversation/list-conversations";
import { NO_USAGE } from "#log/add-usage";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { DailyUsage } from "#log/projections/daily-usage";
import { UsageRows, usageJson } from "#transfer/shown/usage-rows";
import type { DailyRow, FigureApi } from "./figure-api.ts";

type Daily = FigureApi["getDailyUsage"];

/** What was used on each day, by all conversations or by one; what cannot be read is named. */
export async function readDailyRows(holdfast: Holdfast, asked: Daily["query"]): Promise<Daily["response"]> {
  const rows = new Map<string, { readonly of: Pick<DailyRow, "day" | "model" | "replay">; sum: UsageRows }>();
  const leftOut: string[] = [];
  const add = async (conversation: Conversation): Promise<void> => {
    const { summary } = await conversation.head();
    const { run } = summary ?? (await readSummary(conversation.space, conversation.id));
    const days = new DailyUsage();
    for await (const stored of conversation.log()) days.add(decodeEntry(stored));
    for (const { day, model, usage } of days.result()) {
      if (day < (asked.since ?? "") || day > (asked.until ?? "9999")) continue;
      const of = { day, model, replay: run?.trigger === REPLAY_TRIGGER };
      const name = JSON.stringify(of);
      const row = rows.get(name) ?? { of, sum: new UsageRows() };
      row.sum.add(name, model, { ...NO_USAGE, ...usage });
      rows.set(name, row);
    }
  };
  for await (const conversation of asked.conversation === undefined
    ? everyone(holdfast)
    : [await holdfast.conversation(asked.conversation)])
    try {
      await add(conversation);
    } catch (error) {
      const isUnreadable = isLogError(error) && (error.group === "damaged" || error.group === "missing");
      if (!isUnreadable || asked.conversation !== undefined) throw error;
      leftOut.push(conversation.id);
    }
  const told = [...rows.values()].map(({ of, sum }): DailyRow => {
    const { total } = usageJson("day", sum.result());
    return Object.assign(total, of);
  });
  return { rows: told.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)), leftOut };
}

async function* everyone(holdfast: Holdfast): AsyncGenerator<Conversation> {
  for await (const { conversation } of holdfast.listAll())
    yield holdfast.unopened(parseConversationId(conversation));
}

function rank({ day, model, replay }: DailyRow): string {
  return `${day} ${model} ${String(replay)}`;
}
