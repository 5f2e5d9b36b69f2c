const WAITING_MAX = 16; // read ahead of whoever listens

/** Several sequences as one, in the order in which their members come; none is read far ahead of the reader. */
export async function* merged<T>(
  sources: readonly AsyncIterable<T>[],
  signal: AbortSignal,
): AsyncGenerator<T> {
  const waiting: T[] = [];
  const producers: (() => void)[] = [];
  let failed: { readonly error: unknown } | null = null;
  let wake = Promise.withResolvers<void>();
  let open = sources.length;
  const feed = async (source: AsyncIterable<T>): Promise<void> => {
    try {
      for await (const one of source) {
        waiting.push(one);
        wake.resolve();
        if (signal.aborted) return;
        if (waiting.length >= WAITING_MAX) await new Promise<void>((resolve) => producers.push(resolve));
      }
    } catch (error) {
      failed ??= { error };
    } finally {
      open--;
      wake.resolve();
    }
  };
  const stop = (): void => {
    wake.resolve();
    for (const resume of producers.splice(0)) resume();
  };
  signal.addEventListener("abort", stop, { once: true });
  for (const source of sources) void feed(source);
  for (;;) {
    while (waiting.length > 0) {
      if (signal.aborted) return;
      yield waiting.shift() as T;
      // All of them: those that have nothing more to tell for now would let nobody on.
      if (waiting.length < WAITING_MAX) for (const resume of producers.splice(0)) resume();
    }
    if (failed !== null) throw (failed as { readonly error: unknown }).error;
    if (open === 0 || signal.aborted) return;
    await wake.promise;
    wake = Promise.withResolvers<void>();
  }
}
