const IDLE_MS_MIN = 5 * 60_000;
const HOUR_MIN = 60;
const DAY_MIN = 24 * HOUR_MIN;

/** How long nothing happened between two entries, in words; null where it was not long. */
export function idleText(before: string, after: string): string | null {
  const ms = Date.parse(after) - Date.parse(before);
  if (!(ms >= IDLE_MS_MIN)) return null;
  const minutes = Math.floor(ms / 60_000);
  if (minutes < HOUR_MIN) return `${minutes} min`;
  const [hours, rest] = [Math.floor(minutes / HOUR_MIN), minutes % HOUR_MIN];
  if (minutes < DAY_MIN) return rest === 0 ? `${hours} h` : `${hours} h ${rest} min`;
  const [days, left] = [Math.floor(minutes / DAY_MIN), Math.floor((minutes % DAY_MIN) / HOUR_MIN)];
  return left === 0 ? `${days} d` : `${days} d ${left} h`;
}
