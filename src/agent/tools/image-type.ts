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
