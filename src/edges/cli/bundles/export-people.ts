import { findAddress } from "#edges/cli/address";
import { answer, type Call, jsonSink } from "#edges/cli/command";
import { safeLine } from "#edges/cli/terminal/terminal";
import { LogError } from "#log/errors";
import type { ExportLine } from "#transfer/lines/export-lines";
import { exportMarkdown } from "#transfer/people/markdown";
import { exportJson } from "#transfer/people/people-json";
import { Review } from "#transfer/redact/review";
import { copyToFile } from "./export-file.ts";
import { tellReview } from "./tell-review.ts";

/** One branch for people, in the file or on standard output, and what was taken out of it beside. */
export async function exportForPeople(call: Call, format: "markdown" | "json"): Promise<void> {
  const { flags, args } = call;
  if (args.length > 1 || flags.has("with-forks") || flags.has("salvage"))
    throw new LogError("invalid_request", `--format ${format} writes one branch of one conversation`);
  const holdfast = await call.open({ readOnly: true });
  const { conversation, entry } = await findAddress(holdfast, args[0] ?? "");
  const review = new Review();
  const redact = !flags.has("no-redact");
  const options = {
    ...(entry === null ? {} : { at: entry }),
    redact,
    emails: flags.has("emails"),
    onHit: review.options.onHit,
  };
  const text = await (format === "markdown" ? exportMarkdown : exportJson)(conversation, options);
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

async function* oneLine(text: string): AsyncGenerator<ExportLine> {
  yield { kind: "header", text: text.replace(/\n$/, "") };
}
