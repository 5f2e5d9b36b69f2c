import { systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
import { exportTranscript, type TranscriptFormat, TRANSCRIPT_FORMATS } from "#operations/files";
import { perform, valueOf } from "#operations/operation";
import { answer, type Call, jsonLine, jsonSink, remark } from "#edges/cli/command";
import { readAddress } from "#edges/cli/operation-command";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import type { ExportLine } from "#transfer/bundles/export-lines";
import type { Review } from "#transfer/redactor";
import { copyToFile } from "./export-file.ts";

export function isPeopleFormat(format: string): format is TranscriptFormat {
  return TRANSCRIPT_FORMATS.some((known) => known === format);
}

/** One branch for people, in the file or on standard output, and what was taken out of it beside. */
export async function exportForPeople(call: Call, format: TranscriptFormat): Promise<void> {
  const { flags, args } = call;
  if (args.length > 1 || flags.has("with-forks") || flags.has("salvage"))
    throw new LogError("invalid_request", `--format ${format} writes one branch of one conversation`);
  const holdfast = await call.open({ readOnly: true });
  const { conversation, entry } = await readAddress(holdfast, args[0] ?? "");
  const redact = !flags.has("no-redact");
  const without = flags.text("without");
  const input: object = {
    conversation,
    format,
    redact,
    emails: flags.has("emails"),
    ...(entry === null ? {} : { at: entry }),
    ...(without === undefined ? {} : { leaveOut: without.split(",") }),
  };
  const { text, redactions, unread } = valueOf(
    await perform(exportTranscript, input, { holdfast, clock: systemClock }),
  );
  const file = flags.text("output") ?? "-";
  if (file === "-") await (format === "json" ? jsonSink(call.io.out) : call.io.out).write(text);
  else await copyToFile(oneLine(text), { file, force: flags.has("force") }, () => undefined);
  if (redact) await writeReview(call, { redactions, unread }, file);
  if (file === "-") return;
  await answer(
    call,
    { conversation, file, format, redacted: redact, redactions },
    () => `Wrote ${safeLine(conversation)} to ${safeLine(file)}`,
  );
}

/** Every redaction on standard error; for programs as one object, where the answer does not hold it already. */
export async function writeReview(
  call: Call,
  { redactions, unread: digests }: ReturnType<Review["value"]>,
  file: string,
): Promise<void> {
  if (call.json) {
    if (file === "-") await call.io.err.write(jsonLine({ redactions, unread: digests }));
    return;
  }
  for (const { kind, conversation, entry, where, preview } of redactions)
    await remark(call, safeLine(`taken out: ${kind} ${preview} in ${conversation}@${entry}, ${where}`));
  const count = redactions.length;
  const secrets = count === 0 ? "Nothing looked like a secret" : `${counted(count, "secret")} taken out`;
  const unread =
    digests.length === 0
      ? ""
      : `; ${counted(digests.length, "image or file", "images or files")} not looked into`;
  await remark(call, `${secrets}${unread}. Look through it before you pass it on`);
}

async function* oneLine(text: string): AsyncGenerator<ExportLine> {
  yield { kind: "header", text: text.replace(/\n$/, "") };
}
