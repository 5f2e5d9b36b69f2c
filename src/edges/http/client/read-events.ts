/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: string;
  readonly id: string | null;
}

/** The events in a stream of bytes, as browsers read them; one that was cut off is none. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  signal?: AbortSignal,
): AsyncGenerator<StreamEvent> {
  const reader = body.getReader();
  // What a request was given to be stopped by may be forgotten while its body is read.
  const stop = (): void => void reader.cancel().catch(() => undefined);
  signal?.addEventListener("abort", stop, { once: true });
  if (signal?.aborted === true) stop();
  const decoder = new TextDecoder();
  const pieces: string[] = []; // of the event that has not ended yet
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const text = decoder.decode(value, { stream: true });
      // Each piece is searched once, however many an event takes; the blank line may lie across two.
      const isSplit = text.startsWith("\n") && pieces.at(-1)?.endsWith("\n") === true;
      const [first = "", ...parts] = isSplit ? ["", ...text.slice(1).split("\n\n")] : text.split("\n\n");
      pieces.push(first);
      for (const part of parts) {
        const event = eventIn(pieces.join(""));
        pieces.splice(0, pieces.length, part);
        if (event !== null) yield event;
      }
    }
  } finally {
    signal?.removeEventListener("abort", stop);
    await reader.cancel().catch(() => undefined);
  }
}

/** Null: words between events, which only keep the connection. */
function eventIn(part: string): StreamEvent | null {
  const fields = new Map<string, string>();
  for (const line of part.split("\n")) {
    const colon = line.indexOf(":");
    if (colon > 0) fields.set(line.slice(0, colon), line.slice(colon + 1).replace(/^ /, ""));
  }
  const data = fields.get("data");
  return data === undefined
    ? null
    : { event: fields.get("event") ?? "message", data, id: fields.get("id") ?? null };
}
