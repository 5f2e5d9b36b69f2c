import { LogError } from "#log/errors";
import { Refusal } from "./failures.ts";

export interface BodyLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** The text of a request, of which no more is held than is allowed, and for which nobody waits longer than that. */
export async function readBody(request: Request, limits: BodyLimits): Promise<string> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type))
    throw new Refusal("wrong_type", `A body is JSON here, not "${type.slice(0, 100)}"`);
  if (request.headers.get("content-encoding") !== null)
    throw new Refusal("wrong_type", "A body is sent as it is here, without Content-Encoding");
  if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) throw tooLarge(limits);
  if (request.body === null) return "";
  const reader = request.body.getReader();
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Refusal("too_slow", `The body took longer than ${limits.ms / 1_000} s`)),
    limits.ms,
  );
  try {
    return await Promise.race([collect(reader, limits), late.promise]);
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

async function collect(reader: ReadableStreamDefaultReader<Uint8Array>, limits: BodyLimits): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [bytes, body] = [0, ""];
  for (;;) {
    const { done, value } = await reader.read().catch((cause: unknown) => {
      throw new LogError("invalid_request", "The body ended before it was whole", {}, { cause });
    });
    bytes += value?.byteLength ?? 0;
    if (bytes > limits.bytes) throw tooLarge(limits);
    try {
      body += decoder.decode(value, { stream: !done });
    } catch (cause) {
      throw new LogError("invalid_request", "The body is no UTF-8", {}, { cause });
    }
    if (done) return body;
  }
}

function tooLarge({ bytes }: BodyLimits): LogError {
  return new LogError("too_large", `A body may have ${bytes} bytes here`, { bytes });
}
