import { Download, JsonText } from "#operations/operation";
import { SCHEMA_VERSION } from "#transfer/context-text";
import { answerOf, type HttpAnswer } from "./exchange.ts";
import { type Route, REPEATED_HEADER } from "./routes/route.ts";

const JSON_TYPE = "application/json; charset=utf-8";
const CHUNK_CHARS = 65_536;

interface Sent {
  /** The act was done before under its key; `differs`: with another request. */
  readonly repeated?: { readonly differs: boolean } | null;
  /** Hears of an error after the answer began. */
  readonly brokeOff: (error: unknown) => void;
}

/** The output of an operation as an answer. */
export function answerWith(
  output: unknown,
  { status = 200 }: Route,
  { repeated = null, brokeOff }: Sent,
): HttpAnswer {
  if (output instanceof Response) return answerOf(output);
  if (output instanceof Download) return downloadAnswer(output, brokeOff);
  const body =
    output instanceof JsonText
      ? jsonBody(output, brokeOff)
      : JSON.stringify({ schemaVersion: SCHEMA_VERSION, ...(output as object) });
  const again = repeated === null ? {} : { [REPEATED_HEADER]: repeated.differs ? "differs" : "same" };
  return { status, headers: { "content-type": JSON_TYPE, ...again }, body };
}

/** What a log holds is never a page. */
function downloadAnswer({ bytes, mediaType, name }: Download, brokeOff: Sent["brokeOff"]): HttpAnswer {
  const disposition = name === null ? "attachment" : `attachment; filename="${name}"`;
  return {
    status: 200,
    headers: {
      "content-type": mediaType,
      "content-security-policy": "default-src 'none'; sandbox",
      ...(name === undefined ? {} : { "content-disposition": disposition }),
    },
    body: streamOf(bytes instanceof Uint8Array ? [bytes] : bytes, brokeOff),
  };
}

function jsonBody({ content }: JsonText, brokeOff: Sent["brokeOff"]): string | ReadableStream<Uint8Array> {
  return typeof content === "string" ? content : streamOf(chunksOf(content), brokeOff);
}

function* chunksOf(pieces: Iterable<string>): Generator<Uint8Array> {
  const encoder = new TextEncoder();
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < CHUNK_CHARS) continue;
    yield encoder.encode(text);
    text = "";
  }
  yield encoder.encode(text);
}

/** Read on only as the reader reads, and ended with it. */
function streamOf(
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  brokeOff: Sent["brokeOff"],
): ReadableStream<Uint8Array> {
  const rest = Symbol.asyncIterator in chunks ? chunks[Symbol.asyncIterator]() : chunks[Symbol.iterator]();
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await rest.next();
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        brokeOff(error);
        throw error;
      }
    },
    async cancel() {
      await rest.return?.();
    },
  });
}
