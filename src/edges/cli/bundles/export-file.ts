import { randomBytes } from "node:crypto";
import { constants, link, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { LogError } from "#log/errors";
import type { ExportLine } from "#transfer/lines/export-lines";

const FLUSH_CHARS = 65_536;

/** What a file holds. */
export interface Copied {
  readonly entries: number;
  readonly blobs: number;
}

/** Writes lines as they come; the next are made when there is room for more. */
export async function copyLines(
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
export async function copyToFile(
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
    const copied = await copyLines(lines, (text) => handle.appendFile(text), step);
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
    return await copyLines(lines, (text) => handle.appendFile(text), step);
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
