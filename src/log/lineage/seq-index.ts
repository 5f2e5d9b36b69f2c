import type { EntryType } from "#log/entry";

export interface SeqRequest {
  readonly after?: number | undefined;
  readonly until?: number | undefined;
  readonly limit: number;
  readonly types?: readonly EntryType[] | undefined;
  readonly newestFirst?: boolean | undefined;
}

/** The seqs of a log by type, rising: few of a rare type are found without going through the rest. */
export class SeqIndex {
  readonly #byType = new Map<EntryType, number[]>();

  add({ type, seq }: { readonly type: EntryType; readonly seq: number }): void {
    const seqs = this.#byType.get(type);
    if (seqs === undefined) this.#byType.set(type, [seq]);
    else seqs.push(seq);
  }

  clear(): void {
    this.#byType.clear();
  }

  /**
   * Up to `limit` seqs, of all entries or of some types, beyond `after` and up to `until` in the direction asked for. Costs
   * what it gives, not what the log is long.
   */
  find(request: SeqRequest, all: readonly { readonly seq: number }[]): readonly number[] {
    const { limit, types, newestFirst = false } = request;
    const [oldest, newest] = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY];
    const { after = newestFirst ? newest : oldest, until = newestFirst ? oldest : newest } = request;
    const wanted = { after, until, limit, newestFirst };
    if (types === undefined) return stretchOf(all.length, (index) => all[index]?.seq ?? 0, wanted);
    const matches = [...new Set(types)].flatMap((type) => {
      const seqs = this.#byType.get(type) ?? [];
      return stretchOf(seqs.length, (index) => seqs[index] ?? 0, wanted);
    });
    return matches.toSorted((a, b) => (newestFirst ? b - a : a - b)).slice(0, limit);
  }
}

/** Up to `limit` of rising numbers: those after one, or those before it from the last on, and none beyond `until`. */
function stretchOf(
  length: number,
  numberAt: (index: number) => number,
  {
    after,
    until,
    limit,
    newestFirst,
  }: { readonly [K in "after" | "until" | "limit" | "newestFirst"]: NonNullable<SeqRequest[K]> },
): readonly number[] {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    const seq = numberAt(middle);
    if (newestFirst ? seq < after : seq <= after) low = middle + 1;
    else high = middle;
  }
  const stretch: number[] = [];
  const step = newestFirst ? -1 : 1;
  for (
    let index = newestFirst ? low - 1 : low;
    index >= 0 && index < length && stretch.length < limit;
    index += step
  ) {
    const seq = numberAt(index);
    if (newestFirst ? seq < until : seq > until) break;
    stretch.push(seq);
  }
  return stretch;
}
