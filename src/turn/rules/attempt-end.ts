import type { EntryBody, Usage } from "#log/entry";

interface EndedAttempt {
  readonly turn: string;
  readonly class: string;
  readonly upstream: string | null;
  readonly model: string | null;
  readonly usage: Usage | null;
}

/** What is written of an attempt that left no message for its usage to stand on; nothing where it used nothing. */
export function attemptEnd({ turn, upstream, model, usage, ...how }: EndedAttempt): readonly EntryBody[] {
  if (usage === null) return [];
  const carrier = upstream === null ? {} : { upstream };
  return [
    { type: "attempt_end", turn, class: how.class, ...carrier, ...(model === null ? {} : { model }), usage },
  ];
}
