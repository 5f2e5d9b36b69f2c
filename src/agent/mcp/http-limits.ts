const ANSWER_BYTES_MAX = 16_777_216;
const LINE_FEED = 10;

/** A fetch whose answers end where they become too large: a whole one, or one event of a stream. */
export async function limitedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  const { body, status, statusText, headers } = response;
  if (body === null || status < 200) return response;
  const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
  return new Response(body.pipeThrough(byteLimit(isStream)), { status, statusText, headers });
}

/** `perEvent`: an empty line begins to count anew. */
function byteLimit(perEvent: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      const end = perEvent ? lastEventEnd(chunk) : -1;
      bytes = end === -1 ? bytes + chunk.length : chunk.length - end;
      if (bytes > ANSWER_BYTES_MAX)
        controller.error(new Error(`the server sent more than ${ANSWER_BYTES_MAX} bytes at once`));
      else controller.enqueue(chunk);
    },
  });
}

function lastEventEnd(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at > 0; at--)
    if (chunk[at] === LINE_FEED && (chunk[at - 1] === LINE_FEED || chunk[at - 2] === LINE_FEED)) return at;
  return -1;
}
