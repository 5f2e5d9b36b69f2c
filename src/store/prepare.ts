import { createHash, randomBytes } from "node:crypto";
import type { StampedDraft } from "../log/batch.ts";
import { parseBody } from "../log/body.ts";
import type { EntryBody } from "../log/entry.ts";
import type { EntryId } from "../log/ids.ts";

/** Where ids and times come from; tests bring their own. */
export interface Mint {
  now(): string;
  newId(): string;
}

export const systemMint: Mint = { now: () => new Date().toISOString(), newId: () => uuidv7(Date.now()) };

/** A UUIDv7: sorts by the time it was made. */
export function uuidv7(nowMs: number): string {
  const bytes = randomBytes(16);
  bytes.writeUIntBE(nowMs, 0, 6);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x70, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

export interface Prepared {
  readonly drafts: readonly StampedDraft[];
  readonly digest: string;
}

/** Parses bodies at the door and makes what they left out. The digest covers them as given, so a retry matches. */
export function prepare(bodies: readonly (EntryBody | string)[], mint: Mint): Prepared {
  const hash = createHash("sha256");
  const drafts: StampedDraft[] = [];
  for (const body of bodies) {
    const draft = parseBody(body);
    hash.update(draft.source).update("\n");
    drafts.push({ draft, id: draft.id ?? (mint.newId() as EntryId), time: draft.time ?? mint.now() });
  }
  return { drafts, digest: hash.digest("hex") };
}
