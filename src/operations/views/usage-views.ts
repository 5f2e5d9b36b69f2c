import { modelFacts } from "#agent/models/model-table";
import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { LiveProjections } from "#conversation/live-projection";
import { readLinks } from "#conversation/read-chain";
import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import { isLogError } from "#log/errors";
import type { Head } from "#log/lineage/head";
import { DailyUsage } from "#log/projections/daily-usage";
import { projectionBy } from "#log/projections/projection";
import type { ConversationRow } from "#store/requests";
import { totalOf } from "#transfer/views/usage-rows";
import { type TurnMark, TurnUsage, type TurnUsageRow } from "./turn-usage.ts";

/** What was spent on one day with one model, by conversations or by replays of them. */
export interface DailyRow extends UsageSum {
  readonly day: string;
  readonly model: string;
  readonly replay: boolean;
}

/** What one conversation used of that time. */
export interface ConversationCost extends Omit<DailyRow, "day" | "model"> {
  readonly conversation: string;
  readonly title: string | null;
  readonly rollovers: number;
}

/** What the turns of a conversation used, the newest of them where there are many. */
export interface TurnUsageView {
  readonly conversation: string;
  readonly turns: readonly TurnUsageRow[];
  readonly marks: readonly TurnMark[];
  /** All turns, those that are not told too. */
  readonly count: number;
  /** How many tokens the model of the last turn takes, where that is known. */
  readonly window: number | null;
  /** What the answers that it shares with its source cost there; in none of its sums. Null: it is no fork. */
  readonly inherited: UsageSum | null;
  /** What was spent on replays of it; in none of its sums. */
  readonly replays: UsageSum & { readonly count: number };
}

/** What was used on each day, and by whom. */
export interface DailyUsageView {
  readonly rows: readonly DailyRow[];
  /** Those that cost the most. */
  readonly conversations: readonly ConversationCost[];
  readonly conversationCount: number;
  /** Which are not among the conversations that are counted. */
  readonly replayCount: number;
  readonly rollovers: number;
  readonly leftOut: readonly string[];
}

/** Which days count, and of which conversation. */
interface DailyQuery {
  readonly since?: string;
  readonly until?: string;
  readonly conversation?: string;
}

const CONVERSATIONS_MAX = 50;

const DAILY_LOGS_MAX = 10_000; // a few rows for each conversation

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
export class DailyUsageCache {
  readonly #live = new LiveProjections(
    projectionBy(() => new DaysOfLog()),
    { logs: DAILY_LOGS_MAX },
  );

  async read(holdfast: Holdfast, query: DailyQuery): Promise<DailyUsageView> {
    const counting = new DailyRows(query);
    const leftOut: string[] = [];
    for await (const listed of listedOf(holdfast, query.conversation))
      try {
        const { run } = listed.summary ?? (await holdfast.handle(listed.conversation).summary());
        const { headSeq, createdAt } = listed;
        await this.#live
          .of(holdfast, listed.conversation)
          .read((days) => counting.add(listed, run?.trigger === REPLAY_TRIGGER, days), {
            headSeq,
            createdAt,
          });
      } catch (error) {
        const isUnreadable = isLogError(error) && (error.group === "damaged" || error.group === "missing");
        if (!isUnreadable || query.conversation !== undefined) throw error;
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
  readonly #query: DailyQuery;

  constructor(query: DailyQuery) {
    this.#query = query;
  }

  add({ conversation, title }: Counted, replay: boolean, { days, rolled }: DaysOfLog): void {
    let all: UsageSum | null = null;
    for (const { day, model, usage } of days.result()) {
      if (!this.#counts(day)) continue;
      const of = { day, model, replay };
      const name = JSON.stringify(of);
      const row = this.#rows.get(name) ?? { of, sum: NO_USAGE };
      row.sum = addUsage(row.sum, usage);
      all = addUsage(all ?? NO_USAGE, usage);
      this.#rows.set(name, row);
    }
    const rollovers = rolled.filter((day) => this.#counts(day)).length;
    if (all === null && rollovers === 0) return;
    this.#conversations.push({ conversation, title, replay, rollovers, ...(all ?? NO_USAGE) });
  }

  result(): Omit<DailyUsageView, "leftOut"> {
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

  #counts(day: string): boolean {
    return day >= (this.#query.since ?? "") && day <= (this.#query.until ?? "9999");
  }
}

function dearestFirst(a: ConversationCost, b: ConversationCost): number {
  return (
    (b.costMicros ?? 0) - (a.costMicros ?? 0) ||
    b.inputTokens + b.outputTokens - a.inputTokens - a.outputTokens ||
    (a.conversation < b.conversation ? -1 : 1)
  );
}

type Counted = Pick<ConversationRow, "conversation" | "title" | "headSeq" | "createdAt" | "summary">;

async function* listedOf(holdfast: Holdfast, one: string | undefined): AsyncGenerator<Counted> {
  if (one === undefined) yield* holdfast.listAll();
  else yield await (await holdfast.conversation(one)).head();
}

function rank({ day, model, replay }: DailyRow): string {
  return `${day} ${model} ${String(replay)}`;
}

const TURN_LOGS_MAX = 32; // conversations, of which somebody looks at the turns
const SHARED_MAX = 1_000;
const PAGE = 500;

/** What the turns of a conversation used, what it shares with its source cost, and what was spent on replays of it. */
export class TurnUsageCache {
  readonly #live = new LiveProjections(
    projectionBy(() => new TurnUsage()),
    { logs: TURN_LOGS_MAX },
  );
  /** What a fork shares never changes. */
  readonly #shared = new Map<string, UsageSum>();

  async read(holdfast: Holdfast, conversation: Conversation, limit: number): Promise<TurnUsageView> {
    const head = await conversation.head();
    const links = await readLinks(conversation);
    const { rows, marks, imported } = await this.#live
      .of(holdfast, conversation.id)
      .read((usage) => ({ ...usage.result(links), imported: usage.inherited }), head);
    const turns = rows.slice(-limit);
    const model = turns.findLast((row) => row.model !== null)?.model ?? null;
    return {
      conversation: conversation.id,
      turns,
      marks: marks.filter(({ turn }) => turn > rows.length - turns.length),
      count: rows.length,
      window: model === null ? null : modelFacts(model).window,
      inherited: await this.#inherited(holdfast, head, imported),
      replays: await replaysOf(holdfast, conversation),
    };
  }

  /** Null: it is no fork. */
  async #inherited(
    holdfast: Holdfast,
    { origin }: Pick<Head, "origin">,
    imported: readonly UsageSum[],
  ): Promise<UsageSum | null> {
    if (origin === null) return imported.length === 0 ? null : totalOf(imported);
    const name = `${holdfast.spaceId}/${origin.source}@${origin.entry}`;
    const known = this.#shared.get(name);
    if (known !== undefined) return known;
    const found = await sharedCost(holdfast.handle(origin.source), origin.entry);
    const [oldest] = this.#shared.size < SHARED_MAX ? [] : this.#shared.keys();
    if (oldest !== undefined) this.#shared.delete(oldest);
    this.#shared.set(name, found);
    return found;
  }
}

/** What the answers and summaries on the branch up to an entry cost. */
async function sharedCost(source: Conversation, at: string): Promise<UsageSum> {
  let sum = NO_USAGE;
  let cursor: string | null = null;
  do {
    const from: { readonly at: string } | { readonly cursor: string } = cursor === null ? { at } : { cursor };
    const page: Awaited<ReturnType<Conversation["history"]>> = await source.history({ limit: PAGE, ...from });
    for (const entry of page.entries) {
      const spent = summaryChange(entry.type, entry, entry.time)?.spent;
      if (spent !== undefined) sum = addUsage(sum, spent.usage);
    }
    cursor = page.cursor;
  } while (cursor !== null);
  return sum;
}

/** What was spent on forks of it that are replays. */
async function replaysOf(holdfast: Holdfast, { id }: Conversation): Promise<TurnUsageView["replays"]> {
  let sum = NO_USAGE;
  let count = 0;
  for await (const { conversation, origin, summary } of holdfast.list({ filter: { fork: true } })) {
    if (origin?.conversation !== id) continue;
    const { run, usage } = summary ?? (await holdfast.handle(conversation).summary());
    if (run?.trigger !== REPLAY_TRIGGER) continue;
    count += 1;
    sum = addUsage(sum, usage);
  }
  return { count, ...sum };
}
