import { LogError } from "#log/errors";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** How long ago, in a few characters. */
export function ageOf(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  if (Number.isNaN(ms)) return "?";
  if (ms < MINUTE_MS) return "now";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return ms < 365 * DAY_MS ? `${Math.floor(ms / DAY_MS)} d` : `${Math.floor(ms / (365 * DAY_MS))} y`;
}

/** A date and time as the reader's clock shows it. */
export function clockOf(time: string): string {
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "?";
  const two = (value: number): string => String(value).padStart(2, "0");
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** How long something lasts, to the unit that matters. */
export function spanText(ms: number): string {
  if (ms < MINUTE_MS) return `${Math.max(1, Math.ceil(ms / 1_000))} s`;
  if (ms < HOUR_MS) return `${Math.ceil(ms / MINUTE_MS)} min`;
  return ms < DAY_MS ? `${Math.ceil(ms / HOUR_MS)} h` : `${Math.ceil(ms / DAY_MS)} d`;
}

const UNIT_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};
const DATE = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})?)?$/;

/** A time that lies behind: `14d`, `2w`, `12h`, `90m` ago, or a date. */
export function pastTime(option: string, text: string, nowMs: number): string {
  const [, count = "", unit = ""] = /^(\d{1,6})([mhdw])$/.exec(text) ?? [];
  const ms =
    count === "" ? Date.parse(DATE.test(text) ? text : "") : nowMs - Number(count) * (UNIT_MS[unit] ?? 0);
  if (Number.isFinite(ms) && Math.abs(ms) < 8.64e15) return new Date(ms).toISOString();
  throw new LogError(
    "invalid_request",
    `--${option} takes a time such as 14d, 12h or 2026-01-31, not "${text}"`,
    {
      option,
    },
  );
}
