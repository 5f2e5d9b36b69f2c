import { createHash } from "node:crypto";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { Importer, ImportHeader } from "./importers.ts";
import { withOrigin, replaceMember } from "./inherited-entries.ts";
import { BlobAssembly, BatchSize } from "./bundle-lines.ts";
import type { ImportReport } from "./import-check.ts";
import { type ImportTarget, importKey, importWriter } from "./import-targets.ts";
import { type ImportFile, type ImportStep, openImport } from "./open-import.ts";
import { checkJsonObject, membersOf } from "#log/json/json-text";
import type { ConversationId } from "#log/ids";
import { type Prepared, prepare, systemIdsAndTime } from "#store/prepare";
import { spaceOf } from "#conversation/on-space";

export interface ImportPlan {
  readonly checked: ImportReport;
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
  const run = new ImportRun(holdfast, plan);
  if (header !== null) await run.begin(header);
  for await (const step of steps)
    if (!("error" in step) && !checked.unusable.has(step.line.number)) await run.add(step.batch);
  if (hash.digest("hex") !== checked.digest)
    throw new LogError(
      "damaged",
      `${file.name} changed during the import. The imported part is marked as unfinished.`,
      { file: file.name },
    );
  await run.end();
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

class ImportRun {
  readonly #holdfast: Holdfast;
  readonly #plan: ImportPlan;
  readonly #ids: ReadonlyMap<string, string>;
  readonly #assembly = new BlobAssembly();
  readonly #logs: ImportLog[] = [];
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
    this.#logs.push(this.#log);
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
    for (const log of this.#logs) await log.end();
  }
}

const LEASE_MS = 2_592_000_000; // 30 days: nobody goes on with half a conversation until its import is run again

/**
 * Writes one conversation of a file, in batches whose keys let a run that was cut off be run again. Until it is whole the
 * import holds it, so that nobody takes a half for the whole.
 */
class ImportLog {
  readonly #holdfast: Holdfast;
  readonly #target: ImportTarget;
  readonly #digest: string;
  readonly #ids: ReadonlyMap<string, ConversationId>;
  readonly #size = new BatchSize();
  #bodies: string[] = [];
  #epoch: number = 0;
  #headSeq: number = 0;
  /** How many entries are in the log. */
  done: number = 0;

  /** `ids`: what the conversations of the file are called here. */
  constructor(
    holdfast: Holdfast,
    target: ImportTarget,
    from: { readonly digest: string; readonly ids: ReadonlyMap<string, ConversationId> },
  ) {
    this.#holdfast = holdfast;
    this.#target = target;
    this.#digest = from.digest;
    this.#ids = from.ids;
  }

  get #writes(): boolean {
    const { state } = this.#target;
    return state === "new" || state === "unfinished";
  }

  async add(bodies: readonly string[]): Promise<void> {
    if (!this.#writes || bodies.length === 0) return;
    const chars = bodies.reduce((sum, body) => sum + body.length, 0);
    const compaction = bodies.some((body) => body.includes('"compaction"'));
    if (!this.#target.keepsLinks && !this.#size.fits({ chars, compaction })) await this.#flush(true);
    this.#bodies.push(...bodies);
    this.#size.add(chars, bodies.length);
  }

  async batchEnd(byOwner: boolean): Promise<void> {
    if (this.#target.keepsLinks) await this.#flush(byOwner);
  }

  /** A blob stands behind the entries that name it; it needs a conversation. */
  async blob(bytes: Uint8Array): Promise<void> {
    const { state, id } = this.#target;
    if (state === "same") return;
    if (this.#writes && this.done === 0) await this.#flush(true);
    await this.#holdfast.handle(id).putBlob(bytes);
  }

  /** Writes what waits. */
  async flush(): Promise<void> {
    if (this.#writes) await this.#flush(true);
  }

  /** Releases the lease: the conversation is complete, and any process may continue it. */
  async end(): Promise<void> {
    if (!this.#writes) return;
    await this.#flush(true);
    await spaceOf(this.#holdfast).renew({ conversation: this.#target.id, epoch: this.#epoch, leaseMs: 0 });
  }

  async #flush(byOwner: boolean): Promise<void> {
    const bodies = this.#bodies;
    this.#bodies = [];
    this.#size.clear();
    const [first, ...others] = bodies;
    if (first === undefined) return;
    if (this.done > 0) return this.#append(bodies, byOwner);
    const isFork = this.#target.log.source !== null;
    if (isFork) await this.#fork(first);
    else await this.#create([this.#renamed(first), ...others]);
    const { id } = this.#target;
    const writer = importWriter(this.#digest);
    const head = await spaceOf(this.#holdfast).acquire({ conversation: id, writer, leaseMs: LEASE_MS });
    [this.#epoch, this.#headSeq] = [head.epoch, head.headSeq];
    if (isFork && others.length > 0) await this.#append(others, byOwner);
  }

  #prepared(bodies: readonly string[], lastEntry: number): Prepared {
    return prepare(bodies, systemIdsAndTime, importKey(this.#digest, lastEntry));
  }

  async #create(bodies: readonly string[]): Promise<void> {
    await spaceOf(this.#holdfast).create({ conversation: this.#target.id, ...this.#prepared(bodies, 1) });
    this.done = bodies.length;
  }

  async #fork(body: string): Promise<void> {
    const [stamped] = prepare([body], systemIdsAndTime).drafts;
    const origin = stamped?.draft.body["origin"] as Origin | undefined;
    const source = this.#ids.get(origin?.conversation ?? "");
    if (stamped === undefined || origin === undefined || source === undefined)
      throw new LogError(
        "damaged",
        `The file changed during the import, so ${this.#target.id} is incomplete`,
      );
    const { cwd, title = null } = stamped.draft.body as { readonly cwd?: string; readonly title?: string };
    await spaceOf(this.#holdfast).fork({
      source,
      entry: origin.entry,
      head: origin.head,
      conversation: this.#target.id,
      ...(cwd === undefined ? {} : { cwd }),
      title,
      time: stamped.time,
      id: stamped.id,
      key: importKey(this.#digest, 1),
    });
    this.done = 1;
  }

  async #append(bodies: readonly string[], byOwner: boolean): Promise<void> {
    const done = this.done + bodies.length;
    const space = spaceOf(this.#holdfast);
    const { toSeq } = await space.append({
      conversation: this.#target.id,
      author: byOwner ? { kind: "owner", epoch: this.#epoch, expected: this.#headSeq } : { kind: "outside" },
      ...this.#prepared(bodies, done),
      // With the last batch all are on the disk; until then a run can be run again.
      durability: done < this.#target.log.entries ? "relaxed" : "full",
    });
    this.done = done;
    this.#headSeq = Math.max(this.#headSeq, toSeq);
  }

  /** The root of a conversation that another one of the file has begun names that one as it is called here. */
  #renamed(root: string): string {
    const parent = membersOf(root).findLast(({ name }) => name === "parent")?.text;
    if (parent === undefined || !parent.startsWith("{")) return root;
    const source = checkJsonObject(parent).value["conversation"];
    const id = typeof source === "string" ? this.#ids.get(source) : undefined;
    if (id === undefined || id === source) return root;
    return replaceMember(root, "parent", replaceMember(parent, "conversation", JSON.stringify(id)));
  }
}

interface Origin {
  readonly conversation: string;
  readonly entry: string;
  readonly head: number;
}
