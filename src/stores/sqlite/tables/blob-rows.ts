import { createHash } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryRow } from "./rows.ts";
import type { Sql } from "./sql.ts";

/** Payloads longer than this leave the row, compressed: below it the rows around them stay dense enough. */
export const PAYLOAD_CHARS_INLINE = 32_768;
const COMPRESS_BYTES_MIN = 512;

export interface Packed {
  readonly digest: string;
  readonly encoding: "zstd" | "raw";
  readonly bytes: Uint8Array;
}

/** Bytes as they are kept: compressed where that saves a tenth, under the digest of what they were. */
export function pack(bytes: Uint8Array): Packed {
  const digest = createHash("sha256").update(bytes).digest("hex");
  if (bytes.byteLength >= COMPRESS_BYTES_MIN) {
    const small = zstdCompressSync(bytes);
    if (small.byteLength < bytes.byteLength * 0.9) return { digest, encoding: "zstd", bytes: small };
  }
  return { digest, encoding: "raw", bytes };
}

export function packText(payload: string): Packed {
  return pack(Buffer.from(payload, "utf8"));
}

const INSERT =
  "INSERT OR IGNORE INTO blobs (conversation, digest, seq, encoding, bytes) VALUES (?, ?, ?, ?, ?)";
const FIND = "SELECT encoding, bytes FROM blobs WHERE conversation = ? AND digest = ? AND seq <= ?";

export function insertBlob(sql: Sql, conversation: number, seq: number, packed: Packed): void {
  sql.run(INSERT, conversation, packed.digest, seq, packed.encoding, packed.bytes);
}

/** The bytes a conversation had under a digest by the time its log was at `seq`. */
export function findBlob(sql: Sql, conversation: number, digest: string, seq: number): Uint8Array | null {
  const columns = sql.get<[string, Uint8Array]>(FIND, conversation, digest, seq);
  if (columns === undefined) return null;
  return columns[0] === "zstd" ? zstdDecompressSync(columns[1]) : columns[1];
}

/** The stored entry of a row; a large payload is brought from where it lies. */
export function toStored(row: EntryRow, sql: Sql): StoredEntry {
  return {
    v: row[0],
    id: row[1],
    seq: row[2],
    parentId: row[3],
    time: row[4],
    type: row[5],
    payload: row[6] ?? largePayload(sql, row),
  };
}

/** The text of a payload that does not lie in its row. */
function largePayload(sql: Sql, row: EntryRow): string {
  const [, , seq, , , , , digest, conversation] = row;
  const bytes = digest === null ? null : findBlob(sql, conversation, digest, Number.MAX_SAFE_INTEGER);
  if (bytes === null) throw new LogError("damaged", `The payload of entry ${seq} is missing`, { seq });
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}
