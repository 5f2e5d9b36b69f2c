import { CODE_ENDINGS, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";
import type { EndingExample } from "./vendor.ts";

// What the services of models, networks and the programs around them say. Agents pass it on, also those of another
// vendor, so the tables of all of them are made of these parts.

export const SESSION_GONE: EndingTable = [
  { on: "text", like: /session (?:has )?expired|conversation (?:has )?expired/i, class: "expired" },
  {
    on: "text",
    like: /resource not found|no conversation found with session id|session (?:\S+ )?not found|unknown session|no rollout found for thread id|invalid session identifier|query closed before response received|requires a valid session id/i,
    class: "lost",
  },
];

export const PROCESS_GONE: EndingTable = [
  {
    on: "text",
    like: /process exited|javascript heap out of memory|fatalprocessoutofmemory|failed to reserve virtual memory/i,
    class: "crashed",
  },
];

/** All of them together: for an unknown agent, and for one with few messages of its own. */
export const COMMON_ENDINGS: EndingTable = [
  ...DISGUISED,
  ...PROCESS_GONE,
  ...STATUS_ENDINGS,
  ...CODE_ENDINGS,
  { on: "code", is: [-32003], class: "limit" },
  ...SESSION_GONE,
  ...NETWORK,
  ...MONEY,
  ...TOO_MANY,
  ...LIMITS,
  ...LOGINS,
  ...OVERLOADS,
];

/** Of agents that are none of the known ones. */
export const COMMON_EXAMPLES: readonly EndingExample[] = [
  ["limit", "Rate limited", -32003],
  ["expired", "Session expired"],
  ["overloaded", "Service unavailable", 503],
];

/**
 * When a limit ends, said in words that need a clock and a place: "resets 8:06am (Europe/Berlin)", "try again at
 * 7:50 AM", "try again at Nov 16th, 2026 7:50 AM". Words without a zone mean the one the agent runs in.
 */
const SAID =
  /\b(?:resets?|try again)(?: at)? (?:([a-z]{3})[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,?(?: (\d{4}),?)?(?: at)? )?(\d{1,2})(?::(\d\d))? ?([ap])m\b(?: \(([\w/+-]+)\))?/i;

const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_MS = 86_400_000;
/** The words leave the seconds out. */
const MINUTE_MS = 60_000;
/** The longest limits are weekly; what seems to last longer was misread, and would hold a conversation up. */
const AHEAD_MS_MAX: number = 8 * DAY_MS;

export function resetInWords(
  text: string,
  { nowMs, zone: home }: { readonly nowMs: number; readonly zone: string },
): number | null {
  const match = SAID.exec(text);
  if (match === null) return null;
  const [, month, day, year, hours = "", minutes = "0", half = "", zone = home] = match;
  const hour = (Number(hours) % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const today = wallOf(nowMs, zone);
  if (today === null || Number(hours) > 12 || Number(minutes) > 59) return null;
  const monthAt = month === undefined ? today.getUTCMonth() : MONTHS.indexOf(month.toLowerCase());
  const on = (years: number, days: number): number =>
    momentOf(Date.UTC(years, monthAt, days, hour, Number(minutes)), zone);
  const thisYear = Number(year ?? today.getUTCFullYear());
  const dayAt = Number(day ?? today.getUTCDate());
  const first = monthAt === -1 ? Number.NaN : on(thisYear, dayAt);
  const passed = first < nowMs - MINUTE_MS;
  const next =
    day === undefined ? on(thisYear, dayAt + 1) : year === undefined ? on(thisYear + 1, dayAt) : first;
  const resetMs = passed ? next : first;
  return resetMs >= nowMs - MINUTE_MS && resetMs <= nowMs + AHEAD_MS_MAX ? resetMs : null;
}

/** What the clocks of a zone show, as if it were UTC; null for an unknown zone. */
function wallOf(ms: number, zone: string): Date | null {
  try {
    const parts = new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    }).formatToParts(ms);
    const numberOf = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
    return new Date(
      Date.UTC(
        numberOf("year"),
        numberOf("month") - 1,
        numberOf("day"),
        numberOf("hour"),
        numberOf("minute"),
        numberOf("second"),
      ),
    );
  } catch {
    return null;
  }
}

/** The moment at which the clocks of a zone show this. */
function momentOf(wallMs: number, zone: string): number {
  const offset = (ms: number): number => (wallOf(ms, zone)?.getTime() ?? ms) - ms;
  // Twice, since the first guess may lie on the other side of a change of the clocks.
  return wallMs - offset(wallMs - offset(wallMs));
}
