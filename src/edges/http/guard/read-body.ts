import { isLogError, LogError } from "#log/errors";
import type { HttpRequest } from "#edges/http/exchange";
import { UPLOAD_TYPE } from "#edges/http/routes/route";
import { Refusal } from "./failures.ts";

export interface BodyLimits {
  readonly bytes: number;
  readonly ms: number;
}

/** The text of a request, of which no more is held than is allowed, and for which nobody waits longer than that. */
export async function readBody(request: HttpRequest, limits: BodyLimits): Promise<string> {
  const type = request.headers.get("content-type") ?? "";
  if (!/^application\/json(?:\s*;\s*charset=utf-8)?$/i.test(type))
    throw new Refusal(
      "wrong_type",
      `Unsupported content type "${type.slice(0, 100)}". Send \`Content-Type: application/json\`.`,
    );
  checkEncoding(request);
  if (Number(request.headers.get("content-length") ?? 0) > limits.bytes) throw tooLarge(limits);
  const text = new BodyText(limits);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Refusal("too_slow", `The body took longer than ${limits.ms / 1_000} s`)),
    limits.ms,
  );
  try {
    await Promise.race([request.eachChunk((chunk) => text.add(chunk)), late.promise]);
    return text.end();
  } catch (error) {
    text.isOver = true;
    if (isLogError(error) || error instanceof Refusal) throw error;
    return cutOff(error);
  } finally {
    clearTimeout(timer);
  }
}

/** The text of the chunks that come. */
class BodyText {
  readonly #limits: BodyLimits;
  readonly #decoder = new TextDecoder("utf-8", { fatal: true });
  #bytes = 0;
  #text = "";
  /** The rest is not awaited. */
  isOver = false;

  constructor(limits: BodyLimits) {
    this.#limits = limits;
  }

  add(chunk: Uint8Array): void {
    this.#bytes += chunk.byteLength;
    if (this.isOver || this.#bytes > this.#limits.bytes) throw tooLarge(this.#limits);
    this.#text += this.#decoded(chunk);
  }

  end(): string {
    return this.#text + this.#decoded();
  }

  #decoded(chunk?: Uint8Array): string {
    try {
      return this.#decoder.decode(chunk, { stream: chunk !== undefined });
    } catch (cause) {
      throw new LogError("invalid_request", "The body must be UTF-8", {}, { cause });
    }
  }
}

function checkEncoding(request: HttpRequest): void {
  if (request.headers.get("content-encoding") !== null)
    throw new Refusal("wrong_type", "Content-Encoding is not supported. Send the body uncompressed.");
}

/** The bytes of an upload, before any of them is read. */
export function checkUpload(request: HttpRequest): ReadableStream<Uint8Array> {
  const type = request.headers.get("content-type") ?? "";
  if (type.toLowerCase() !== UPLOAD_TYPE)
    throw new Refusal(
      "wrong_type",
      `Unsupported content type "${type.slice(0, 100)}". Send files as ${UPLOAD_TYPE}.`,
    );
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
    () => late.reject(new Refusal("too_slow", `No part of the body arrived for ${ms / 1_000} s`)),
    ms,
  );
  try {
    return await Promise.race([reader.read().catch(cutOff), late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

function cutOff(cause: unknown): never {
  throw new LogError("invalid_request", "The body is incomplete", {}, { cause });
}

function tooLarge({ bytes }: BodyLimits): LogError {
  return new LogError("too_large", `The body has more than ${bytes} bytes, the limit`, { bytes });
}
