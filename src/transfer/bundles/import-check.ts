import { createHash } from "node:crypto";
import { isLogError, LogError } from "#log/errors";
import type { SpaceStore } from "#store/facets";
import type { Importer, ImportHeader } from "./importers.ts";
import { type LogReport, LogCheck, type LinePlace, type WrongLink } from "./log-check.ts";
import { CONVERSATIONS_MAX } from "./bundle-lines.ts";
import { trialStore } from "./import-trial.ts";
import { type ImportFile, type ImportStep, openImport } from "./open-import.ts";

const IN_MEMORY_BYTES = 4_194_304; // a larger file is tried on disk: it would fill the memory
const PROBLEMS_MAX = 10_000; // of a file of rubbish there is no end to what can be said

/** Something that is wrong with a file; line 0: with its end. */
export interface ImportProblem {
  readonly line: number;
  readonly byte: number;
  readonly code: string;
  readonly message: string;
}

/** The contents and the problems of a file, found without writing to the target. */
export interface ImportReport {
  /** The name of its shape. */
  readonly format: string;
  readonly digest: string;
  readonly logs: readonly LogReport[];
  readonly problems: readonly ImportProblem[];
  /** The numbers of the lines that cannot come along. */
  readonly unusable: ReadonlySet<number>;
}

/** Imports the file into a store of its own, which is gone afterwards. */
export async function checkImport(
  file: ImportFile,
  onLine: (line: number) => void,
  importers?: readonly Importer[],
): Promise<ImportReport> {
  try {
    return await checkIn(file, onLine, { importers, inMemory: true });
  } catch (error) {
    if (!(error instanceof TooLargeForMemory)) throw error;
  }
  return checkIn(file, onLine, { importers, inMemory: false });
}

class TooLargeForMemory extends Error {}

async function checkIn(
  file: ImportFile,
  onLine: (line: number) => void,
  options: { readonly importers: readonly Importer[] | undefined; readonly inMemory: boolean },
): Promise<ImportReport> {
  const hash = createHash("sha256");
  const hashing = { name: file.name, chunks: () => hashed(file.chunks(), hash, options.inMemory) };
  const { format, header, steps } = await openImport(hashing, options.importers);
  await using store = await trialStore(options.inMemory);
  const check = new FileCheck(store.space);
  if (header !== null) await check.begin(header, { line: 1, byte: 0 });
  for await (const step of steps) {
    if (step.line.number > 0) onLine(step.line.number);
    await check.step(step);
  }
  return { format, digest: hash.digest("hex"), ...(await check.result()) };
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
  bounded: boolean,
): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bounded && bytes > IN_MEMORY_BYTES) throw new TooLargeForMemory();
    hash.update(chunk);
    yield chunk;
  }
}

/** Judges a file record by record. */
class FileCheck {
  readonly #space: SpaceStore;
  readonly #logs = new Map<string, LogCheck>();
  readonly #problems: ImportProblem[] = [];
  readonly #unusable = new Set<number>();
  #log: LogCheck | null = null;
  #ended: boolean = false;

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  /** What comes after the first thing that is wrong cannot be proven. */
  get #sound(): boolean {
    return this.#problems.length === 0;
  }

  async begin(header: ImportHeader, place: LinePlace): Promise<void> {
    await this.#endLog();
    const { conversation } = header;
    if (this.#logs.size >= CONVERSATIONS_MAX)
      throw new LogError("too_large", `The file has more than ${CONVERSATIONS_MAX} conversations`, {
        limit: CONVERSATIONS_MAX,
      });
    if (this.#logs.has(conversation)) {
      this.#log = null;
      throw new LogError("damaged", `The file contains conversation ${conversation} twice`);
    }
    const trial = { space: this.#space, number: this.#logs.size + 1 };
    this.#log = new LogCheck(header, trial, ({ place: refused, error }) => this.#refuse(refused, error));
    this.#logs.set(conversation, this.#log);
    if (header.root !== null)
      await this.#log.add({ bodies: [{ body: header.root, seq: null }] }, place, this.#context());
  }

  #context(): { readonly others: ReadonlyMap<string, LogCheck>; readonly sound: boolean } {
    return { others: this.#logs, sound: this.#sound };
  }

  async step(step: ImportStep): Promise<void> {
    const { number, offset, whole } = step.line;
    const place = { line: number, byte: offset };
    try {
      if ("error" in step) throw step.error;
      await this.#add(step.batch, place);
    } catch (error) {
      if (!isLogError(error)) throw error;
      await this.#log?.flush(); // what stands before it is judged before it
      const torn = whole ? "" : "The file ends within this line. ";
      this.#refuse(place, error, torn);
      const log = this.#log;
      // The number of entries in a bad line is unknown, so the count restarts after it.
      if (log !== null && (("error" in step && step.unread) || error.code === "invalid_entry"))
        log.expected = null;
    }
  }

  async #add(batch: Extract<ImportStep, { batch: unknown }>["batch"], place: LinePlace): Promise<void> {
    const { bodies, blob, batchEnd, fileEnd, log } = batch;
    if (log !== undefined) await this.begin(log, place);
    if (fileEnd !== undefined) {
      await this.#endLog();
      this.#ended = true;
      if (fileEnd.wrong !== null) this.#damaged({ ...place, message: fileEnd.wrong });
    }
    if (bodies.length === 0 && blob === undefined && batchEnd === undefined) return;
    if (this.#log === null) throw new LogError("damaged", "This line is not part of a conversation");
    if (blob !== undefined) this.#log.blobs.add(blob);
    if (batchEnd !== undefined && this.#sound) this.#damaged(this.#log.batchEnd(batchEnd, place));
    for (const message of await this.#log.add(batch, place, this.#context()))
      this.#tell({ ...place, code: "damaged", message });
  }

  #refuse(place: LinePlace, error: LogError, torn: string = ""): void {
    this.#tell({ ...place, code: error.code, message: `${torn}${error.message}` });
    this.#unusable.add(place.line);
  }

  #tell(problem: ImportProblem): void {
    const { line, byte } = problem;
    if (this.#problems.length >= PROBLEMS_MAX)
      throw new LogError("damaged", `More than ${PROBLEMS_MAX} lines up to line ${line} are invalid`, {
        line,
        byte,
      });
    this.#problems.push(problem);
  }

  #damaged(wrong: WrongLink | null): void {
    if (wrong !== null && this.#sound) this.#tell({ ...wrong, code: "damaged" });
  }

  /** What can only be told of a conversation when all of it was read. */
  async #endLog(): Promise<void> {
    const log = this.#log;
    if (log === null) return;
    this.#log = null;
    await log.flush();
    const nowhere = { line: 0, byte: 0 };
    try {
      log.blobs.end();
    } catch (error) {
      if (!isLogError(error)) throw error;
      this.#tell({ ...nowhere, code: error.code, message: error.message });
    }
    if (!log.hasFirst) {
      const message = `The file has no entries of ${log.header.conversation}`;
      return this.#damaged({ ...nowhere, message });
    }
    const { fewer } = log;
    if (fewer !== null) this.#damaged({ ...nowhere, message: fewer });
    if (this.#sound) this.#damaged(log.endOfLinks());
  }

  async result(): Promise<Omit<ImportReport, "format" | "digest">> {
    await this.#endLog();
    const checks = [...this.#logs.values()];
    if (this.#sound && !this.#ended && (checks.length === 0 || checks.some(({ linked }) => linked)))
      this.#damaged({ line: 0, byte: 0, message: "The file is incomplete: its last line is missing" });
    const last = Number.POSITIVE_INFINITY;
    const problems = this.#problems.toSorted((one, other) => (one.line || last) - (other.line || last));
    return { logs: checks.map((log) => log.result()), problems, unusable: this.#unusable };
  }
}
