import { knownModel } from "#agent/models/model-table";
import { REPLAY_TRIGGER } from "#agent/replay/replay-runs";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { readLinks } from "#conversation/read-chain";
import { LiveProjections } from "#conversation/live-projections";
import { readSummary } from "#conversation/list-conversations";
import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import { summaryChange } from "#log/entry-types";
import type { Head } from "#log/lineage/head";
import { projectionBy } from "#log/projections/projection";
import { totalOf } from "#transfer/shown/usage-rows";
import { TurnUsage } from "./turn-usage.ts";
import type { TurnUsageView } from "./usage-answers.ts";

const LOGS_CACHED_MAX = 32; // conversations, of which somebody looks at the turns
const SHARED_MAX = 1_000;
const PAGE = 500;

/** What the turns of a conversation used, what it shares with its source cost, and what was spent on replays of it. */
export class TurnFigures {
  readonly #live = new LiveProjections(
    projectionBy(() => new TurnUsage()),
    { logs: LOGS_CACHED_MAX },
  );
  /** What a fork shares never changes. */
  readonly #shared = new Map<string, UsageSum>();

  async read(holdfast: Holdfast, conversation: Conversation, limit: number): Promise<TurnUsageView> {
    const head = await conversation.head();
    const links = await readLinks(holdfast.space, conversation.id);
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
      window: model === null ? null : knownModel(model).window,
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
  for await (const { conversation, origin, summary: kept } of holdfast.list({ filter: { fork: true } })) {
    if (origin?.conversation !== id) continue;
    const { run, usage } = kept ?? (await readSummary(holdfast.space, conversation));
    if (run?.trigger !== REPLAY_TRIGGER) continue;
    count += 1;
    sum = addUsage(sum, usage);
  }
  return { count, ...sum };
}
