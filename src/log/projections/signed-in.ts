import type { Entry, EntryOf } from "#log/entry";
import { linkRecords } from "./link-records.ts";

/** Whose sessions are meant: what is left out may be anything; an account of null is one nobody named. */
export interface SignedIn {
  readonly agent?: string;
  readonly account?: string | null;
}

function isTheirs(
  link: { readonly agent: string; readonly account?: string | null },
  who: SignedIn,
): boolean {
  const account = link.account ?? null;
  return (who.agent ?? link.agent) === link.agent && (who.account === undefined || who.account === account);
}

/** The upstream ids of an account that could still be resumed, from a conversation's links and ends. */
export function resumableIds(facts: Iterable<Entry>, who: SignedIn): readonly string[] {
  const theirs = linkRecords(facts).filter((record) => record.retired === null && isTheirs(record, who));
  return theirs.map(({ upstream }) => upstream);
}

/** Where something stands in the line of a fork's logs: how many forks up, and where in that log. */
export interface LineagePlace {
  readonly forksUp: number;
  readonly seq: number;
}

/**
 * Whether the context holds what was said under the account: its link is the latest, and no reset on the path came
 * after it. What a fork says comes after all it inherited.
 */
export function speaksForAccount(
  link: LineagePlace & { readonly entry: EntryOf<"upstream_link"> },
  reset: LineagePlace | null,
  who: SignedIn,
): boolean {
  if (!isTheirs(link.entry, who)) return false;
  if (reset === null || reset.forksUp > link.forksUp) return true;
  return reset.forksUp === link.forksUp && reset.seq < link.seq;
}
