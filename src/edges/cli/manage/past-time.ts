import { LogError } from "#log/errors";

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
