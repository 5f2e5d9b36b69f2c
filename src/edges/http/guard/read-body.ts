import { LogError } from "#log/errors";
import { UPLOAD_TYPE } from "#edges/http/routes/route";
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
  checkEncoding(request);
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

function checkEncoding(request: Request): void {
  if (request.headers.get("content-encoding") !== null)
    throw new Refusal("wrong_type", "A body is sent as it is here, without Content-Encoding");
}

/** The bytes of an upload, before any of them is read. */
export function checkUpload(request: Request): ReadableStream<Uint8Array> {
  const type = request.headers.get("content-type") ?? "";
  if (type.toLowerCase() !== UPLOAD_TYPE)
    throw new Refusal("wrong_type", `A file is sent as ${UPLOAD_TYPE} here, not "${type.slice(0, 100)}"`);
  checkEncoding(request);
  return request.body ?? new Blob([]).stream();
}

/** The same bytes, of which no more come than are allowed, and for none of which anybody waits longer than that. */
export async function* limitedChunks(
  stream: ReadableStream<Uint8Array>,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  let bytes = 0;
  try {
    for (;;) {
      const { done, value } = await withinTime(reader, limits);
      if (done) return;
      bytes += value.byteLength;
      if (bytes > limits.bytes) throw tooLarge(limits);
      yield value;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

async function withinTime(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  { ms }: BodyLimits,
): Promise<Awaited<ReturnType<ReadableStreamDefaultReader<Uint8Array>["read"]>>> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Refusal("too_slow", `Nothing of the body came for ${ms / 1_000} s`)),
    ms,
  );
  try {
    return await Promise.race([reader.read().catch(cutOff), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function cutOff(cause: unknown): never {
  throw new LogError("invalid_request", "The body ended before it was whole", {}, { cause });
}

async function collect(reader: ReadableStreamDefaultReader<Uint8Array>, limits: BodyLimits): Promise<string> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let [bytes, body] = [0, ""];
  for (;;) {
    const { done, value } = await reader.read().catch(cutOff);
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
