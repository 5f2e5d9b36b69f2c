import { conversationOf } from "#edges/http/handlers/conversation-of";
import type { HandlersOf } from "#edges/http/handlers/asked";
import { exportBundle } from "#transfer/bundles/export-bundle";
import { importBundle, importJson } from "#transfer/bundles/import-bundle";
import { exportHtml } from "#transfer/transcripts/html";
import { exportMarkdown } from "#transfer/transcripts/markdown";
import { exportJson } from "#transfer/transcripts/read-transcript";
import { Review } from "#transfer/redactor";
import type { TransferApi, TranscriptFormat } from "./transfer-api.ts";

const WRITERS: Readonly<Record<TranscriptFormat, typeof exportHtml>> = {
  html: exportHtml,
  markdown: exportMarkdown,
  json: exportJson,
};

export const TRANSFER_HANDLERS: HandlersOf<TransferApi> = {
  async exportBundle({ holdfast, query, server, brokeOff }) {
    const { conversation, withForks = false, redact = false, emails = false, keep } = query;
    const exportedAt = new Date(server.clock.nowMs()).toISOString();
    const redacted = redact ? { redact: { ...new Review().options, emails, keep: new Set(keep) } } : {};
    const bytes = exportBundle(holdfast, conversation, { withForks, exportedAt, ...redacted });
    // What is wrong with the request is told before anything is sent; a bundle that breaks off later is refused by whoever reads it.
    const first = await bytes.next();
    return new Response(chunksOf(first, bytes, brokeOff), {
      headers: {
        "content-type": "application/x-ndjson",
        // Without a name: whoever links to it says what the file is called.
        "content-disposition": "attachment",
      },
    });
  },

  async reviewBundle({ holdfast, query, signal }) {
    const { conversation, withForks = false, emails = false, keep } = query;
    const review = new Review();
    const redact = { ...review.options, emails, keep: new Set(keep) };
    for await (const _ of exportBundle(holdfast, conversation, { withForks, redact }))
      if (signal.aborted) break;
    return review.value();
  },

  async exportTranscript(asked) {
    const { format = "markdown", at, leaveOut = [], redact = true, emails = false, keep } = asked.query;
    const conversation = conversationOf(asked);
    const review = new Review();
    const { onHit } = review.options;
    const how = { leaveOut, redact, emails, keep: new Set(keep), onHit };
    const text = await WRITERS[format](conversation, { ...how, ...(at === undefined ? {} : { at }) });
    return { conversation: conversation.id, format, redacted: redact, text, ...review.value() };
  },

  importFile: ({ holdfast, query, key, upload, server }) =>
    server.uploads.use(upload, async ({ file, bytes }) => {
      const { dryRun = false, ...options } = query;
      const imported = await importBundle(holdfast, file, {
        ...options,
        ...(key === undefined ? {} : { key }),
        dryRun,
        whenThere: "tell",
      });
      const { unprovenSeq: _, conversation = "", ...view } = importJson(imported);
      const { conversations, leftOut } = imported;
      return { ...view, conversation, dryRun, bytes, leftOut, conversations };
    }),
};

/** Read on only as the reader reads. */
function chunksOf(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
  brokeOff: (error: unknown) => void,
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = next ?? (await rest.next());
        next = null;
        if (done === true) controller.close();
        else controller.enqueue(value);
      } catch (error) {
        brokeOff(error);
        throw error;
      }
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}
