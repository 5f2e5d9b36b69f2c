const HOUR_MIN = 60;
const DAY_MIN = 24 * HOUR_MIN;

/** Exact to 9,999, then in thousands and millions with one place. */
export function tokensText(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString("en-US");
  return tokens < 1_000_000 ? `${(tokens / 1_000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export interface InputTokens {
  readonly inputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
}

/** All that was sent, fresh or from a cache: the one figure that every page shows. */
export function tokensIn(usage: InputTokens): number {
  return usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens;
}

/** At the mark of an axis: a place behind the point only where it says something. */
export function markText(tokens: number): string {
  return tokensText(tokens).replace(".0", "");
}

/** Null: nobody knows the price. */
export function costText(micros: number | null): string {
  if (micros === null) return "–";
  const dollars = micros / 1_000_000;
  return micros > 0 && dollars < 0.01 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

/** A cost of which some, or all, may be unknown. */
export function spentText({
  costMicros,
  unpricedAnswers,
}: {
  readonly costMicros: number | null;
  readonly unpricedAnswers: number;
}): string {
  if (costMicros === null) return "unknown";
  return unpricedAnswers === 0 ? costText(costMicros) : `at least ${costText(costMicros)}`;
}

export function unpricedText(answers: number): string {
  return `${countText(answers, "answer")} without a known price`;
}

export function countText(count: number, one: string, many: string = `${one}s`): string {
  return `${count.toLocaleString("en-US")} ${count === 1 ? one : many}`;
}

/** How long, to the second. */
export function elapsedText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1_000));
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** How long, in minutes, hours or days. */
export function spanText(ms: number): string {
  const minutes = Math.floor(ms / 60_000);
  if (minutes < HOUR_MIN) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / HOUR_MIN), minutes % HOUR_MIN];
  if (minutes < DAY_MIN) return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  const [days, left] = [Math.floor(minutes / DAY_MIN), Math.floor((minutes % DAY_MIN) / HOUR_MIN)];
  return left === 0 ? `${days} d` : `${days} d ${left} h`;
}

/** In the largest unit of which there is at least one. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  const shown = power === 0 ? String(bytes) : (bytes / 1_000 ** power).toFixed(1);
  return `${shown} ${units[power] ?? ""}`;
}
