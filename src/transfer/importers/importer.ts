import type { FileBatchEnd } from "#transfer/lines/batch-lines";
import type { BlobPiece } from "#transfer/lines/blob-lines";

/** A shape of file that can be read into a conversation: records in, batches of bodies out. */
export interface Importer {
  readonly name: string;
  /** Begins with a file's first record; null when it is not of this shape, an error when its version is not known. */
  begin(first: string): ImportReader | null;
}

/** Reads one file, record by record. A file is read twice, and must give the same twice. */
export interface ImportReader {
  /** The conversation that the first record begins; null where each has a record of its own. */
  readonly header: ImportHeader | null;
  /** What a record gives: a body where each stands for an entry; none before it is whole where several make one. */
  read(record: string): ImportBatch;
  /** What the end of the file makes whole. */
  end?(): ImportBatch;
}

/** How a conversation begins in a file. */
export interface ImportHeader {
  /** The conversation's id where the file comes from. */
  readonly conversation: string;
  /** The body of the log's first entry, where the header itself stands for it. */
  readonly root: string | null;
  /** How many entries the file says it has. */
  readonly entries: number | null;
  /** For a fork, where it was forked from, as text: what it inherited is part of the file. */
  readonly origin?: string | null;
  /** The version it was written in, where its entries have links. */
  readonly v?: number;
  /** Whether its batches have links, which prove what it holds. */
  readonly linked?: boolean;
}

/** Bodies that come along together or not at all. */
export interface ImportBatch {
  readonly bodies: readonly ImportBody[];
  /** A piece of a blob, where the shape has blobs. */
  readonly blob?: BlobPiece;
  /** A batch ends before this record. */
  readonly batchEnd?: FileBatchEnd;
  /** With this record another conversation begins. */
  readonly log?: ImportHeader;
  /** The record says that the file ends here; what is wrong with it then, or null. */
  readonly fileEnd?: { readonly wrong: string | null };
}

interface ImportBody {
  /** As the log takes it, its payload as it was written. */
  readonly body: string;
  /** The number it gives itself; a jump means that records are missing. Null where the shape has no numbers. */
  readonly seq: number | null;
}

export function oneBody(body: string, seq: number | null = null): ImportBatch {
  return { bodies: [{ body, seq }] };
}
