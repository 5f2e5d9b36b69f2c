import { type RoutesOf, UPLOAD_TYPE, type UploadedBytes } from "#edges/http/routes/route";
import { id, ofConversation, type OfConversation } from "#edges/http/routes/shared-schemas";
import {
  answer,
  anything,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  optional,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";
import type { ImportedConversation, ImportedView } from "#transfer/bundles/import-bundle";
import type { ImportProblem } from "#transfer/bundles/import-check";
import { LEFT_OUT, type LeftOut } from "#transfer/transcripts/read-transcript";
import type { RedactionHit } from "#transfer/redact-text";

/** What became of a file, or would: each conversation of it by itself. */
interface ImportAnswer extends Omit<ImportedView, "conversation" | "unprovenSeq"> {
  readonly conversation: string;
  readonly dryRun: boolean;
  /** Of the file. */
  readonly bytes: number;
  readonly leftOut: number;
  readonly conversations: readonly ImportedConversation[];
}

/** What was taken out of an export, for whoever is to look at it before it is passed on. */
interface ReviewView {
  readonly redactions: readonly RedactionHit[];
  /** Images and files that nobody looked into, by their digests. */
  readonly unread: readonly string[];
}

export type TranscriptFormat = "html" | "markdown" | "json";

/** A branch for people, as the text of a file, and what was taken out of it. */
interface TranscriptView extends OfConversation, ReviewView {
  readonly format: TranscriptFormat;
  readonly redacted: boolean;
  readonly text: string;
}

interface BundleQuery {
  readonly conversation: readonly string[];
  readonly withForks?: boolean;
  readonly emails?: boolean;
  readonly keep?: readonly string[];
}

/** What goes out to files and comes in from them. */
export interface TransferApi {
  exportBundle: {
    readonly query: BundleQuery & { readonly redact?: boolean };
    readonly response: Uint8Array;
  };
  reviewBundle: { readonly query: BundleQuery; readonly response: ReviewView };
  exportTranscript: {
    readonly params: OfConversation;
    readonly query: {
      readonly format?: TranscriptFormat;
      readonly at?: string;
      readonly leaveOut?: readonly LeftOut[];
      readonly redact?: boolean;
      readonly emails?: boolean;
      readonly keep?: readonly string[];
    };
    readonly response: TranscriptView;
  };
  importFile: {
    readonly query: {
      readonly dryRun?: boolean;
      readonly asNew?: boolean;
      readonly id?: string;
      readonly salvage?: boolean;
    };
    readonly upload: { readonly file: UploadedBytes };
    readonly response: ImportAnswer;
  };
}

const group = "Files";
const BUNDLED_MAX = 100; // that are named in one address
const KEPT_MAX = 200; // of them in one address
const FORMATS: readonly TranscriptFormat[] = ["html", "markdown", "json"];
const kept: Schema<readonly string[]> = list(
  text({ pattern: /^[0-9a-f]{32}$/, about: "the `id` of a redaction that is left where it stands" }),
  { max: KEPT_MAX },
);
const bundleMembers = {
  conversation: list(id, { min: 1, max: BUNDLED_MAX }),
  withForks: optional(flag("with all forks of them, and the forks of those")),
  emails: optional(flag("where it is redacted: without addresses of people, too")),
  keep: optional(kept),
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
const reviewMembers = { redactions: list(redaction), unread: list(text()) };
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

export const TRANSFER_ROUTES: RoutesOf<TransferApi> = {
  exportBundle: {
    method: "GET",
    path: "/api/bundle",
    right: "read",
    exports: true,
    answers: "bytes",
    types: [UPLOAD_TYPE],
    group,
    summary: "Gives conversations as a bundle, which `holdfast import` reads; made as it is read",
    query: object<TransferApi["exportBundle"]["query"]>({
      ...bundleMembers,
      redact: optional(flag("without what looks like a secret: to be read, and not to be gone on with")),
    }),
    response: anything<Uint8Array>(),
  },
  reviewBundle: {
    method: "GET",
    long: true,
    path: "/api/bundle/review",
    right: "read",
    group,
    summary: "Lists what a redacted bundle would be without, each where it stands and never itself",
    query: object<BundleQuery>(bundleMembers),
    response: answer<ReviewView>(reviewMembers),
  },
  exportTranscript: {
    method: "GET",
    long: true,
    path: "/api/conversations/{conversation}/transcript",
    right: "read",
    exports: true,
    group,
    summary: "Gives a branch for people, redacted unless told otherwise, with what was taken out of it",
    params: ofConversation,
    query: object<TransferApi["exportTranscript"]["query"]>({
      format: optional(choice(FORMATS, "markdown unless told")),
      at: optional(id),
      leaveOut: optional(list(choice(LEFT_OUT), { max: LEFT_OUT.length })),
      redact: optional(flag("true unless told")),
      emails: optional(flag("takes addresses of people out, too")),
      keep: optional(kept),
    }),
    response: answer<TranscriptView>({
      conversation: text(),
      format: choice(FORMATS),
      redacted: flag(),
      text: text({ max: Number.MAX_SAFE_INTEGER }),
      ...reviewMembers,
    }),
  },
  importFile: {
    method: "POST",
    path: "/api/import",
    right: "admin",
    writes: true,
    takes: "bytes",
    long: true,
    group,
    summary:
      "Imports a bundle or a session log: all of it is checked before anything is written. What is there already is told as `same`, in a dry run also an id that another conversation has",
    query: object<TransferApi["importFile"]["query"]>({
      dryRun: optional(flag("only says what would be done")),
      asNew: optional(flag("every conversation under a fresh id; the same ones under the same key")),
      id: optional(id),
      salvage: optional(flag("imports what can be reached, and reports the rest")),
    }),
    response: answer<ImportAnswer>({
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
  },
};
