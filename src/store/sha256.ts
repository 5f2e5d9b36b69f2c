import { hash } from "node:crypto";
import type { Hash } from "#log/batch-links";

const HEAD_BYTES = 4_096; // for all parts but the last
const LAST_CHARS = 16_384;
const room = Buffer.allocUnsafe(HEAD_BYTES + 3 * LAST_CHARS);

/**
 * The hash of parts that links and digests are made with: see docs/format.md. The last part is the long one as a rule: it is
 * written behind a gap, so that its length is known, and put before it, without going through the text twice.
 */
export const sha256: Hash = (parts) => {
  const last = parts.at(-1) ?? "";
  let head = "";
  for (let at = 0; at < parts.length - 1; at++) head += withLength(parts[at] ?? "");
  if (last.length > LAST_CHARS || head.length > HEAD_BYTES / 4)
    return hash("sha256", head + withLength(last));
  const bytes = room.write(last, HEAD_BYTES);
  head += `${bytes}:`;
  const start = HEAD_BYTES - Buffer.byteLength(head);
  room.write(head, start);
  return hash("sha256", room.subarray(start, HEAD_BYTES + bytes));
};

function withLength(part: string): string {
  return `${Buffer.byteLength(part)}:${part}`;
}
