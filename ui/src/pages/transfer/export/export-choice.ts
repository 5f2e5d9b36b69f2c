import type { Api } from "#edges/http/client/index";
import type { InputOf } from "#edges/http/client/client";

type TranscriptQuery = InputOf<Api["exportTranscript"]>;
/** What people may not want to read. */
export type LeftOut = NonNullable<TranscriptQuery["leaveOut"]>[number];
const LEFT_OUT: readonly LeftOut[] = ["thinking", "tools", "seeds"];

export const FORMATS = ["html", "markdown", "json", "bundle"] as const;
export type ExportFormat = (typeof FORMATS)[number];

/** What is to be exported and how, as the address has it. */
export interface ExportChoice {
  readonly conversation: string;
  readonly format: ExportFormat;
  /** The entry that the branch ends at; null: the active one's. */
  readonly at: string | null;
  readonly leaveOut: readonly LeftOut[];
  readonly withForks: boolean;
  readonly redact: boolean;
  readonly emails: boolean;
  /** A redacted bundle can only be read: it is made when somebody has said so. */
  readonly isToBeRead: boolean;
}

export function choiceIn(query: URLSearchParams): ExportChoice {
  const format = FORMATS.find((one) => one === query.get("format")) ?? "html";
  const without = (query.get("without") ?? "").split(",");
  return {
    conversation: query.get("conversation") ?? "",
    format,
    at: query.get("at"),
    leaveOut: LEFT_OUT.filter((part) => without.includes(part)),
    withForks: query.get("forks") === "1",
    redact: query.get("redact") !== "0",
    emails: query.get("emails") === "1",
    isToBeRead: query.get("read") === "1",
  };
}

/** What a page for people is asked for by. */
export function transcriptQuery(choice: ExportChoice, keep: readonly string[]): TranscriptQuery | null {
  const { conversation, format, at, leaveOut, redact, emails } = choice;
  if (format === "bundle") return null;
  return { conversation, format, leaveOut, redact, emails, keep, ...(at === null ? {} : { at }) };
}

/** Where a browser gets the bundle from, as it is made. */
export function bundleAddress(choice: ExportChoice, keep: readonly string[]): string {
  const { conversation, withForks, redact, emails } = choice;
  const query = new URLSearchParams({ conversation });
  for (const [name, is] of Object.entries({ withForks, redact, emails: redact && emails }))
    if (is) query.set(name, "true");
  if (redact) for (const id of keep) query.append("keep", id);
  return `/api/bundle?${query.toString()}`;
}

const ENDINGS: Readonly<Record<ExportFormat, string>> = {
  html: "html",
  markdown: "md",
  json: "json",
  bundle: "holdfast.jsonl",
};
const NAME_MAX = 60;

/** A name that is a name on every system, whatever the title is. */
export function fileName(title: string | null, { conversation, format }: ExportChoice): string {
  const plain = (text: string): string =>
    text
      .normalize("NFKD")
      .replaceAll(/\p{M}/gu, "")
      .replaceAll(/[^A-Za-z0-9]+/g, "-")
      .slice(0, NAME_MAX)
      .replaceAll(/^-|-$/g, "")
      .toLowerCase();
  return `${plain(title ?? "") || plain(conversation) || "conversation"}.${ENDINGS[format]}`;
}
