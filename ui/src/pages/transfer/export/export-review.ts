import type { Api } from "#edges/http/client/index";
import { client } from "../../../data/api-client.ts";
import { type Loaded, useLoaded } from "../../../data/loaded.ts";
import { bundleAddress, type ExportChoice, transcriptQuery } from "./export-choice.ts";

export type Redaction = Api["reviewBundle"]["response"]["redactions"][number];

/** What would be downloaded, as far as it is known before. */
export interface ExportReview {
  /** By what it was made: of another choice it is out of date. */
  readonly of: string;
  readonly redactions: readonly Redaction[];
  /** Images and files that nobody looked into. */
  readonly unread: number;
  /** The very text that was looked at; null: a bundle, which is made as it is read. */
  readonly text: string | null;
}

export function reviewName(choice: ExportChoice, keep: readonly string[]): string {
  return JSON.stringify([choice, keep]);
}

async function review(
  choice: ExportChoice,
  keep: readonly string[],
  signal: AbortSignal,
): Promise<ExportReview | null> {
  const of = reviewName(choice, keep);
  if (choice.conversation === "") return null;
  const query = transcriptQuery(choice, keep);
  if (query !== null) {
    const { text, redactions, unread } = await client.exportTranscript(query, { signal });
    return { of, redactions, unread: unread.length, text };
  }
  if (!choice.redact) return { of, redactions: [], unread: 0, text: null };
  const { conversation, withForks, emails } = choice;
  const found = await client.reviewBundle(
    { conversation: [conversation], withForks, emails, keep },
    { signal },
  );
  return { of, redactions: found.redactions, unread: found.unread.length, text: null };
}

export function useReview(choice: ExportChoice, keep: readonly string[]): Loaded<ExportReview | null> {
  return useLoaded((signal) => review(choice, keep, signal), [reviewName(choice, keep)]);
}

const TYPES = { html: "text/html", markdown: "text/markdown", json: "application/json", bundle: "" } as const;

/** Hands the file to the browser: what was looked at, or the bundle as it is made. */
export function download(
  { choice, text }: { readonly choice: ExportChoice; readonly text: string | null },
  name: string,
  keep: readonly string[],
): void {
  const link = document.createElement("a");
  link.download = name;
  if (text === null) link.href = bundleAddress(choice, keep);
  else link.href = URL.createObjectURL(new Blob([text], { type: TYPES[choice.format] }));
  link.click();
  if (text !== null) setTimeout(() => URL.revokeObjectURL(link.href));
}
