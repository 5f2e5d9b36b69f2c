import { type Signal, signal } from "@preact/signals";
import type { Listed } from "../history-rows.ts";

/** What the rows that were listed so far can be told apart by: what a filter offers. */
export interface SeenValues {
  readonly folder: readonly string[];
  readonly model: readonly string[];
  readonly agent: readonly string[];
  readonly tag: readonly string[];
}

const KEPT_MAX = 50; // of each; more is searched for by words

/** Those that were seen, with what these rows have more. The same object where that is nothing. */
export function seenWith(seen: SeenValues, listed: readonly Listed[]): SeenValues {
  const more: SeenValues = {
    folder: listed.flatMap(({ cwd }) => cwd ?? []),
    model: listed.flatMap(({ summary }) => summary?.model ?? []),
    agent: listed.flatMap(({ summary }) => summary?.agent ?? []),
    tag: listed.flatMap(({ summary }) => summary?.metadata.tags ?? []),
  };
  const join = (name: keyof SeenValues): readonly string[] => {
    const all = [...new Set([...seen[name], ...more[name]])];
    return all.length === seen[name].length
      ? seen[name]
      : all.slice(0, KEPT_MAX).toSorted((one, other) => one.localeCompare(other));
  };
  const next = { folder: join("folder"), model: join("model"), agent: join("agent"), tag: join("tag") };
  const names = Object.keys(next) as (keyof SeenValues)[];
  return names.every((name) => next[name] === seen[name]) ? seen : next;
}

export const seenValues: Signal<SeenValues> = signal({ folder: [], model: [], agent: [], tag: [] });
