import { batchEndIn, headerDigest, headerDigestIn } from "#transfer/lines/batch-lines";
import { blobPiece } from "#transfer/lines/blob-lines";
import { type ImportBatch, type Importer, type ImportHeader, oneBody } from "./importer.ts";
import { checkVersion } from "#log/codec";
import { LogError } from "#log/errors";
import { checkJsonObject, type Json, membersOf, objectText } from "#log/json/json-text";

/** What `export --format jsonl` writes: a header, a line for each entry and each end of a batch, then the blobs in pieces. */
export const holdfastJsonl: Importer = {
  name: "holdfast-jsonl",
  begin: (first) => {
    const header = headerOf(first);
    return header === null ? null : { header, read: (line) => batchOf(line, first) };
  },
};

function headerOf(line: string): ImportHeader | null {
  const { value } = checkJsonObject(line);
  if (value["type"] !== "holdfast") return null;
  checkVersion(value["v"]);
  const { conversation, entries } = value;
  if (typeof conversation !== "string") throw new LogError("damaged", "The header names no conversation");
  const origin = isOrigin(value["origin"]) ? JSON.stringify(value["origin"]) : null;
  const linked = value["links"] !== undefined;
  const v = Number(value["v"]);
  return {
    conversation,
    root: null,
    entries: typeof entries === "number" ? entries : null,
    origin,
    v,
    linked,
  };
}

function isOrigin(value: Json | undefined): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const { conversation, entry, head } = value as { readonly [name: string]: Json };
  return typeof conversation === "string" && typeof entry === "string" && Number.isSafeInteger(head);
}

/** An entry's number is the store's to give, and the same again when nothing is missing. */
function batchOf(line: string, header: string): ImportBatch {
  const blob = blobPiece(line);
  if (blob !== null) return { bodies: [], blob };
  const batchEnd = batchEndIn(line);
  if (batchEnd !== null) return { bodies: [], batchEnd };
  const digest = headerDigestIn(line);
  if (digest !== null && digest !== headerDigest(header))
    throw new LogError("damaged", "The header, line 1, is not the one that was written");
  if (digest !== null) return { bodies: [], fileEnd: true };
  const { text, value } = checkJsonObject(line);
  const { seq } = value;
  const members = membersOf(text).filter(({ name }) => name !== "seq");
  return oneBody(objectText(members), typeof seq === "number" ? seq : null);
}
