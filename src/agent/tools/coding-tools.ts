import type { Tool } from "#turn/effects/tool";
import { searchTool } from "./search-tool.ts";
import { shellTool, type ShellOptions } from "./shell-tool.ts";
import { randomBytes } from "node:crypto";
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { ContentBlock } from "#log/message";
import { type Fields, fieldsOf, countIn, wordsIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { isMissing, realPathOf } from "./folder-path.ts";

/** The tools for work in a folder: `read`, `write`, `edit`, `search` and `shell`. */
export function codingTools(options: ShellOptions): readonly Tool[] {
  const { cwd } = options;
  return [readTool(cwd), writeTool(cwd), editTool(cwd), searchTool(cwd), shellTool(options)];
}

const FILE_BYTES_MAX = 16_777_216; // what is read whole; beyond it a command that reads a part is the better way
const IMAGE_BYTES_MAX = 5_242_880; // what providers take
const BINARY_BYTES = 8_192; // where a file that is no text mostly shows it

const PATH = { type: "string", description: "File path, absolute or relative to the working directory" };

function objectSchema(properties: Fields, ...required: readonly string[]): Fields {
  return { type: "object", properties, required, additionalProperties: false };
}

const text = (input: Json, name: string): string => wordsIn(fieldsOf(input)[name]);

/** Reads a file: its text, an image as an image, and of anything else that it is neither. */
function readTool(cwd: string): Tool {
  return {
    name: "read",
    description: "Read a text or image file. Use `line` and `lines` to read only part of a text file.",
    input: objectSchema(
      {
        path: PATH,
        line: { type: "integer", description: "First line to read, starting at 1" },
        lines: { type: "integer", description: "Number of lines to read" },
      },
      "path",
    ),
    effect: "none",
    run: async (input) => {
      const { bytes, path } = await readWholeFile(cwd, text(input, "path"));
      const image = imageType(bytes);
      if (image !== null) return { content: imageBlocks(bytes, image), details: { path } };
      const fields = fieldsOf(input);
      const [line, lines] = [countIn(fields["line"]), countIn(fields["lines"])];
      const whole = textOf(bytes, path);
      if (line === null && lines === null) return { content: whole, details: { path } };
      const from = Math.max((line ?? 1) - 1, 0);
      const all = whole.split("\n");
      const part = all.slice(from, lines === null ? undefined : from + Math.max(lines, 0));
      const content = `[lines ${from + 1} to ${from + part.length} of ${all.length}]\n${part.join("\n")}`;
      return { content, details: { path } };
    },
  };
}

/** Writes or replaces a whole file. Readers see the old or the new text, never a part. */
function writeTool(cwd: string): Tool {
  return {
    name: "write",
    description: "Write a file with this content. Replaces an existing file and creates missing folders.",
    input: objectSchema({ path: PATH, content: { type: "string" } }, "path", "content"),
    run: async (input) => {
      const content = text(input, "content");
      const path = await replaceFile(resolve(cwd, text(input, "path")), content);
      return { content: `Wrote ${charactersOf(content)} to ${text(input, "path")}`, details: { path } };
    },
    dryRun: async (input) => `Would write ${charactersOf(text(input, "content"))} to ${text(input, "path")}`,
  };
}

function charactersOf({ length }: string): string {
  return length === 1 ? "1 character" : `${length} characters`;
}

/** Replaces one stretch of text in a file, which has to be there exactly once. */
function editTool(cwd: string): Tool {
  return {
    name: "edit",
    description:
      "Replace `old` with `new` in a file. `old` must occur exactly once, character for character, so include enough of the surrounding text.",
    input: objectSchema(
      { path: PATH, old: { type: "string" }, new: { type: "string" } },
      "path",
      "old",
      "new",
    ),
    run: async (input) => {
      const { next, path } = await edited(cwd, input);
      await replaceFile(path, next);
      return { content: `Edited ${text(input, "path")}`, details: { path } };
    },
    dryRun: async (input) => {
      await edited(cwd, input);
      return `Would edit ${text(input, "path")}`;
    },
  };
}

async function edited(cwd: string, input: Json): Promise<{ readonly next: string; readonly path: string }> {
  const [old, by] = [text(input, "old"), text(input, "new")];
  const { bytes, path } = await readWholeFile(cwd, text(input, "path"));
  const whole = textOf(bytes, path);
  if (old === "") throw new Error("`old` is empty. Pass the text to replace. The file was not changed.");
  if (old === by) throw new Error("`old` and `new` are the same. The file was not changed.");
  const first = whole.indexOf(old);
  if (first === -1)
    throw new Error(`\`old\` does not occur in ${path}. The file was not changed. Read it again.`);
  const second = whole.indexOf(old, first + 1);
  if (second !== -1) {
    const lines = [first, second].map((index) => whole.slice(0, index).split("\n").length);
    const where = `at lines ${lines.join(" and ")}`;
    throw new Error(
      `\`old\` occurs in ${path} more than once, ${where}. The file was not changed. Include more of the surrounding text.`,
    );
  }
  return { next: whole.slice(0, first) + by + whole.slice(first + old.length), path };
}

async function readWholeFile(
  cwd: string,
  input: string,
): Promise<{ readonly bytes: Buffer; readonly path: string }> {
  const path = resolve(cwd, input);
  const stats = await stat(path).catch((error: unknown) => {
    throw isMissing(error) ? new Error(`File not found: ${input}`) : error;
  });
  if (stats.isDirectory()) throw new Error(`${input} is a folder`);
  // A pipe or a device would be waited for, or never end.
  if (!stats.isFile()) throw new Error(`${input} is not a regular file`);
  if (stats.size > FILE_BYTES_MAX)
    throw new Error(
      `${input} has ${stats.size} bytes. The limit is ${FILE_BYTES_MAX}. Search it, or read a part of it with a command.`,
    );
  return { bytes: await readFile(path), path };
}

function textOf(bytes: Buffer, path: string): string {
  const whole = bytes.toString("utf8");
  // What would not come back as it was cannot be shown or edited as text.
  if (bytes.subarray(0, BINARY_BYTES).includes(0) || !Buffer.from(whole).equals(bytes))
    throw new Error(`${path} is a binary file of ${bytes.length} bytes, not text`);
  return whole;
}

function imageBlocks(
  bytes: Buffer,
  { mediaType, isWhole }: { readonly mediaType: string; readonly isWhole: boolean },
): string | readonly ContentBlock[] {
  if (!isWhole)
    return `The file starts like an image (${mediaType}, ${bytes.length} bytes) but is incomplete, so it cannot be shown`;
  if (bytes.length > IMAGE_BYTES_MAX)
    return `The image (${mediaType}, ${bytes.length} bytes) is too large to show to a model. The limit is ${IMAGE_BYTES_MAX} bytes.`;
  return [{ type: "image", mediaType, data: bytes.toString("base64") }];
}

/** The file that was written: where a link leads, so that the link stays one. */
async function replaceFile(input: string, content: string): Promise<string> {
  const path = await realPathOf(input);
  const before = await stat(path).catch(() => null);
  if (before !== null && !before.isFile()) throw new Error(`${input} is not a file. Nothing was written.`);
  await mkdir(dirname(path), { recursive: true });
  const temp = join(dirname(path), `.holdfast-${randomBytes(6).toString("hex")}.tmp`);
  try {
    await using file: FileHandle = await open(temp, "wx");
    await file.writeFile(content);
    if (before !== null) await file.chmod(before.mode & 0o7777);
    await file.sync();
    await rename(temp, path);
  } catch (cause) {
    await rm(temp, { force: true });
    // The system's message names a temporary file.
    const why = cause instanceof Error && "code" in cause ? String(cause.code) : String(cause);
    throw new Error(`${input} could not be written (${why}). The file was not changed.`, { cause });
  }
  return path;
}
interface ImageKind {
  readonly mediaType: string;
  readonly signature: RegExp;
  /** Whether there is as much of it as it says itself; a provider refuses half an image, and every request with it. */
  isWhole(bytes: Buffer): boolean;
}

const KINDS: readonly ImageKind[] = [
  {
    mediaType: "image/png",
    signature: /^\x89PNG\r\n/,
    isWhole: (bytes) =>
      bytes.length > 32 &&
      bytes.toString("latin1", 12, 16) === "IHDR" &&
      bytes.readUInt32BE(16) > 0 &&
      bytes.readUInt32BE(20) > 0 &&
      bytes.includes("IEND"),
  },
  {
    mediaType: "image/jpeg",
    signature: /^\xff\xd8\xff/,
    isWhole: (bytes) =>
      /\xff[\xc0-\xc3\xc5-\xc7\xc9-\xcb\xcd-\xcf]/.test(bytes.toString("latin1")) &&
      bytes.includes("\u00FF\u00D9", 2, "latin1"),
  },
  {
    mediaType: "image/gif",
    signature: /^GIF8[79]a/,
    isWhole: (bytes) => bytes.length > 13 && bytes.readUInt16LE(6) > 0 && bytes.readUInt16LE(8) > 0,
  },
  {
    mediaType: "image/webp",
    signature: /^RIFF[^]{4}WEBP/,
    isWhole: (bytes) => bytes.length >= bytes.readUInt32LE(4) + 8,
  },
];

/** What kind of image a file is, and whether it is a whole one; null: it is none. */
export function imageType(bytes: Buffer): { readonly mediaType: string; readonly isWhole: boolean } | null {
  const start = bytes.subarray(0, 16).toString("latin1");
  const kind = KINDS.find(({ signature }) => signature.test(start));
  return kind === undefined ? null : { mediaType: kind.mediaType, isWhole: kind.isWhole(bytes) };
}
