import type { Conversation } from "#conversation/conversation";
import { entryLine } from "#log/codec";
import { batchLine } from "./batch-lines.ts";
import { endLine, FileDigest } from "./file-end.ts";
import { exportBlobs } from "./export-blobs.ts";
import { type EntryChange, type ExportLog, exportLog } from "./export-log.ts";
import { bundleHeader, fileHeader, logLine } from "./log-lines.ts";

export interface ExportLine {
  /** A large blob takes more lines than one; only its first is called so. `log`: from here on another conversation. */
  readonly kind: "header" | "log" | "entry" | "batch" | "blob" | "piece" | "end";
  readonly text: string;
}

export interface ExportOptions {
  readonly exportedAt: string;
  /** An image that is named but cannot be had. */
  readonly onMissing: (digest: string) => void;
  /** Salvages a log whose links do not hold: all of it is written, and what follows the sound part as unproven. */
  readonly onUnproven?: (wrong: string, soundSeq: number) => void;
  /** Makes a file that is to be read and not to be gone on with, and says so. */
  readonly redactor?: EntryChange;
}

/**
 * Conversations as a file: a header, their entries word for word, each batch with its link and the blobs it is the first to
 * name, and an end that holds all of it. A fork whose source stands before it is written by its own entries, any other as one
 * whole log. What is written is proven as it is read.
 */
export async function* exportLines(
  conversations: readonly Conversation[],
  options: ExportOptions,
): AsyncGenerator<ExportLine> {
  const passed = new FileDigest();
  const counts = { conversations: conversations.length, entries: 0, blobs: 0 };
  const line = (kind: ExportLine["kind"], text: string): ExportLine => {
    passed.add(text);
    if (kind === "entry") counts.entries++;
    if (kind === "blob") counts.blobs++;
    return { kind, text };
  };
  const [only, ...others] = conversations;
  const { redactor, onUnproven } = options;
  const made = { exportedAt: options.exportedAt, redacted: redactor !== undefined };
  if (others.length > 0) yield line("header", bundleHeader(made, conversations.length));
  const logs = new Map<string, ExportLog>();
  for (const conversation of conversations) {
    const log = await exportLog(conversation, logs, { onUnproven, change: redactor });
    logs.set(conversation.id, log);
    if (others.length === 0 && conversation === only) yield line("header", fileHeader(made, log.start));
    else yield line("log", logLine(log.start));
    for await (const batch of log.batches()) {
      for (const entry of batch.entries) yield line("entry", entryLine(entry));
      yield line("batch", batchLine(batch.end));
      const blobs = redactor?.blobs(conversation) ?? conversation;
      for await (const blob of exportBlobs(blobs, log, batch, options.onMissing))
        for (const { text, first } of blob) yield line(first ? "blob" : "piece", text);
    }
  }
  yield { kind: "end", text: endLine(passed, counts) };
}
