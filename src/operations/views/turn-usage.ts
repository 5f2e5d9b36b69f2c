import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { Entry, EntryOf, TurnOutcome } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import type { Usage } from "#log/message";
import type { Link } from "#log/projections/chain";

/** What one turn used. What is used between turns, such as a summary, counts with the turn before it. */
export interface TurnUsageRow extends UsageSum {
  /** From 1, over the conversation's own turns. */
  readonly number: number;
  /** Null: a log that was imported without its turns; then each prompt begins one. */
  readonly turn: string | null;
  readonly prompt: string | null;
  readonly time: string;
  readonly outcome: TurnOutcome | "open" | null;
  readonly model: string | null;
  /** Which link of the chain carried it, by its place there. */
  readonly carrier: number | null;
  /** What its last answer was sent, as the model counted it; null where it did not. */
  readonly contextTokens: number | null;
}

/** What happened to the context in front of an answer: another session took over, or a summary took the place of messages. */
export interface TurnMark {
  readonly kind: "rollover" | "compaction";
  /** The number of the turn; one behind the last where none followed. */
  readonly turn: number;
  readonly entry: string;
  readonly time: string;
  /** Of a rollover. */
  readonly reason: string | null;
  readonly carrier: number | null;
  /** Of a compaction, where it was counted. */
  readonly tokensBefore: number | null;
}

type Row = { -readonly [K in keyof Omit<TurnUsageRow, "carrier">]: TurnUsageRow[K] } & {
  /** The seq of the link of the session that carried it. */
  link: number | null;
};

/** A rollover or a compaction as the log has it; which place a session has in the chain is not known from one log alone. */
interface SeenMark extends Omit<TurnMark, "carrier"> {
  readonly link: number | null;
  /** The session before it. */
  readonly before: number | null;
}

/** What each turn of a log used, and what happened between them; for entries that are taken as they are read. */
export class TurnUsage {
  #rows: Row[] = [];
  #marks: SeenMark[] = [];
  /** Takes what is spent; of a log without turns, until the next prompt. */
  #open: Row | null = null;
  #prompt: { readonly id: string; readonly time: string } | null = null;
  /** The seq of the session's link. */
  #link: number | null = null;
  #inheritedUpTo: string | undefined;
  #inherited: readonly UsageSum[] = [];

  add(entry: Entry): void {
    if (entry.type === "turn_start") this.#begin(entry.turn, entry.prompt ?? null, entry.time);
    else if (entry.type === "upstream_link") this.#rollTo(entry);
    else if (entry.type === "compaction") this.#mark("compaction", entry, entry.tokensBefore ?? null);
    else if (entry.type === "message" && entry.message.role === "user") this.#heard(entry.id, entry.time);
    const change = summaryChange(entry.type, entry, entry.time);
    if (change?.spent !== undefined) this.#spend(entry, change.spent);
    if (entry.type === "turn_end" && this.#open !== null) {
      this.#open.outcome = entry.outcome;
      this.#open = null;
    }
    this.#inheritedUpTo = change?.inheritedUpTo ?? this.#inheritedUpTo;
    if (entry.id !== this.#inheritedUpTo) return;
    this.#inherited = this.#rows; // its source has paid for it
    [this.#rows, this.#marks, this.#open] = [[], [], null];
  }

  /** What an import brought of its source's turns. */
  get inherited(): readonly UsageSum[] {
    return this.#inherited;
  }

  /** `links`: its whole chain. */
  result(links: readonly Pick<Link, "seq" | "inherited">[]): {
    readonly rows: readonly TurnUsageRow[];
    readonly marks: readonly TurnMark[];
  } {
    const own = [...links.entries()].filter(([, { inherited }]) => !inherited);
    const places = new Map(own.map(([place, { seq }]) => [seq, place]));
    const placeOf = (link: number | null): number | null =>
      link === null ? null : (places.get(link) ?? null);
    return {
      rows: this.#rows.map(({ link, ...row }) => Object.assign(row, { carrier: placeOf(link) })),
      marks: this.#marks.flatMap(({ link, before, ...mark }) => {
        const carrier = placeOf(link);
        const isFirst = mark.kind === "rollover" && (carrier === 0 || placeOf(before) === null);
        return isFirst ? [] : [Object.assign(mark, { carrier })];
      }),
    };
  }

  #begin(turn: string | null, prompt: string | null, time: string): Row {
    const row: Row = {
      number: this.#rows.length + 1,
      turn,
      prompt,
      time,
      outcome: turn === null ? null : "open",
      model: null,
      link: this.#link,
      contextTokens: null,
      ...NO_USAGE,
    };
    this.#rows.push(row);
    this.#open = row;
    return row;
  }

  #heard(id: string, time: string): void {
    this.#prompt = { id, time };
    if (this.#open?.turn === null) this.#open = null;
  }

  #rollTo({ seq, id, time, reason }: EntryOf<"upstream_link">): void {
    const before = this.#link;
    this.#link = seq;
    if (this.#open !== null) this.#open.link = seq;
    const turn = this.#here();
    this.#marks.push({
      kind: "rollover",
      turn,
      entry: id,
      time,
      reason,
      link: seq,
      before,
      tokensBefore: null,
    });
  }

  #mark(kind: "compaction", { id, time }: Entry, tokensBefore: number | null): void {
    const turn = this.#here();
    this.#marks.push({ kind, turn, entry: id, time, reason: null, link: null, before: null, tokensBefore });
  }

  #here(): number {
    return this.#open?.turn == null ? this.#rows.length + 1 : this.#open.number;
  }

  #spend(entry: Entry, { model, usage }: { readonly model: string; readonly usage: Usage }): void {
    const isAnswer = entry.type === "message";
    const before = isAnswer ? undefined : this.#rows.at(-1);
    const row =
      this.#open ?? before ?? this.#begin(null, this.#prompt?.id ?? null, this.#prompt?.time ?? entry.time);
    Object.assign(row, addUsage(row, usage));
    if (!isAnswer) return;
    const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const sent = inputTokens + cacheReadTokens + cacheWriteTokens;
    row.model = model;
    row.contextTokens = sent === 0 ? row.contextTokens : sent;
  }
}
