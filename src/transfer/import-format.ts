import { type BlobPiece, blobPiece } from "./importers/blob-lines.ts";
import { holdfastEntry, holdfastHeader } from "./importers/holdfast-jsonl.ts";
import { sessionEntry, sessionHeader } from "./importers/session-log.ts";

/** A shape of file that can be read into a conversation, line by line. */
export interface ImportFormat {
  readonly name: string;
  /** Reads the first line; null when it is not this shape's, an error when its version is not known. */
  readonly header: (line: string) => ImportHeader | null;
  /** An entry line as the body the log takes, its payload as it was written. */
  readonly entry: (line: string) => ImportedLine;
  /** A piece of a blob; null when the line is none. A shape without it has no blobs. */
  readonly blob?: (line: string) => BlobPiece | null;
}

export interface ImportHeader {
  /** The conversation's id where the file comes from. */
  readonly conversation: string;
  /** The body of the log's first entry, where the header itself stands for it. */
  readonly root: string | null;
  /** How many entries the file says it has. */
  readonly entries: number | null;
  /** For a fork, where it was forked from, as text: what it inherited is part of the file. */
  readonly origin?: string | null;
}

interface ImportedLine {
  readonly body: string;
  /** The number the line gives itself; a jump means that lines are missing. */
  readonly seq: number | null;
}

export const FORMATS: readonly ImportFormat[] = [
  { name: "holdfast-jsonl", header: holdfastHeader, entry: holdfastEntry, blob: blobPiece },
  { name: "session-log", header: sessionHeader, entry: sessionEntry },
];
