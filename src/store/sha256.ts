import { hash } from "node:crypto";
import type { Hash } from "#log/batch-links";

const HEAD_BYTES = 4_096; // for all parts but the last
const LAST_CHARS = 32_768;
const links = Buffer.allocUnsafeSlow(HEAD_BYTES + 3 * LAST_CHARS);
const entries = Buffer.allocUnsafeSlow(HEAD_BYTES + 3 * LAST_CHARS);

/** The hash of parts that links and digests are made with: see docs/reference/format.md. */
export const sha256: Hash = (parts) => {
  const written = writeParts(links, parts);
  return written === null ? hashLong(parts) : hashOf(links, written);
};

/**
 * The same, with the last part in UTF-8, which the hash needs anyway: whoever writes it down need not encode it again.
 * The bytes hold until the next call.
 */
export function sha256AndBytes(parts: readonly string[]): {
  readonly hash: string;
  readonly bytes: Uint8Array;
} {
  const written = writeParts(entries, parts);
  if (written === null) return { hash: hashLong(parts), bytes: Buffer.from(parts.at(-1) ?? "") };
  return { hash: hashOf(entries, written), bytes: entries.subarray(HEAD_BYTES, written.end) };
}

interface Written {
  readonly from: number;
  readonly end: number;
}

/**
 * The last part is the long one as a rule: it is written behind a gap, so that its length is known, and put before it,
 * without going through the text twice. Null where the parts are too long for that, or not as plain.
 */
function writeParts(room: Buffer, parts: readonly string[]): Written | null {
  const last = parts.at(-1) ?? "";
  let head = "";
  for (let index = 0; index < parts.length - 1; index++) head += `${parts[index]?.length}:${parts[index]}`;
  if (last.length > LAST_CHARS || head.length > HEAD_BYTES / 4) return null;
  const end = HEAD_BYTES + room.write(last, HEAD_BYTES);
  head += `${end - HEAD_BYTES}:`;
  const from = HEAD_BYTES - head.length;
  // Ids, times, types and digests have as many bytes as characters; where a part has more, its length above is wrong.
  return room.write(head, from) === head.length ? { from, end } : null;
}

function hashOf(room: Buffer, { from, end }: Written): string {
  return hash("sha256", room.subarray(from, end));
}

function hashLong(parts: readonly string[]): string {
  return hash("sha256", parts.map(withLength).join(""));
}

function withLength(part: string): string {
  return `${Buffer.byteLength(part)}:${part}`;
}
