import type { CallOptions } from "#edges/http/client/views";

/** What was asked for, with the text that it came in: a program rounds numbers beyond 2^53, and the text has them. */
export interface WithText<T> {
  readonly value: T;
  readonly text: string;
}

/** Asks, and keeps the text of the answer. */
export async function withText<T>(
  signal: AbortSignal | undefined,
  ask: (options: CallOptions) => Promise<T>,
): Promise<WithText<T>> {
  let text = "";
  const value = await ask({
    ...(signal === undefined ? {} : { signal }),
    onText: (came) => {
      text = came;
    },
  });
  return { value, text };
}
