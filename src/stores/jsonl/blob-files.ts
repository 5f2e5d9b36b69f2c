import { createHash } from "node:crypto";
import { join } from "node:path";
import { promisify } from "node:util";
import { zstdCompress, zstdDecompress } from "node:zlib";
import { LogError } from "#log/errors";
import type { Digest } from "#log/ids";
import { onDisk } from "./disk/disk.ts";
import { blobsPath, type LogLocation } from "./file-names.ts";
import { readWhole, writeWhole } from "./disk/whole-file.ts";

const BLOB_BYTES_MAX = 1_073_741_824; // 1 GiB: a blob is handled in memory, and a packed one must not unpack beyond it
const PACKED = ".zst";

const pack = promisify(zstdCompress);
const unpack = promisify(zstdDecompress);

/** Keeps a blob under its digest, packed when that is smaller. A damaged one is replaced, a sound one left alone. */
export function putBlob(location: LogLocation, digest: Digest, bytes: Uint8Array): Promise<void> {
  if (bytes.length > BLOB_BYTES_MAX) {
    throw new LogError("too_large", `The blob has ${bytes.length} bytes. The limit is ${BLOB_BYTES_MAX}.`, {
      limit: BLOB_BYTES_MAX,
    });
  }
  return onDisk(`storing a blob of conversation ${location.conversation}`, async () => {
    const folder = blobsPath(location);
    if (await isSound(location, digest)) return;
    if ((await location.disk.stat(folder)) === null) {
      await location.disk.makeFolder(folder);
      await location.disk.syncFolder(location.folder);
    }
    const packed = await pack(bytes);
    const smaller = packed.length < bytes.length;
    await writeWhole(location, join(folder, smaller ? digest + PACKED : digest), smaller ? packed : bytes);
  });
}

async function isSound(location: LogLocation, digest: Digest): Promise<boolean> {
  try {
    return (await getBlob(location, digest)) !== null;
  } catch {
    return false;
  }
}

/** Null when there is none; its bytes are always those the digest stands for. */
export function getBlob(
  location: Pick<LogLocation, "disk" | "folder" | "conversation">,
  digest: Digest,
): Promise<Uint8Array | null> {
  return onDisk(`reading a blob of conversation ${location.conversation}`, async () => {
    for (const name of [digest + PACKED, digest]) {
      const stored = await readWhole(location.disk, join(blobsPath(location), name));
      if (stored === null) continue;
      const bytes =
        name === digest
          ? stored
          : await unpack(stored, { maxOutputLength: BLOB_BYTES_MAX }).catch(() => null);
      if (bytes !== null && createHash("sha256").update(bytes).digest("hex") === digest) return bytes;
      throw new LogError(
        "damaged",
        `The content of blob ${digest} of conversation ${location.conversation} does not match its digest`,
        { digest },
      );
    }
    return null;
  });
}

/** The digests of all blobs kept with a conversation. */
export function blobsOf(location: LogLocation): Promise<readonly Digest[]> {
  return onDisk(`listing the blobs of conversation ${location.conversation}`, async () =>
    (await location.disk.list(blobsPath(location))).map(digestIn).filter((digest) => digest !== null),
  );
}

/** The digest in a blob's file name; null for any other file. */
export function digestIn(file: string): Digest | null {
  const name = file.endsWith(PACKED) ? file.slice(0, -PACKED.length) : file;
  return /^[0-9a-f]{64}$/.test(name) ? name : null;
}
