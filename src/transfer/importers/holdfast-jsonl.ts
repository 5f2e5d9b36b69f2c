import { batchEndIn } from "#transfer/lines/batch-lines";
import { blobPiece } from "#transfer/lines/blob-lines";
import { FileDigest, type FileEnd, fileEndIn } from "#transfer/lines/file-end";
import { headerIn, logStartIn, type ReadHeader, type ReadStart } from "#transfer/lines/log-lines";
import {
  type ImportBatch,
  type Importer,
  type ImportHeader,
  type ImportReader,
  oneBody,
} from "./importer.ts";
import { LogError } from "#log/errors";
import { checkJsonObject, membersOf, objectText } from "#log/json/json-text";

/**
 * What `export` writes: a header, for each conversation its entries, the ends of its batches and the blobs in pieces, and a
 * last line that holds all of it.
 */
export const holdfastJsonl: Importer = {
  name: "holdfast-jsonl",
  begin: (first) => {
    const header = headerIn(first);
    return header === null ? null : new BundleReader(header, first);
  },
};

class BundleReader implements ImportReader {
  readonly header: ImportHeader | null;
  readonly #v: number;
  readonly #passed = new FileDigest();
  /** How many conversations the header says. */
  readonly #said: number;
  readonly #counts = { conversations: 0, entries: 0, blobs: 0 };
  #ended: boolean = false;

  constructor({ v, conversations, first }: ReadHeader, line: string) {
    this.#v = v;
    this.#said = conversations;
    this.#passed.add(line);
    this.header = first === null ? null : this.#begin(first);
  }

  read(line: string): ImportBatch {
    if (this.#ended) throw new LogError("damaged", "This line stands behind the end of the file");
    const end = fileEndIn(line);
    if (end !== null) {
      this.#ended = true;
      return { bodies: [], fileEnd: { wrong: this.#wrongWith(end) } };
    }
    this.#passed.add(line);
    const blob = blobPiece(line);
    if (blob !== null) {
      if (blob.offset === 0) this.#counts.blobs++;
      return { bodies: [], blob };
    }
    const batchEnd = batchEndIn(line);
    if (batchEnd !== null) return { bodies: [], batchEnd };
    const start = logStartIn(line);
    if (start !== null) return { bodies: [], log: this.#begin(start) };
    this.#counts.entries++;
    return entryOf(line);
  }

  #begin({ conversation, entries, linked, origin }: ReadStart): ImportHeader {
    this.#counts.conversations++;
    return { conversation, root: null, entries, origin, v: this.#v, linked };
  }

  #wrongWith({ header, whole }: FileEnd): string | null {
    if (header !== this.#passed.header) return "The header, line 1, is not the one that was written";
    const { conversations, entries, blobs } = this.#counts;
    if (conversations !== this.#said) return `The file has ${conversations} conversations of ${this.#said}`;
    if (whole === null) return null;
    if (whole.conversations !== conversations || whole.entries !== entries || whole.blobs !== blobs)
      return `The file has ${entries} entries of ${whole.entries}, ${blobs} blobs of ${whole.blobs} and ${conversations} conversations of ${whole.conversations}`;
    return whole.digest === this.#passed.digest() ? null : "The file is not the one that was written";
  }
}

/** An entry's number is the store's to give, and the same again when nothing is missing. */
function entryOf(line: string): ImportBatch {
  const { text, value } = checkJsonObject(line);
  const { seq } = value;
  const members = membersOf(text).filter(({ name }) => name !== "seq");
  return oneBody(objectText(members), typeof seq === "number" ? seq : null);
}
