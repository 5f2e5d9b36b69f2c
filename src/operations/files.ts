import { imageType } from "#agent/tools/coding-tools";
import { exportBundle as bundleChunks } from "#transfer/bundles/export-bundle";
import { spooledFile } from "#transfer/bundles/open-import";
import {
  importBundle,
  type ImportedBundle,
  type ImportedConversation,
  importJson,
} from "#transfer/bundles/import-bundle";
import type { ImportProblem } from "#transfer/bundles/import-check";
import { exportHtml } from "#transfer/transcripts/html";
import { OMITTED_PARTS, exportJson } from "#transfer/transcripts/read-transcript";
import { exportMarkdown } from "#transfer/transcripts/markdown";
import type { RedactionHit } from "#transfer/redact-text";
import { Review } from "#transfer/redactor";
import { conversationOf } from "./acts.ts";
import { Download, operation, type Upload } from "./operation.ts";
import {
  answer,
  anything,
  choice,
  count,
  flag,
  idField,
  list,
  named,
  nullable,
  open,
  optional,
  type Schema,
  text,
} from "./schemas.ts";

const group = "Files";
const BUNDLE_TYPE = "application/x-ndjson";
const BUNDLED_MAX = 100; // conversations in one request
const KEPT_MAX = 200; // redactions in one request
export const TRANSCRIPT_FORMATS = ["html", "markdown", "json"] as const;
export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

const WRITERS: Readonly<Record<TranscriptFormat, typeof exportHtml>> = {
  html: exportHtml,
  markdown: exportMarkdown,
  json: exportJson,
};

const keep: Schema<readonly string[]> = list(
  text({ pattern: /^[0-9a-f]{32}$/, about: "the `id` of a redaction to skip" }),
  { max: KEPT_MAX },
);
const bundleFields = {
  conversation: list(idField, { min: 1, max: BUNDLED_MAX }),
  withForks: optional(flag("include all forks and their forks")),
  emails: optional(flag("if redacted: also redact email addresses")),
  keep: optional(keep),
};
const redaction: Schema<RedactionHit> = named(
  "Redaction",
  open<RedactionHit>({
    conversation: text(),
    entry: text(),
    seq: count(),
    type: text(),
    id: text(),
    kind: text(),
    where: text({ max: 100_000 }),
    preview: text(),
    before: text(),
    after: text(),
    kept: flag(),
  }),
);
/** What was taken out, for whoever looks at it before it is passed on. `unread`: images and files that nobody looked into. */
const reviewFields = { redactions: list(redaction), unread: list(text()) };

export const getBlob = operation({
  summary: "Download a blob of an entry: images inline, other types as a file",
  group: "Entries",
  access: "read",
  kind: "download",
  types: ["application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp"],
  http: "GET /api/conversations/{conversation}/blobs/{digest}",
  input: {
    conversation: idField,
    digest: text({ pattern: /^[0-9a-f]{64}$/, max: 64, about: "64 hexadecimal digits of a SHA-256 hash" }),
  },
  output: anything<Download>(),
  async run({ digest, ...input }, context) {
    const bytes = await conversationOf(input, context).getBlob(digest);
    const image = imageType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    // What a log holds is never a page: a browser shows the four kinds of images, and keeps all else as a file.
    return image === null
      ? new Download(bytes, "application/octet-stream", { name: digest })
      : new Download(bytes, image.mediaType);
  },
});

export const exportBundle = operation({
  summary: "Export conversations as a bundle for `holdfast import`, streamed",
  group,
  access: "read",
  kind: "download",
  types: [BUNDLE_TYPE],
  exports: true,
  http: "GET /api/bundle",
  input: {
    ...bundleFields,
    redact: optional(flag("removes detected secrets; the result is read-only")),
  },
  output: anything<Download>(),
  async run({ conversation, withForks = false, redact = false, emails = false, keep: kept }, context) {
    const exportedAt = new Date(context.clock.nowMs()).toISOString();
    const redacted = redact ? { redact: { ...new Review().options, emails, keep: new Set(kept) } } : {};
    const bytes = bundleChunks(context.holdfast, conversation, { withForks, exportedAt, ...redacted });
    // What is wrong with the request is said before anything is sent; whoever reads a bundle refuses one that breaks off later.
    const first = await bytes.next();
    // Without a name: whoever links to it says what the file is called.
    return new Download(startingWith(first, bytes), BUNDLE_TYPE, { name: null });
  },
});

export const reviewBundle = operation({
  summary: "List what redaction would remove: each place, but never the text",
  group,
  access: "read",
  kind: "read",
  long: true,
  http: "GET /api/bundle/review",
  input: bundleFields,
  output: answer(reviewFields),
  async run({ conversation, withForks = false, emails = false, keep: kept }, { holdfast, signal }) {
    const review = new Review();
    const redact = { ...review.options, emails, keep: new Set(kept) };
    for await (const _ of bundleChunks(holdfast, conversation, { withForks, redact }))
      if (signal?.aborted === true) break;
    return review.value();
  },
});

export const exportTranscript = operation({
  summary: "Export a branch as a readable transcript, redacted by default",
  group,
  access: "read",
  kind: "read",
  exports: true,
  long: true,
  http: "GET /api/conversations/{conversation}/transcript",
  input: {
    conversation: idField,
    format: optional(choice(TRANSCRIPT_FORMATS, "(default: markdown)")),
    at: optional(idField),
    leaveOut: optional(list(choice(OMITTED_PARTS), { max: OMITTED_PARTS.length })),
    redact: optional(flag("(default: true)")),
    emails: optional(flag("also redacts email addresses")),
    keep: optional(keep),
  },
  output: answer({
    conversation: text(),
    format: choice(TRANSCRIPT_FORMATS),
    redacted: flag(),
    text: text({ max: Number.MAX_SAFE_INTEGER }),
    ...reviewFields,
  }),
  async run(input, context) {
    const { format = "markdown", at, leaveOut = [], redact = true, emails = false } = input;
    const conversation = conversationOf(input, context);
    const review = new Review();
    const page = await WRITERS[format](conversation, {
      leaveOut,
      redact,
      emails,
      keep: new Set(input.keep),
      onHit: review.options.onHit,
      ...(at === undefined ? {} : { at }),
    });
    return { conversation: conversation.id, format, redacted: redact, text: page, ...review.value() };
  },
});

const imported: Schema<ImportedConversation> = named(
  "ImportedConversation",
  open<ImportedConversation>({
    conversation: text(),
    from: text(),
    title: nullable(text({ max: 100_000 })),
    version: nullable(count()),
    source: nullable(text()),
    state: choice(["new", "unfinished", "blobs", "same", "conflict"]),
    entries: count(),
    blobs: count(),
    missing: list(text()),
    missingSeeds: list(text()),
    linked: flag(),
    links: choice(["kept", "new"]),
    unprovenSeq: count(),
  }),
);

export const importFile = operation({
  summary:
    "Import a bundle or a session log after checking all of it; existing content is reported as `same`",
  group,
  access: "admin",
  kind: "upload",
  long: true,
  http: "POST /api/import",
  input: {
    dryRun: optional(flag("reports the result without importing")),
    asNew: optional(flag("gives every conversation a new id; the same ids for the same key")),
    id: optional(idField),
    salvage: optional(flag("imports the readable entries and reports the rest")),
    file: anything<Upload>(),
  },
  output: answer({
    conversation: text(),
    dryRun: flag(),
    bytes: count(),
    entries: count(),
    format: text(),
    problems: list(open<ImportProblem>({ line: count(), byte: count(), message: text({ max: 100_000 }) })),
    leftOut: count(),
    blobs: count(),
    missing: list(text()),
    missingSeeds: list(text()),
    linked: flag(),
    links: choice(["kept", "new"]),
    conversations: list(imported),
  }),
  async run({ file, dryRun = false, ...options }, { holdfast, key }) {
    await using spooled = await spooledFile("the file", chunksOf(file));
    return importAnswer(
      await importBundle(holdfast, spooled.file, {
        ...options,
        ...(key === undefined ? {} : { key }),
        dryRun,
        whenThere: "tell",
      }),
      { dryRun, bytes: spooled.bytes },
    );
  },
});

/** What became of a file, or would: all of it added up, then each conversation. */
export function importAnswer(
  bundle: ImportedBundle,
  about: { readonly dryRun: boolean; readonly bytes: number },
) {
  const { unprovenSeq: _, conversation = "", ...sums } = importJson(bundle);
  const { conversations, leftOut } = bundle;
  return { ...sums, conversation, ...about, leftOut, conversations };
}

async function* chunksOf(file: Upload): AsyncGenerator<Uint8Array> {
  if (file instanceof Uint8Array) yield file;
  else yield* file.stream();
}

/** A stream of which the first chunk was read; it is read on only as its reader reads, and ended with it. */
function startingWith(
  first: IteratorResult<Uint8Array>,
  rest: AsyncGenerator<Uint8Array>,
): AsyncIterable<Uint8Array> {
  let next: IteratorResult<Uint8Array> | null = first;
  const read = async (): Promise<IteratorResult<Uint8Array>> => {
    const chunk = next ?? (await rest.next());
    next = null;
    return chunk;
  };
  return { [Symbol.asyncIterator]: () => ({ next: read, return: () => rest.return(undefined) }) };
}
