import { LogError, isLogError } from "#log/errors";
import { parseConversationId, parseSpaceId } from "#log/ids";
import { exportBundle, exportTranscript, type TranscriptFormat, TRANSCRIPT_FORMATS } from "#operations/files";
import { check, perform, valueOf } from "#operations/operation";
import { findId, readAddress } from "#edges/cli/operation-command";
import { answer, type Call, type Command, jsonSink, remark, jsonLine } from "#edges/cli/command";
import type { Conversation } from "#conversation/conversation";
import { copyLines, copyToFile } from "./export-file.ts";
import type { RedactionHit } from "#transfer/redact-text";
import { Redactor, Review } from "#transfer/redactor";
import { REMOTE_OPTIONS } from "./remote-bundle.ts";
import { checkCount, exportOrder } from "#transfer/bundles/export-bundle";
import { exportLines, type ExportLine } from "#transfer/bundles/export-lines";
import { counted, safeLine } from "#edges/cli/terminal/terminal";
import { progressOn } from "#edges/cli/terminal/output";
import { systemClock } from "#conversation/clock";
import { salvagedText } from "./doctor.ts";

export const exportCommand: Command = {
  name: "export",
  summary: "Export conversations to a file",
  forms: ["ID[@ENTRY]...", "[ID...] --from URL"],
  about: `Use it to hand conversations to another machine or person. The default format, jsonl, is a bundle
that \`holdfast import\` reads anywhere: every entry exactly as stored, with its images and
hashes. A fork whose source isn't in the file is written whole.

The formats html, markdown and json print one branch for people to read. Holdfast removes
passwords, keys and tokens from them and reports each removal. It doesn't search base64 text or
images. You can't import these files.`,
  examples: [
    "holdfast export ID -o chat.jsonl",
    "holdfast export ID --with-forks -o family.jsonl",
    "holdfast export ID | gzip > chat.jsonl.gz",
    "holdfast export ID --from https://agents.example --token-file token -o chat.jsonl",
    "holdfast export ID --format markdown -o chat.md",
    "holdfast export ID --format html --without thinking,tools -o chat.html",
    "holdfast export ID --redact -o for-a-bug-report.jsonl",
    "holdfast export ID | holdfast import - --as-new",
  ],
  options: {
    "-o, --output FILE": "write a new file that only you can read (default: standard output)",
    "--force": "replace FILE if it exists",
    "--format jsonl|html|markdown|json": "the format (default: jsonl)",
    "--with-forks": "include all forks of these conversations, and their forks",
    "--without PART,…": "leave out thinking, tools or seeds (run inputs) of a page for people",
    "--redact": "export as read-only, without secrets: you can import and view it, but not continue it",
    "--no-redact": "keep secrets in a page for people",
    "--emails": "also redact email addresses",
    "--salvage": "export a damaged log too, and mark the entries that can't be verified",
    "From a server": "",
    "--from URL": "read from a Holdfast server: https://SERVER with ids, or https://SERVER/c/ID",
    ...REMOTE_OPTIONS,
  },
  async run(call) {
    const { flags } = call;
    const format = flags.choice("format", FORMATS) ?? "jsonl";
    if (flags.has("redact") && flags.has("no-redact"))
      throw new LogError("invalid_request", "--redact and --no-redact are opposites. Use one of them");
    const from = flags.text("from");
    if (from !== undefined) return (await import("./remote-bundle.ts")).exportFromServer(call, from);
    if (call.args.length === 0)
      throw new LogError(
        "invalid_request",
        "Missing argument: ID. Example: holdfast export ID -o chat.jsonl",
      );
    if (isPeopleFormat(format)) return exportForPeople(call, format);
    if (flags.text("without") !== undefined)
      throw new LogError("invalid_request", "--without needs --format html, markdown or json");
    const review = new Review();
    const emails = flags.has("emails");
    const redacted = flags.has("redact") ? { redactor: new Redactor({ ...review.options, emails }) } : {};
    const conversations = await conversationsOf(call);
    const missing = new Set<string>();
    const unproven: { readonly wrong: string; readonly soundSeq: number }[] = [];
    const lines = exportLines(conversations, {
      exportedAt: new Date().toISOString(),
      onMissing: (digest) => void missing.add(digest),
      ...redacted,
      ...(call.flags.has("salvage")
        ? { onUnproven: (wrong: string, soundSeq: number) => void unproven.push({ wrong, soundSeq }) }
        : {}),
    });
    const file = call.flags.text("output") ?? "-";
    const progress = progressOn(call.io.err, "exporting");
    const { entries, blobs } =
      file === "-"
        ? await copyLines(lines, (text) => jsonSink(call.io.out).write(text), progress.step)
        : await copyToFile(lines, { file, force: call.flags.has("force") }, progress.step);
    progress.end();
    if (missing.size > 0 && !call.json)
      await remark(
        call,
        `${counted(missing.size, "image")} that entries name cannot be read and is not in this file: ${[...missing].join(", ")}`,
      );
    for (const { wrong, soundSeq } of unproven)
      await remark(
        call,
        `${wrong}. Entries after ${soundSeq} are unproven; they are in the file as they were read`,
      );
    if (flags.has("redact")) await writeReview(call, review.value(), file);
    const ids = conversations.map(({ id }) => id);
    const value = { conversations: ids, file, entries, blobs, missing: [...missing] };
    if (file !== "-") await printResult(call, { ...value, ...(flags.has("redact") ? review.value() : {}) });
  },
};

async function conversationsOf(call: Call): Promise<readonly Conversation[]> {
  const holdfast = await call.open({ readOnly: true });
  const handles: Conversation[] = [];
  const salvage = call.flags.has("salvage");
  const ids: string[] = [];
  for (const name of call.args) ids.push(await findId(holdfast, name));
  for (const id of ids) {
    check(exportBundle, { conversation: [id] });
    const conversation = holdfast.handle(parseConversationId(id));
    handles.push(salvage ? await soundOrRescued(call, conversation) : conversation);
  }
  const conversations = await exportOrder(holdfast, handles, call.flags.has("with-forks"));
  checkCount(conversations.length);
  return conversations;
}

async function printResult(
  call: Call,
  value: {
    readonly conversations: readonly string[];
    readonly file: string;
    readonly entries: number;
    readonly blobs: number;
    readonly missing: readonly string[];
    readonly redactions?: readonly RedactionHit[];
  },
): Promise<void> {
  const [conversation] = value.conversations;
  await answer(call, { conversation, ...value }, () => {
    const suffix = value.conversations.length === 1 ? "" : ` of ${value.conversations.length} conversations`;
    const images = value.blobs === 0 ? "" : ` and ${counted(value.blobs, "image")}`;
    return `Wrote ${counted(value.entries, "entry", "entries")}${suffix}${images} to ${safeLine(value.file)}`;
  });
}

const FORMATS = ["jsonl", ...TRANSCRIPT_FORMATS] as const;

function isPeopleFormat(format: string): format is TranscriptFormat {
  return TRANSCRIPT_FORMATS.some((transcriptFormat) => transcriptFormat === format);
}

/** One branch for people, in the file or on standard output, and what was taken out of it beside. */
async function exportForPeople(call: Call, format: TranscriptFormat): Promise<void> {
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
async function writeReview(
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

/** The conversation, or where its log cannot be read whole a copy in memory of what can, under the same id. */
async function soundOrRescued(call: Call, conversation: Conversation): Promise<Conversation> {
  try {
    await conversation.head();
    return conversation;
  } catch (error) {
    const { logRescue, openHoldfast } = await import("#open");
    const rescue = isLogError(error, "damaged") ? logRescue(call.store) : null;
    if (rescue === null || !isLogError(error)) throw error;
    const { id } = conversation;
    const copy = await openHoldfast({ store: "memory:", space: call.space });
    const rest = await rescue.copyInto(copy, parseSpaceId(call.space), id);
    await remark(call, [error.message, ...salvagedText(rest)].join("\n"));
    return copy.conversation(id);
  }
}
