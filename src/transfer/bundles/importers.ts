import {
  type FileBatchEnd,
  batchEndIn,
  type BlobPiece,
  blobPiece,
  FileDigest,
  type FileEnd,
  fileEndIn,
  headerIn,
  logStartIn,
  type FileHeader,
  type FileStart,
} from "./bundle-lines.ts";
import { LogError } from "#log/errors";
import { checkJsonObject, membersOf, objectText, type Member } from "#log/json/json-text";

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

function oneBody(body: string, seq: number | null = null): ImportBatch {
  return { bodies: [{ body, seq }] };
}

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
  readonly #digest = new FileDigest();
  /** How many conversations the header says. */
  readonly #conversations: number;
  readonly #counts = { conversations: 0, entries: 0, blobs: 0 };
  #ended: boolean = false;

  constructor({ v, conversations, first }: FileHeader, line: string) {
    this.#v = v;
    this.#conversations = conversations;
    this.#digest.add(line);
    this.header = first === null ? null : this.#begin(first);
  }

  read(line: string): ImportBatch {
    if (this.#ended) throw new LogError("damaged", "This line comes after the last line of the bundle");
    const end = fileEndIn(line);
    if (end !== null) {
      this.#ended = true;
      return { bodies: [], fileEnd: { wrong: this.#wrongWith(end) } };
    }
    this.#digest.add(line);
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

  #begin({ conversation, entries, linked, origin }: FileStart): ImportHeader {
    this.#counts.conversations++;
    return { conversation, root: null, entries, origin, v: this.#v, linked };
  }

  #wrongWith({ header, whole }: FileEnd): string | null {
    if (header !== this.#digest.header) return "The header (line 1) was changed";
    const { conversations, entries, blobs } = this.#counts;
    if (conversations !== this.#conversations)
      return `The file has ${conversations} conversations of ${this.#conversations}`;
    if (whole === null) return null;
    if (whole.conversations !== conversations || whole.entries !== entries || whole.blobs !== blobs)
      return `The file has ${entries} entries of ${whole.entries}, ${blobs} blobs of ${whole.blobs} and ${conversations} conversations of ${whole.conversations}`;
    return whole.digest === this.#digest.digest() ? null : "The file was changed after the export";
  }
}

/** An entry's number is the store's to give, and the same again when nothing is missing. */
function entryOf(line: string): ImportBatch {
  const { text, value } = checkJsonObject(line);
  const { seq } = value;
  const members = membersOf(text).filter(({ name }) => name !== "seq");
  return oneBody(objectText(members), typeof seq === "number" ? seq : null);
}

// Said by the header in its own way, or not the payload's to say.
const HEADER_ONLY: ReadonlySet<string> = new Set(
  "type id timestamp version parentId time seq v payload origin".split(" "),
);

/** A coding agent's session log: a header that stands for the first entry, then a line for each of the others. */
export const sessionLog: Importer = {
  name: "session-log",
  begin: (first) => {
    const header = headerOf(first);
    return header === null ? null : { header, read: batchOf };
  },
};

function headerOf(line: string): ImportHeader | null {
  const { text, value } = checkJsonObject(line);
  if (value["type"] !== "session") return null;
  if (value["version"] !== 1) throw otherVersion(value["version"]);
  const { id, timestamp } = value;
  if (typeof id !== "string") throw new LogError("damaged", "The session header has no id");
  const envelope: readonly Member[] = [
    { name: "type", text: '"conversation"' },
    { name: "id", text: JSON.stringify(id) },
    ...(timestamp === undefined ? [] : [{ name: "time", text: JSON.stringify(timestamp) }]),
  ];
  const payload = membersOf(text).filter(({ name }) => !HEADER_ONLY.has(name));
  return { conversation: id, root: objectText([...envelope, ...payload]), entries: null };
}

/** The time has another name, the rest is as it stands. */
function batchOf(line: string): ImportBatch {
  const { text, value } = checkJsonObject(line);
  if (typeof value["id"] !== "string" || typeof value["parentId"] !== "string") {
    throw new LogError("invalid_entry", "Every entry of a session log must have an id and a parentId");
  }
  const members = membersOf(text).map((member) =>
    member.name === "timestamp" ? { name: "time", text: member.text } : member,
  );
  return oneBody(objectText(members));
}

/** Other programs count their own versions, and a newer Holdfast would not know them either. */
function otherVersion(version: unknown): LogError {
  const versionText = Number.isSafeInteger(version) ? `version ${String(version)}` : "an unknown version";
  return new LogError(
    "unsupported_version",
    `This is a coding agent's session log in ${versionText}. Holdfast imports session logs of version 1 (see "Session logs" in docs/reference/format.md). Convert the file, or continue the conversation in its own agent with \`holdfast acp\`.`,
    { kind: "session-log", version: String(version), current: 1 },
  );
}
