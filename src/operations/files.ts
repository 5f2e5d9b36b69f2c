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
  text({ pattern: /^[0-9a-f]{32}$/, about: "the `id` of a redaction that is left where it stands" }),
  { max: KEPT_MAX },
);
const bundleFields = {
  conversation: list(idField, { min: 1, max: BUNDLED_MAX }),
  withForks: optional(flag("with all forks of them, and the forks of those")),
  emails: optional(flag("where it is redacted: without addresses of people, too")),
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
  summary: "Gives the bytes that an entry names: images as such, all else as a file to be kept",
  group: "Entries",
  access: "read",
  kind: "download",
  types: ["application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp"],
  http: "GET /api/conversations/{conversation}/blobs/{digest}",
  input: {
    conversation: idField,
    digest: text({ pattern: /^[0-9a-f]{64}$/, max: 64, about: "the 64 digits of a SHA-256" }),
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
  summary: "Gives conversations as a bundle, which `holdfast import` reads; made as it is read",
  group,
  access: "read",
  kind: "download",
  types: [BUNDLE_TYPE],
  exports: true,
  http: "GET /api/bundle",
  input: {
    ...bundleFields,
    redact: optional(flag("without what looks like a secret: to be read, and not to be gone on with")),
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
  summary: "Lists what a redacted bundle would be without, each where it stands and never itself",
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
  summary: "Gives a branch for people, redacted unless told otherwise, with what was taken out of it",
  group,
  access: "read",
  kind: "read",
  exports: true,
  long: true,
  http: "GET /api/conversations/{conversation}/transcript",
  input: {
    conversation: idField,
    format: optional(choice(TRANSCRIPT_FORMATS, "markdown unless told")),
    at: optional(idField),
    leaveOut: optional(list(choice(OMITTED_PARTS), { max: OMITTED_PARTS.length })),
    redact: optional(flag("true unless told")),
    emails: optional(flag("takes addresses of people out, too")),
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
    "Imports a bundle or a session log: all of it is checked before anything is written. What is there already is told as `same`, in a dry run also an id that another conversation has",
  group,
  access: "admin",
  kind: "upload",
  long: true,
  http: "POST /api/import",
  input: {
    dryRun: optional(flag("only says what would be done")),
    asNew: optional(flag("every conversation under a fresh id; the same ones under the same key")),
    id: optional(idField),
    salvage: optional(flag("imports what can be reached, and reports the rest")),
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
