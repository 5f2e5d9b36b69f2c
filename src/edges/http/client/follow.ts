import type { FailureBody } from "#edges/http/guard/failures";
import { ApiError } from "./api-error.ts";
import { readEvents } from "./read-events.ts";
import type { CallOptions, ClientRoute, Transport } from "./transport.ts";
import { readJson } from "#log/json/read-json";

const PASSING = new Set([423, 429, 502, 503, 504]);

/**
 * What a stream tells, without a gap and nothing twice: where a connection breaks, or the server stops, it is opened again behind
 * the last event. It ends by itself where what it tells has an end, else with the signal.
 */
export async function* follow(
  transport: Transport,
  route: ClientRoute,
  input: { readonly [name: string]: unknown },
  options: CallOptions,
): AsyncGenerator {
  const { signal } = options;
  let last: string | null = null;
  for (let tries = 0; !isAborted(signal); tries++) {
    try {
      const headers = last === null ? {} : { "last-event-id": last };
      const { body } = await transport.send(route, input, { ...options, headers });
      if (body === null) return;
      for await (const { event, data, id } of readEvents(body, signal)) {
        tries = 0;
        if (event === "end" || event === "left") return;
        if (event === "stop") break;
        if (event === "diverged") throw new ApiError(409, readJson(data) as unknown as FailureBody);
        if (id === null) {
          // A remark, which is not part of what is told.
          options.onRemark?.(event, readJson(data));
          continue;
        }
        last = id;
        yield readJson(data);
      }
    } catch (error) {
      if (isAborted(signal)) return;
      if (error instanceof ApiError && !PASSING.has(error.status)) throw error;
      if (error instanceof SyntaxError) throw error;
    }
    await transport.pause(tries);
  }
}

/** It may have been in the meantime. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
