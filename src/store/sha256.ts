import { hash } from "node:crypto";
import type { Hash } from "#log/batch-links";

/** The hash of parts that links and digests are made with: see docs/format.md. */
export const sha256: Hash = (parts) => {
  let text = "";
  for (const part of parts) text += `${Buffer.byteLength(part)}:${part}`;
  return hash("sha256", text);
};
