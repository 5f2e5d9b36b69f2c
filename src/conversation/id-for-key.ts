import { createHash } from "node:crypto";

/**
 * The conversation id for a request that has a key but no id: the same request gets the same id, so running it again
 * finds what the first run made. Shaped as a UUIDv8, the version that is free to carry a digest.
 */
export function idForKey(...parts: readonly string[]): string {
  const bytes = createHash("sha256").update(JSON.stringify(parts)).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
