import { conversationOf } from "#edges/http/handlers/conversation-of";
import type { HandlersOf } from "#edges/http/handlers/asked";
import { exportBundle } from "#transfer/export-bundle";
import { importBundle } from "#transfer/import/import-bundle";
import { exportMarkdown } from "#transfer/people/markdown";
import { exportJson } from "#transfer/people/people-json";
import { Review } from "#transfer/redact/review";
import { importJson } from "#transfer/shown/import-json";
import type { TransferApi } from "./transfer-api.ts";

export const TRANSFER_HANDLERS: HandlersOf<TransferApi> = {
  async exportBundle({ holdfast, query, server }) {
    const { conversation, withForks = false, redact = false, emails = false } = query;
    const exportedAt = new Date(server.clock.nowMs()).toISOString();
    const redacted = redact ? { redact: { ...new Review().options, emails } } : {};
    const bytes = exportBundle(holdfast, conversation, { withForks, exportedAt, ...redacted });
    // What is wrong with the request is told before anything is sent; a bundle that breaks off later is refused by whoever reads it.
    const first = await bytes.next();
    return new Response(chunksOf(first, bytes), {
      headers: {
        "content-type": "application/x-ndjson",
        "content-disposition": 'attachment; filename="bundle.jsonl"',
      },
    });
  },

  async reviewBundle({ holdfast, query, signal }) {
    const { conversation, withForks = false, emails = false } = query;
    const review = new Review();
    const redact = { ...review.options, emails };
    for await (const _ of exportBundle(holdfast, conversation, { withForks, redact }))
      if (signal.aborted) break;
    return review.value();
  },

  async exportTranscript(asked) {
    const { format = "markdown", at, redact = true, emails = false } = asked.query;
    const conversation = await conversationOf(asked);
    const review = new Review();
    const { onHit } = review.options;
    const options = { ...(at === undefined ? {} : { at }), redact, emails, onHit };
    const text = await (format === "markdown" ? exportMarkdown : exportJson)(conversation, options);
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
): ReadableStream<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = next ?? (await rest.next());
      next = null;
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
    async cancel() {
      await rest.return(undefined);
    },
  });
}
