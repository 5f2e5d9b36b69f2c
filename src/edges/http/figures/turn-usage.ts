import { isUnpriced } from "#agent/models/model-table";
import { addUsage, NO_USAGE } from "#log/add-usage";
import type { Entry, TurnOutcome } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import type { Usage } from "#log/message";
import type { Link } from "#log/projections/chain";

/** What one turn used. What is used between turns, such as a summary, counts with the turn before it. */
export interface TurnUsageRow extends Omit<Required<Usage>, "costMicros"> {
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
  readonly costMicros: number | null;
  readonly costIsWhole: boolean;
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

type Row = { -readonly [K in keyof TurnUsageRow]: TurnUsageRow[K] };

/** What each turn of a log used, and what happened between them; for entries that are taken as they are read. */
export class TurnUsage {
  #rows: Row[] = [];
  #marks: TurnMark[] = [];
  /** Takes what is spent; of a log without turns, until the next prompt. */
  #open: Row | null = null;
  #prompt: { readonly id: string; readonly time: string } | null = null;
  #carrier: number | null = null;
  #inheritedUpTo: string | undefined;
  readonly #places: ReadonlyMap<number, number>;

  /** `links`: its whole chain. */
  constructor(links: readonly Link[]) {
    const own = [...links.entries()].filter(([, { inherited }]) => !inherited);
    this.#places = new Map(own.map(([place, { seq }]) => [seq, place]));
  }

  add(entry: Entry): void {
    if (entry.type === "turn_start") this.#begin(entry.turn, entry.prompt ?? null, entry.time);
    else if (entry.type === "upstream_link") this.#link(entry.seq, entry.id, entry.time, entry.reason);
    else if (entry.type === "compaction") this.#mark("compaction", entry, entry.tokensBefore ?? null);
    else if (entry.type === "message" && entry.message.role === "user") this.#heard(entry.id, entry.time);
    const change = summaryChange(entry.type, entry, entry.time);
    if (change?.spent !== undefined) this.#spend(entry, change.spent);
    if (entry.type === "turn_end" && this.#open !== null) {
      this.#open.outcome = entry.outcome;
      this.#open = null;
    }
    this.#inheritedUpTo = change?.inheritedUpTo ?? this.#inheritedUpTo;
    if (entry.id === this.#inheritedUpTo) [this.#rows, this.#marks, this.#open] = [[], [], null]; // its source has paid for it
  }

  result(): { readonly rows: readonly TurnUsageRow[]; readonly marks: readonly TurnMark[] } {
    return { rows: this.#rows, marks: this.#marks };
  }

  #begin(turn: string | null, prompt: string | null, time: string): Row {
    const { costMicros: _, ...nothing } = NO_USAGE;
    const row: Row = {
      number: this.#rows.length + 1,
      turn,
      prompt,
      time,
      outcome: turn === null ? null : "open",
      model: null,
      carrier: this.#carrier,
      contextTokens: null,
      ...nothing,
      costMicros: 0,
      costIsWhole: true,
    };
    this.#rows.push(row);
    this.#open = row;
    return row;
  }

  #heard(id: string, time: string): void {
    this.#prompt = { id, time };
    if (this.#open?.turn === null) this.#open = null;
  }

  #link(seq: number, entry: string, time: string, reason: string): void {
    const place = this.#places.get(seq) ?? null;
    const isFirst = place === 0 || this.#carrier === null;
    this.#carrier = place;
    if (this.#open !== null) this.#open.carrier = place;
    if (isFirst) return;
    const turn = this.#here();
    this.#marks.push({ kind: "rollover", turn, entry, time, reason, carrier: place, tokensBefore: null });
  }

  #mark(kind: "compaction", { id, time }: Entry, tokensBefore: number | null): void {
    const turn = this.#here();
    this.#marks.push({ kind, turn, entry: id, time, reason: null, carrier: null, tokensBefore });
  }

  #here(): number {
    return this.#open?.turn == null ? this.#rows.length + 1 : this.#open.number;
  }

  #spend(entry: Entry, { model, usage }: { readonly model: string; readonly usage: Usage }): void {
    const isAnswer = entry.type === "message";
    const before = isAnswer ? undefined : this.#rows.at(-1);
    const row =
      this.#open ?? before ?? this.#begin(null, this.#prompt?.id ?? null, this.#prompt?.time ?? entry.time);
    const { costMicros, ...tokens } = addUsage({ ...row, costMicros: row.costMicros ?? 0 }, usage);
    const isWhole = row.costIsWhole && !isUnpriced(model, { ...NO_USAGE, ...usage });
    const cost = !isWhole && costMicros === 0 ? null : costMicros;
    Object.assign(row, tokens, { costMicros: cost, costIsWhole: isWhole });
    if (!isAnswer) return;
    const { inputTokens = 0, cacheReadTokens = 0, cacheWriteTokens = 0 } = usage;
    const sent = inputTokens + cacheReadTokens + cacheWriteTokens;
    row.model = model;
    row.contextTokens = sent === 0 ? row.contextTokens : sent;
  }
}
