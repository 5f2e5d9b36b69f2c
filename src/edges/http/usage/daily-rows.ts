import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import type { Holdfast } from "#conversation/holdfast";
import { LiveProjections } from "#conversation/live-projections";
import { readSummary } from "#conversation/list-conversations";
import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { Entry } from "#log/entry";
import { isLogError } from "#log/errors";
import { DailyUsage } from "#log/projections/daily-usage";
import { projectionBy } from "#log/projections/projection";
import type { Listed } from "#store/requests";
import type { FigureApi } from "#edges/http/figures/figure-api";
import type { ConversationCost, DailyRow } from "./usage-answers.ts";

type Daily = FigureApi["getDailyUsage"];

const CONVERSATIONS_MAX = 50;

const LOGS_CACHED_MAX = 10_000; // a few rows for each conversation

/** What one log adds to the days. */
class DaysOfLog {
  readonly days: DailyUsage = new DailyUsage();
  /** On which days it went on in another session. */
  readonly rolled: string[] = [];
  #links: number = 0;

  add(entry: Entry): void {
    this.days.add(entry);
    if (entry.type !== "upstream_link") return;
    if (this.#links > 0) this.rolled.push(entry.time.slice(0, 10));
    this.#links += 1;
  }
}

/** What was used on each day and by which conversations, by all or by one; what cannot be read is named. */
export class DailyFigures {
  readonly #live = new LiveProjections(
    projectionBy(() => new DaysOfLog()),
    { logs: LOGS_CACHED_MAX },
  );

  async read(holdfast: Holdfast, asked: Daily["query"]): Promise<Daily["response"]> {
    const counting = new DailyRows(asked);
    const leftOut: string[] = [];
    for await (const listed of listedOf(holdfast, asked.conversation))
      try {
        const { run } = listed.summary ?? (await readSummary(holdfast.space, listed.conversation));
        const { headSeq, createdAt } = listed;
        await this.#live
          .of(holdfast, listed.conversation)
          .read((days) => counting.add(listed, run?.trigger === REPLAY_TRIGGER, days), {
            headSeq,
            createdAt,
          });
      } catch (error) {
        const isUnreadable = isLogError(error) && (error.group === "damaged" || error.group === "missing");
        if (!isUnreadable || asked.conversation !== undefined) throw error;
        leftOut.push(listed.conversation);
      }
    return { ...counting.result(), leftOut };
  }
}

class DailyRows {
  readonly #rows = new Map<
    string,
    { readonly of: Pick<DailyRow, "day" | "model" | "replay">; sum: UsageSum }
  >();
  readonly #conversations: ConversationCost[] = [];
  readonly #asked: Daily["query"];

  constructor(asked: Daily["query"]) {
    this.#asked = asked;
  }

  add({ conversation, title }: Counted, replay: boolean, { days, rolled }: DaysOfLog): void {
    let all: UsageSum | null = null;
    for (const { day, model, usage } of days.result()) {
      if (!this.#isAsked(day)) continue;
      const of = { day, model, replay };
      const name = JSON.stringify(of);
      const row = this.#rows.get(name) ?? { of, sum: NO_USAGE };
      row.sum = addUsage(row.sum, usage);
      all = addUsage(all ?? NO_USAGE, usage);
      this.#rows.set(name, row);
    }
    const rollovers = rolled.filter((day) => this.#isAsked(day)).length;
    if (all === null && rollovers === 0) return;
    this.#conversations.push({ conversation, title, replay, rollovers, ...(all ?? NO_USAGE) });
  }

  result(): Omit<Daily["response"], "leftOut"> {
    const rows = [...this.#rows.values()].map(({ of, sum }): DailyRow => Object.assign(sum, of));
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

type Counted = Pick<Listed, "conversation" | "title" | "headSeq" | "createdAt" | "summary">;

async function* listedOf(holdfast: Holdfast, one: string | undefined): AsyncGenerator<Counted> {
  if (one === undefined) yield* holdfast.listAll();
  else yield await (await holdfast.conversation(one)).head();
}

function rank({ day, model, replay }: DailyRow): string {
  return `${day} ${model} ${String(replay)}`;
}
