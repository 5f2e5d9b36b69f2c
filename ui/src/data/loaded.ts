import { useCallback, useEffect, useState } from "preact/hooks";
import { AGAIN_MS, connection, isPassing } from "./api-client.ts";

/** Something that was asked for: what came of it, and what went wrong. What was there stays until other takes its place. */
export interface Loaded<T> {
  readonly value: T | null;
  readonly error: unknown;
  readonly isLoading: boolean;
  readonly reload: () => void;
}

/** A page goes on by itself when whoever did not answer is back. */
export function useAgain(error: unknown, reload: () => void): void {
  const isDue = isPassing(error) && connection.value === "live";
  useEffect(() => {
    if (!isDue) return undefined;
    const timer = setTimeout(reload, AGAIN_MS);
    return () => clearTimeout(timer);
  }, [isDue, error]);
}

/** Asks when the page opens and whenever one of `by` is another; what is no longer wanted is stopped. */
export function useLoaded<T>(load: (signal: AbortSignal) => Promise<T>, by: readonly unknown[]): Loaded<T> {
  const [found, setFound] = useState<Omit<Loaded<T>, "reload">>({
    value: null,
    error: null,
    isLoading: true,
  });
  const [round, setRound] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    setFound(({ value }) => ({ value, error: null, isLoading: true }));
    load(stop.signal).then(
      (value) => stop.signal.aborted || setFound({ value, error: null, isLoading: false }),
      (error: unknown) =>
        stop.signal.aborted || setFound((was) => ({ value: was.value, error, isLoading: false })),
    );
    return () => stop.abort();
  }, [...by, round]);
  const reload = useCallback(() => setRound((was) => was + 1), []);
  useAgain(found.error, reload);
  return { ...found, reload };
}
