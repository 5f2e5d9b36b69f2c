import { randomBytes } from "node:crypto";
import { constants, link, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { LogError } from "#log/errors";
import { findConversation } from "#edges/cli/address";
import { answer, type Call, type Command, jsonSink, remark } from "#edges/cli/command";
import { type ExportLine, exportLines } from "#transfer/lines/export-lines";
import { counted } from "#edges/cli/terminal/count";
import { progressOn } from "#edges/cli/terminal/progress";
import { safeLine } from "#edges/cli/terminal/terminal";

const FLUSH_CHARS = 65_536;

export const exportCommand: Command = {
  name: "export",
  summary: "Writes a conversation to a file that `import` reads anywhere",
  usage: ["ID [--format jsonl] [-o FILE [--force]] [--salvage]"],
  about: `A header line, then every entry on a line of its own, exactly as stored. A fork is written
whole: the branch it inherited first, then its own entries, numbered anew. At the end stand the
images that entries name by their digest.

  --format jsonl     the one format there is for now
  -o, --output FILE  a new file readable by you alone; standard output unless given. A pipe or a
                     device is written into as it stands
  --force            replaces FILE if there is one
  --salvage          writes a log whose links do not hold, too: what is not proven is said, and
                     marked in the file, whose links are made anew`,
  examples: [
    "holdfast export ID -o chat.jsonl",
    "holdfast export ID | gzip > chat.jsonl.gz",
    "holdfast export ID | holdfast import - --as-new",
  ],
  options: {
    format: { type: "string" },
    output: { type: "string", short: "o" },
    force: { type: "boolean" },
    salvage: { type: "boolean" },
  },
  arity: [1, 1],
  async run(call) {
    const format = call.flags.text("format") ?? "jsonl";
    if (format !== "jsonl")
      throw new LogError(
        "invalid_request",
        `There is no export format "${format}"; jsonl is the one there is`,
        { format },
      );
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const missing: string[] = [];
    const unproven: { readonly wrong: string; readonly soundSeq: number }[] = [];
    const lines = exportLines(conversation, {
      exportedAt: new Date().toISOString(),
      onMissing: (digest) => void missing.push(digest),
      ...(call.flags.has("salvage")
        ? { onUnproven: (wrong: string, soundSeq: number) => void unproven.push({ wrong, soundSeq }) }
        : {}),
    });
    const file = call.flags.text("output") ?? "-";
    const progress = progressOn(call.io.err, "exporting");
    const { entries, blobs } =
      file === "-"
        ? await copy(lines, (text) => jsonSink(call.io.out).write(text), progress.step)
        : await copyToFile(lines, { file, force: call.flags.has("force") }, progress.step);
    progress.end();
    if (missing.length > 0 && !call.json)
      await remark(
        call,
        `${counted(missing.length, "image")} that entries name cannot be read and is not in this file: ${missing.join(", ")}`,
      );
    for (const { wrong, soundSeq } of unproven)
      await remark(
        call,
        `${wrong}. Entries after ${soundSeq} are unproven; they are in the file as they were read`,
      );
    if (file !== "-") await tell(call, { conversation: conversation.id, file, entries, blobs, missing });
  },
};

async function tell(
  call: Call,
  value: {
    readonly conversation: string;
    readonly file: string;
    readonly entries: number;
    readonly blobs: number;
    readonly missing: readonly string[];
  },
): Promise<void> {
  await answer(call, value, () => {
    const images = value.blobs === 0 ? "" : ` and ${counted(value.blobs, "image")}`;
    return `Wrote ${counted(value.entries, "entry", "entries")}${images} to ${safeLine(value.file)}`;
  });
}

interface Copied {
  readonly entries: number;
  readonly blobs: number;
}

async function copy(
  lines: AsyncIterable<ExportLine>,
  write: (text: string) => Promise<void>,
  step: (done: number) => void,
): Promise<Copied> {
  let [entries, blobs, pending] = [0, 0, ""];
  for await (const { kind, text } of lines) {
    if (kind === "entry") entries++;
    if (kind === "blob") blobs++;
    pending += `${text}\n`;
    if (pending.length < FLUSH_CHARS) continue;
    await write(pending);
    pending = "";
    step(entries);
  }
  await write(pending);
  return { entries, blobs };
}

/** The file appears whole under its name, or not at all. */
async function copyToFile(
  lines: AsyncIterable<ExportLine>,
  target: { readonly file: string; readonly force: boolean },
  step: (done: number) => void,
): Promise<Copied> {
  const { force } = target;
  const there = await stat(target.file).catch(() => null);
  if (there !== null && !there.isFile() && !there.isDirectory()) return copyInto(lines, target.file, step);
  if (there?.isDirectory())
    throw new LogError("invalid_request", `${target.file} is a folder, not a file`, { file: target.file });
  if (there !== null && !force) throw fileExists(target.file);
  // A link goes on pointing at the file it names.
  const file = there === null ? target.file : await realpath(target.file);
  const unfinished = `${file}.${randomBytes(4).toString("hex")}.part`;
  try {
    await using handle = await open(unfinished, "wx", 0o600);
    const copied = await copy(lines, (text) => handle.appendFile(text), step);
    await handle.sync();
    // A link fails where a name is taken, so a file made in the meantime is not replaced either.
    await (force ? rename(unfinished, file) : link(unfinished, file));
    if (!force) await rm(unfinished);
    await using folder = await open(dirname(file), "r");
    await folder.sync();
    return copied;
  } catch (error) {
    await rm(unfinished, { force: true });
    throw fileError(error, file);
  }
}

/** A pipe or a device: it is not ours to replace, so it is written into. */
async function copyInto(
  lines: AsyncIterable<ExportLine>,
  file: string,
  step: (done: number) => void,
): Promise<Copied> {
  try {
    await using handle = await open(file, constants.O_WRONLY);
    return await copy(lines, (text) => handle.appendFile(text), step);
  } catch (error) {
    throw fileError(error, file);
  }
}

function fileExists(file: string): LogError {
  return new LogError(
    "invalid_request",
    `${file} exists already; nothing was changed. --force replaces it.`,
    {
      file,
    },
  );
}

function fileError(error: unknown, file: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST") return fileExists(file);
  if (code === "ENOENT" || code === "EISDIR" || code === "ENOTDIR")
    return new LogError(
      "invalid_request",
      `${file} cannot be written: there is no such folder, or it is one`,
      {},
      { cause: error },
    );
  if (code === "EACCES" || code === "EROFS" || code === "EPERM")
    return new LogError("read_only", `${file} cannot be written: no permission`, {}, { cause: error });
  return code === "ENOSPC"
    ? new LogError("disk_full", `There is no room for ${file}`, {}, { cause: error })
    : error;
}
