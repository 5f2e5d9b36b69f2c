import { createHash } from "node:crypto";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Importer, ImportHeader } from "#transfer/importers/importer";
import { withOrigin } from "#transfer/lines/forked-from";
import { BlobAssembly } from "./import-blobs.ts";
import type { Checked } from "./import-check.ts";
import { ImportLog } from "./import-log.ts";
import type { ImportTarget } from "./import-targets.ts";
import { type ImportFile, type ImportStep, openImport } from "./open-import.ts";

export interface ImportPlan {
  readonly checked: Checked;
  readonly targets: readonly ImportTarget[];
  readonly onEntry: (done: number) => void;
  /** The shapes it was looked for among, where they are not the usual ones. */
  readonly importers?: readonly Importer[];
}

/** Writes a checked file, conversation by conversation. */
export async function writeImport(holdfast: Holdfast, file: ImportFile, plan: ImportPlan): Promise<void> {
  const { checked } = plan;
  const hash = createHash("sha256");
  const hashing = { name: file.name, chunks: () => hashed(file.chunks(), hash) };
  const { header, steps } = await openImport(hashing, plan.importers);
  const writing = new Writing(holdfast, plan);
  if (header !== null) await writing.begin(header);
  for await (const step of steps)
    if (!("error" in step) && !checked.unusable.has(step.line.number)) await writing.add(step.batch);
  if (hash.digest("hex") !== checked.digest)
    throw new LogError(
      "damaged",
      `${file.name} was changed while it was imported; what is written of it is held as unfinished`,
      { file: file.name },
    );
  await writing.end();
}

async function* hashed(
  chunks: AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}

class Writing {
  readonly #holdfast: Holdfast;
  readonly #plan: ImportPlan;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #assembly = new BlobAssembly();
  readonly #begun: ImportLog[] = [];
  #target: ImportTarget | undefined;
  #log: ImportLog | null = null;
  #origin: string | null = null;
  #done: number = 0;

  constructor(holdfast: Holdfast, plan: ImportPlan) {
    this.#holdfast = holdfast;
    this.#plan = plan;
    this.#ids = new Map(plan.targets.map(({ id, log }) => [log.header.conversation, id]));
  }

  async begin(header: ImportHeader): Promise<void> {
    await this.#log?.flush();
    const { targets, checked } = this.#plan;
    this.#log = null;
    this.#target = targets.find(({ log }) => log.header.conversation === header.conversation);
    if (this.#target === undefined) return;
    this.#log = new ImportLog(this.#holdfast, this.#target, { digest: checked.digest, ids: this.#ids });
    this.#begun.push(this.#log);
    // Where there are links the first entry says it, or the file would prove another one than is written.
    this.#origin = this.#target.log.links.linked ? null : (header.origin ?? null);
    if (header.root !== null) await this.#log.add([header.root]);
  }

  async add(batch: Extract<ImportStep, { batch: unknown }>["batch"]): Promise<void> {
    const { log: header, blob, bodies, batchEnd } = batch;
    if (header !== undefined) await this.begin(header);
    const [log, target] = [this.#log, this.#target];
    if (log === null || target === undefined) return;
    const texts = bodies.map(({ body }) => this.#withOrigin(body));
    await log.add(texts);
    if (batchEnd !== undefined) await log.batchEnd(batchEnd.byOwner);
    const bytes = blob !== undefined && target.log.blobs.has(blob.digest) ? this.#assembly.add(blob) : null;
    if (bytes !== null) await log.blob(bytes);
    this.#done += bodies.length;
    if (bodies.length > 0) this.#plan.onEntry(this.#done);
  }

  #withOrigin(body: string): string {
    const origin = this.#origin;
    this.#origin = null;
    return origin === null ? body : withOrigin(body, origin);
  }

  /** Only now, when all that belongs together is there, anyone may go on with any of it. */
  async end(): Promise<void> {
    for (const log of this.#begun) await log.end();
  }
}
