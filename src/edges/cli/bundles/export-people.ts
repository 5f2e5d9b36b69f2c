import { findAddress } from "#edges/cli/address";
import { answer, type Call, jsonSink } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";
import { LogError } from "#log/errors";
import type { ExportLine } from "#transfer/bundles/export-lines";
import { exportHtml } from "#transfer/transcripts/html";
import { LEFT_OUT, type LeftOut, exportJson } from "#transfer/transcripts/read-transcript";
import { exportMarkdown } from "#transfer/transcripts/markdown";
import { Review } from "#transfer/redactor";
import { copyToFile } from "./export-file.ts";
import { tellReview } from "./tell-review.ts";

type PeopleFormat = "html" | "markdown" | "json";

const WRITERS: Readonly<Record<PeopleFormat, typeof exportHtml>> = {
  html: exportHtml,
  markdown: exportMarkdown,
  json: exportJson,
};

export function isPeopleFormat(format: string): format is PeopleFormat {
  return Object.hasOwn(WRITERS, format);
}

/** One branch for people, in the file or on standard output, and what was taken out of it beside. */
export async function exportForPeople(call: Call, format: PeopleFormat): Promise<void> {
  const { flags, args } = call;
  if (args.length > 1 || flags.has("with-forks") || flags.has("salvage"))
    throw new LogError("invalid_request", `--format ${format} writes one branch of one conversation`);
  const holdfast = await call.open({ readOnly: true });
  const { conversation, entry } = await findAddress(holdfast, args[0] ?? "");
  const review = new Review();
  const redact = !flags.has("no-redact");
  const options = {
    ...(entry === null ? {} : { at: entry }),
    leaveOut: leftOut(flags.text("without")),
    redact,
    emails: flags.has("emails"),
    onHit: review.options.onHit,
  };
  const text = await WRITERS[format](conversation, options);
  const file = flags.text("output") ?? "-";
  if (file === "-") await (format === "json" ? jsonSink(call.io.out) : call.io.out).write(text);
  else await copyToFile(oneLine(text), { file, force: flags.has("force") }, () => undefined);
  if (redact) await tellReview(call, review, file);
  if (file === "-") return;
  const { redactions } = review.value();
  await answer(
    call,
    { conversation: conversation.id, file, format, redacted: redact, redactions },
    () => `Wrote ${safeLine(conversation.id)} to ${safeLine(file)}`,
  );
}

function leftOut(text: string | undefined): readonly LeftOut[] {
  const isKnown = (part: string): part is LeftOut => LEFT_OUT.some((known) => known === part);
  return (text?.split(",") ?? []).map((part) => {
    if (isKnown(part)) return part;
    throw new LogError("invalid_request", `--without takes ${LEFT_OUT.join(", ")}, not "${part}"`);
  });
}

async function* oneLine(text: string): AsyncGenerator<ExportLine> {
  yield { kind: "header", text: text.replace(/\n$/, "") };
}
