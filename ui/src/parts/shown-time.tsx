import type { JSX } from "preact";
import { safeLine } from "#transfer/views/safe-text";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

/** How long ago, in the largest unit that is whole. */
function agoText(time: string, nowMs: number): string {
  const ms = nowMs - Date.parse(time);
  if (ms < MINUTE_MS) return "now";
  if (ms < HOUR_MS) return `${Math.floor(ms / MINUTE_MS)} min`;
  if (ms < DAY_MS) return `${Math.floor(ms / HOUR_MS)} h`;
  return `${Math.floor(ms / DAY_MS)} d`;
}

const two = (value: number): string => String(value).padStart(2, "0");

/** To the second, where a reader is. */
export function clockText(time: string): string {
  const at = new Date(time);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
}

export function dayText(time: string): string {
  const at = new Date(time);
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** The day and the second as words; what is no time stays as it is written. */
export function momentText(time: string): string {
  return Number.isNaN(Date.parse(time)) ? safeLine(time) : `${dayText(time)} ${clockText(time)}`;
}

export function Ago({ time }: { readonly time: string }): JSX.Element {
  return (
    <time dateTime={time} title={`${dayText(time)} ${clockText(time)}`}>
      {agoText(time, Date.now())}
    </time>
  );
}

export function Clock({ time }: { readonly time: string }): JSX.Element {
  return (
    <time dateTime={time} title={`${dayText(time)} ${clockText(time)}`}>
      {clockText(time)}
    </time>
  );
}

/** The day and the second. */
export function Moment({ time }: { readonly time: string }): JSX.Element {
  return (
    <time dateTime={time}>
      {dayText(time)} {clockText(time)}
    </time>
  );
}
