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
import type { FigureApi } from "./figure-api.ts";
import type { ConversationCost, DailyRow } from "./usage-answers.ts";

type Daily = FigureApi["getDailyUsage"];

const CONVERSATIONS_MAX = 50;

/** What was used on each day and by which conversations, by all or by one; what cannot be read is named. */
export async function readDailyRows(holdfast: Holdfast, asked: Daily["query"]): Promise<Daily["response"]> {
  const counting = new DailyRows(asked);
  const leftOut: string[] = [];
  for await (const conversation of asked.conversation === undefined
    ? everyone(holdfast)
    : [await holdfast.conversation(asked.conversation)])
    try {
      await counting.add(conversation);
    } catch (error) {
      const isUnreadable = isLogError(error) && (error.group === "damaged" || error.group === "missing");
      if (!isUnreadable || asked.conversation !== undefined) throw error;
      leftOut.push(conversation.id);
    }
  return { ...counting.result(), leftOut };
}

class DailyRows {
  readonly #rows = new Map<
    string,
    { readonly of: Pick<DailyRow, "day" | "model" | "replay">; sum: UsageRows }
  >();
  readonly #conversations: ConversationCost[] = [];
  readonly #asked: Daily["query"];

  constructor(asked: Daily["query"]) {
    this.#asked = asked;
  }

  async add(conversation: Conversation): Promise<void> {
    const { summary, title } = await conversation.head();
    const { run } = summary ?? (await readSummary(conversation.space, conversation.id));
    const replay = run?.trigger === REPLAY_TRIGGER;
    const days = new DailyUsage();
    let [links, rollovers] = [0, 0];
    for await (const stored of conversation.log()) {
      days.add(decodeEntry(stored));
      if (stored.type !== "upstream_link") continue;
      if (links > 0 && this.#isAsked(stored.time.slice(0, 10))) rollovers += 1;
      links += 1;
    }
    const all = new UsageRows();
    for (const { day, model, usage } of days.result()) {
      if (!this.#isAsked(day)) continue;
      const of = { day, model, replay };
      const name = JSON.stringify(of);
      const row = this.#rows.get(name) ?? { of, sum: new UsageRows() };
      const used = { ...NO_USAGE, ...usage };
      row.sum.add(name, model, used);
      all.add(model, model, used);
      this.#rows.set(name, row);
    }
    const counted = all.result();
    if (counted.length === 0 && rollovers === 0) return;
    const { total } = usageJson("model", counted);
    this.#conversations.push({ conversation: conversation.id, title, replay, rollovers, ...total });
  }

  result(): Omit<Daily["response"], "leftOut"> {
    const rows = [...this.#rows.values()].map(({ of, sum }): DailyRow => {
      const { total } = usageJson("day", sum.result());
      return Object.assign(total, of);
    });
    const own = this.#conversations.filter(({ replay }) => !replay);
    return {
      rows: rows.toSorted((a, b) => (rank(a) < rank(b) ? -1 : 1)),
      conversations: this.#conversations.toSorted(dearestFirst).slice(0, CONVERSATIONS_MAX),
      conversationCount: own.length,
      replayCount: this.#conversations.length - own.length,
      rollovers: own.reduce((sum, one) => sum + one.rollovers, 0),
    };
  }

  #isAsked(day: string): boolean {
    return day >= (this.#asked.since ?? "") && day <= (this.#asked.until ?? "9999");
  }
}

function dearestFirst(a: ConversationCost, b: ConversationCost): number {
  return (
    (b.costMicros ?? 0) - (a.costMicros ?? 0) ||
    b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens ||
    (a.conversation < b.conversation ? -1 : 1)
  );
}

async function* everyone(holdfast: Holdfast): AsyncGenerator<Conversation> {
  for await (const { conversation } of holdfast.listAll())
    yield holdfast.unopened(parseConversationId(conversation));
}

function rank({ day, model, replay }: DailyRow): string {
  return `${day} ${model} ${String(replay)}`;
}
