import type { DailyRow } from "#edges/http/client/views";

const DAY_MS = 86_400_000;
const DAYS_MAX = 92; // wider spans are told by month: a bar has to be seen
export const RANGES: readonly (readonly [string, string])[] = [
  ["7", "7 days"],
  ["30", "30 days"],
  ["90", "90 days"],
  ["365", "1 year"],
  ["all", "All"],
];

/** The first and last day, in UTC, as far as they are given. */
export interface Span {
  /** What of `RANGES` it is; null: days of one's own. */
  readonly range: string | null;
  readonly since: string | null;
  readonly until: string | null;
}

const isDay = (text: string | null): text is string =>
  text !== null && /^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text));

function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** What an address asks for; what it says wrongly counts as not said. */
export function spanIn(query: URLSearchParams, nowMs: number): Span {
  const [since, until] = [query.get("since"), query.get("until")];
  if (isDay(since) || isDay(until))
    return { range: null, since: isDay(since) ? since : null, until: isDay(until) ? until : null };
  const range = RANGES.find(([name]) => name === query.get("range"))?.[0] ?? "30";
  const days = Number(range);
  return { range, since: range === "all" ? null : dayOf(nowMs - (days - 1) * DAY_MS), until: null };
}

export type Measure = "cost" | "tokens";

/** Cached or not, in and out. */
export function tokensOf(
  row: Pick<DailyRow, "inputTokens" | "outputTokens" | "cacheReadTokens" | "cacheWriteTokens">,
): number {
  return row.inputTokens + row.outputTokens + row.cacheReadTokens + row.cacheWriteTokens;
}

function measured(row: DailyRow, measure: Measure): number {
  return measure === "cost" ? (row.costMicros ?? 0) : tokensOf(row);
}

const TONES = 3; // that are told apart without a hue; all others are one

/** The models that cost the most, dearest first, and one name for the rest. */
export function tonesOf(rows: readonly DailyRow[], measure: Measure): readonly string[] {
  const sums = new Map<string, number>();
  for (const row of rows)
    if (!row.replay) sums.set(row.model, (sums.get(row.model) ?? 0) + measured(row, measure));
  return [...sums]
    .toSorted(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
    .slice(0, TONES)
    .map(([model]) => model);
}

/** One column: a day, or a month where there are many days. */
export interface Column {
  readonly name: string;
  /** By tone; the last is all other models. */
  readonly parts: readonly number[];
  readonly replays: number;
}

/** Every day or month of the span, those on which nothing was used too. */
export function columnsOf(
  rows: readonly DailyRow[],
  span: Span,
  measure: Measure,
  nowMs: number,
): readonly Column[] {
  const first = span.since ?? rows[0]?.day ?? dayOf(nowMs);
  const last = span.until ?? [dayOf(nowMs), rows.at(-1)?.day ?? ""].toSorted().at(-1) ?? first;
  const isByMonth = (Date.parse(last) - Date.parse(first)) / DAY_MS >= DAYS_MAX;
  const nameOf = (day: string): string => (isByMonth ? day.slice(0, 7) : day);
  const tones = tonesOf(rows, measure);
  const columns = new Map<string, { parts: number[]; replays: number }>();
  for (let ms = Date.parse(first); ms <= Date.parse(last) && columns.size < 1_200; ms += DAY_MS)
    columns.set(nameOf(dayOf(ms)), { parts: Array.from({ length: TONES + 1 }, () => 0), replays: 0 });
  for (const row of rows) {
    const column = columns.get(nameOf(row.day));
    if (column === undefined) continue;
    const value = measured(row, measure);
    const tone = tones.indexOf(row.model);
    if (row.replay) column.replays += value;
    else column.parts[tone === -1 ? TONES : tone] = (column.parts[tone === -1 ? TONES : tone] ?? 0) + value;
  }
  return [...columns].map(([name, { parts, replays }]) => ({ name, parts, replays }));
}

/** Marks of an axis from 0 to at least `max`: one, two or five times a power of ten apart. */
export function ticksOf(max: number): readonly number[] {
  if (max <= 0) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(max / 4));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => max / one <= 5) ?? power * 10;
  return Array.from({ length: Math.ceil(max / step) + 1 }, (_, at) => Number((at * step).toPrecision(12)));
}

/** Rows of one name added up, in the order in which the names came. What nobody knows the price of has not cost nothing. */
export function addedUp<T extends Omit<DailyRow, "day" | "model" | "replay">>(
  rows: readonly T[],
  nameOf: (row: T) => string,
): readonly (T & { readonly name: string })[] {
  const sums = new Map<string, T & { readonly name: string }>();
  for (const row of rows) {
    const name = nameOf(row);
    const sum = sums.get(name);
    const costs = [sum?.costMicros ?? null, row.costMicros].filter((one) => one !== null);
    sums.set(name, {
      ...row,
      name,
      inputTokens: row.inputTokens + (sum?.inputTokens ?? 0),
      outputTokens: row.outputTokens + (sum?.outputTokens ?? 0),
      cacheReadTokens: row.cacheReadTokens + (sum?.cacheReadTokens ?? 0),
      cacheWriteTokens: row.cacheWriteTokens + (sum?.cacheWriteTokens ?? 0),
      costMicros: costs.length === 0 ? null : costs.reduce((all, one) => all + one, 0),
      unpricedAnswers: row.unpricedAnswers + (sum?.unpricedAnswers ?? 0),
    });
  }
  return [...sums.values()];
}
