import { randomBytes } from "node:crypto";
import { constants, link, open, realpath, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { LogError } from "#log/errors";
import type { ExportLine } from "#transfer/bundles/export-lines";

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
export function copyToFile(
  lines: AsyncIterable<ExportLine>,
  target: Target,
  step: (done: number) => void,
): Promise<Copied> {
  return intoFile(target, (write) => copyLines(lines, write, step));
}

/** The same with bytes as they are. */
export function copyChunks(chunks: AsyncIterable<Uint8Array>, target: Target): Promise<void> {
  return intoFile(target, async (write) => {
    for await (const chunk of chunks) await write(chunk);
  });
}

interface Target {
  readonly file: string;
  readonly force: boolean;
}

type Fill<T> = (write: (data: string | Uint8Array) => Promise<void>) => Promise<T>;

async function intoFile<T>(target: Target, fill: Fill<T>): Promise<T> {
  const { force } = target;
  const there = await stat(target.file).catch(() => null);
  if (there !== null && !there.isFile() && !there.isDirectory()) return intoPipe(target.file, fill);
  if (there?.isDirectory())
    throw new LogError("invalid_request", `${target.file} is a folder, not a file`, { file: target.file });
  if (there !== null && !force) throw fileExists(target.file);
  // A link goes on pointing at the file it names.
  const file = there === null ? target.file : await realpath(target.file);
  const unfinished = `${file}.${randomBytes(4).toString("hex")}.part`;
  try {
    await using handle = await open(unfinished, "wx", 0o600);
    const copied = await fill((data) => handle.appendFile(data));
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
async function intoPipe<T>(file: string, fill: Fill<T>): Promise<T> {
  try {
    await using handle = await open(file, constants.O_WRONLY);
    return await fill((data) => handle.appendFile(data));
  } catch (error) {
    throw fileError(error, file);
  }
}

function fileExists(file: string): LogError {
  return new LogError("invalid_request", `${file} already exists. Use --force to replace it.`, {
    file,
  });
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
    ? new LogError("disk_full", `The disk is full: ${file} cannot be written`, {}, { cause: error })
    : error;
}
