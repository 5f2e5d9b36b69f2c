import { open } from "node:fs/promises";

/** As much of a file as was asked for. */
export interface TextStart {
  /** Null: it is no UTF-8 text. */
  readonly text: string | null;
  readonly bytes: number;
  /** Of the whole file. */
  readonly size: number;
}

/** Reads so much of a text and never more, whatever the file's size; a character is not cut in two. */
export async function readTextStart(path: string, bytesMax: number): Promise<TextStart> {
  await using file = await open(path, "r");
  const { size } = await file.stat();
  const buffer = new Uint8Array(Math.min(bytesMax, Math.max(size, MIN_BYTES)) + 1);
  let length = 0;
  for (;;) {
    const { bytesRead } = await file.read(buffer, length, buffer.length - length, length);
    length += bytesRead;
    if (bytesRead === 0 || length === buffer.length) break;
  }
  const end = length > bytesMax ? wholeCharacters(buffer, bytesMax) : length;
  return { text: textIn(buffer.subarray(0, end)), bytes: end, size: Math.max(size, length) };
}

const MIN_BYTES = 4_096; // files of the system say that they are empty

/** The same length or a little less: never inside a character. */
function wholeCharacters(bytes: Uint8Array, length: number): number {
  let end = length;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end--;
  return end;
}

function textIn(bytes: Uint8Array): string | null {
  if (bytes.includes(0)) return null;
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
