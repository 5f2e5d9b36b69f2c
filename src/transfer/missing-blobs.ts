import type { Conversation } from "#conversation/conversation";
import { contentBlobs } from "#log/blob-names";
import { decodeEntry } from "#log/codec";
import type { Issue } from "#log/projections/issue";
import { blobOf } from "./lines/export-blobs.ts";

/** The images a conversation's own entries name and that cannot be read, each at the first entry that names it. */
export async function missingBlobs(conversation: Conversation): Promise<readonly Issue[]> {
  const seen = new Set<string>();
  const issues: Issue[] = [];
  for await (const stored of conversation.log({ types: ["message", "custom", "steer"] })) {
    for (const digest of contentBlobs(decodeEntry(stored))) {
      if (seen.has(digest)) continue;
      seen.add(digest);
      if ((await blobOf(conversation, digest)) !== null) continue;
      const message = `The image ${digest} is named here and is not in the store, or not whole`;
      issues.push({ kind: "missing_blob", entry: stored.id, message });
    }
  }
  return issues;
}
