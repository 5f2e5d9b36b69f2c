import fc from "fast-check";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { HeadView, Page, SearchHit } from "#store/requests";
import type { Store } from "#store/store";

/** One thing that is done in a space; numbers choose among what is there. */
export interface SpaceAct {
  readonly kind:
    | "new"
    | "append"
    | "branch"
    | "facts"
    | "leaf"
    | "fork"
    | "image"
    | "run"
    | "remember"
    | "forget"
    | "work";
  readonly on: number;
  readonly at: number;
}

const pick = fc.nat({ max: 1_000 });
export const spaceAct: fc.Arbitrary<SpaceAct> = fc.record({
  kind: fc.constantFrom(
    ...(["new", "append", "append", "branch", "facts", "facts", "leaf", "fork", "fork"] as const),
    ...(["image", "run", "remember", "remember", "forget", "work"] as const),
  ),
  on: pick,
  at: pick,
});

const nth = <T>(list: readonly T[], n: number): T | undefined => list[n % list.length];

/** A space that is filled by acts, with ids and times of its own. */
export class RandomSpace {
  readonly holdfast: Holdfast;
  readonly ids: string[] = [];
  readonly nodes: Map<string, string[]> = new Map();
  readonly keys: string[] = [];
  readonly #memory: Memory;
  #made: number = 0;

  constructor(store: Store) {
    const newId = (): string => `e${String(++this.#made).padStart(6, "0")}`;
    const now = (): string => new Date(Date.UTC(2026, 0, 1) + this.#made * 7).toISOString();
    this.holdfast = new Holdfast(store, "default", { now, newId });
    this.#memory = new Memory(this.holdfast);
  }

  async do({ kind, on, at }: SpaceAct): Promise<void> {
    const id = nth(this.ids, on);
    if (kind === "remember") return this.#remember(at);
    if (kind === "forget") return this.#forget(at);
    if (id === undefined || kind === "new") return this.#create(at);
    const conversation = await this.holdfast.conversation(id);
    const known = this.nodes.get(id) ?? [];
    const node = nth(known, at) ?? "";
    switch (kind) {
      case "append":
        await conversation.append([this.#message(id), this.#message(id)]);
        return;
      case "branch":
        await conversation.append({ ...this.#message(id), parentId: node });
        return;
      case "facts":
        await conversation.appendOutside([
          { type: "hide", target: node, ...(at % 3 === 0 ? { hidden: false } : {}) },
          { type: "label", target: node, label: at % 4 === 0 ? null : `label ${at % 5}` },
          { type: "title", title: `title ${at} \u{1F600}` },
          { type: "metadata", metadata: { archived: at % 2 === 0, tags: ["a", `t${at}`] } },
        ]);
        return;
      case "leaf":
        await conversation.append({ type: "leaf", target: node });
        return;
      case "fork":
        await this.#fork(id, node, at);
        return;
      case "image":
        await this.#image(id, at);
        return;
      case "run":
        await this.#run(id, at);
        return;
      case "work":
        await conversation.append({ type: "config_change", config: { n: at } });
    }
  }

  #message(id: string): Extract<EntryBody, { type: "message" }> {
    const entry = this.holdfast.newId();
    this.nodes.get(id)?.push(entry);
    const text = `word${this.#made} \u0000 "${String.fromCodePoint(0x1f600 + (this.#made % 40))}`;
    return { type: "message", id: entry, message: { role: "user", content: [{ type: "text", text }] } };
  }

  async #create(at: number): Promise<void> {
    const id = `c${this.ids.length}`;
    const root = this.holdfast.newId();
    this.nodes.set(id, [root]);
    // Brought in with times of long ago, as an import does.
    const time = at % 3 === 0 ? { time: "2020-01-01T00:00:00.000Z" } : {};
    const bodies: readonly EntryBody[] = [
      { type: "conversation", id: root, cwd: "/w", ...(at % 5 === 0 ? { unlisted: true } : {}), ...time },
      { ...this.#message(id), ...time },
    ];
    await this.holdfast.createFrom(id, bodies);
    this.ids.push(id);
  }

  async #fork(source: string, at: string, cwd: number): Promise<void> {
    const id = `c${this.ids.length}`;
    const conversation = await this.holdfast.conversation(source);
    await conversation.fork({ at, id, ...(cwd % 2 === 0 ? { cwd: `/w/${cwd}` } : {}) });
    const nodes = await conversation.branch({ at });
    this.nodes.set(
      id,
      nodes.map((entry) => entry.id),
    );
    this.ids.push(id);
  }

  async #image(id: string, at: number): Promise<void> {
    const conversation = await this.holdfast.conversation(id);
    const blob = await conversation.putBlob(Buffer.from(`picture ${at % 4}`));
    const message = this.#message(id);
    const content = [{ type: "image", mediaType: "image/png", blob }] as const;
    await conversation.append({ ...message, message: { role: "user", content, details: { seen: blob } } });
  }

  async #run(id: string, at: number): Promise<void> {
    const conversation = await this.holdfast.conversation(id);
    const [run, turn] = [this.holdfast.newId(), this.holdfast.newId()];
    const prompt = this.#message(id);
    await conversation.append([
      { type: "run_start", run, trigger: "email", mailbox: `m${at % 3}`, model: "m" },
      prompt,
      { type: "turn_start", turn, run, prompt: prompt.id ?? "" },
    ]);
    if (at % 2 === 0) return;
    await conversation.append([
      { type: "turn_end", turn, outcome: "completed" },
      { type: "run_end", run, status: "completed" },
    ]);
  }

  async #remember(at: number): Promise<void> {
    const key = `key ${at % 6}`;
    await this.#memory.save("user", { key, content: `remembered ${at}` });
    this.keys.push(key);
  }

  async #forget(at: number): Promise<void> {
    const live = await this.#memory.list("user");
    const key = nth(live, at)?.key;
    if (key !== undefined) await this.#memory.removeForever("user", [key]);
  }
}

const PAGE_ENTRIES = 3;

/** Everything that the verbs of a space tell of it, but who owns a conversation, which no copy has. */
export async function tellAll(space: SpaceStore): Promise<object> {
  const told: { [name: string]: unknown } = {};
  for (const unlisted of [false, true]) {
    const listed = [];
    for (let after: string | null | undefined; after !== null;) {
      const page = await space.list({
        limit: PAGE_ENTRIES,
        unlisted,
        ...(after === undefined ? {} : { after }),
      });
      listed.push(...page.conversations);
      after = page.next;
    }
    told[unlisted ? "unlisted" : "listed"] = listed;
    for (const { conversation } of listed) told[conversation] = await tellLog(space, conversation);
  }
  told["runs"] = (await space.runs({ limit: 1_000 })).runs;
  // Those of one moment come in any order.
  const place = ({ conversation, seq }: SearchHit): string => `${conversation} ${seq}`;
  const found = await space.search({ query: "word", limit: 1_000 });
  told["found"] = found.toSorted((one, other) => (place(one) < place(other) ? -1 : 1));
  told["check"] = await space.check({ repair: false });
  return told;
}

async function tellLog(space: SpaceStore, conversation: ConversationId): Promise<object> {
  const head = ownerless(await space.head(conversation));
  const log = await space.read({ conversation, limit: 10_000 });
  const pages = [];
  for (let page = await space.page({ conversation, limit: PAGE_ENTRIES }); ;) {
    pages.push(bare(page));
    if (page.next === null) break;
    page = await space.page({ conversation, limit: PAGE_ENTRIES, from: page.next });
  }
  const window = await space.window({ conversation, limit: 5, settings: ["config_change", "compaction"] });
  const ids = (await space.ids({ conversation, prefix: "e", limit: 10_000 })).toSorted();
  const entries = [];
  for (const id of ids) entries.push(await space.entry(conversation, id));
  const blobs = [];
  for (const digest of new Set(log.flatMap(({ payload }) => payload.match(/[0-9a-f]{64}/g) ?? [])))
    blobs.push([digest, Buffer.from(await space.getBlob(conversation, digest)).toString()]);
  return {
    head,
    log,
    pages,
    window: { ...window, head: ownerless(window.head), page: bare(window.page) },
    entries,
    blobs,
    ends: await space.batchEnds({ conversation, after: 0, limit: 10_000 }),
    labelled: (await space.labelled({ conversation, label: "label 1", limit: 1_000 }))?.map(({ id }) => id),
    runs: (await space.runs({ conversation, limit: 1_000 })).runs,
  };
}

/** Where the next page starts, and nothing else that a store may know of it. */
function bare({ next, ...page }: Page): object {
  if (next === null) return { ...page, next };
  const { conversation, segment, depth } = next;
  return { ...page, next: { conversation, segment, depth } };
}

function ownerless({ epoch: _, lease: __, ...head }: HeadView): object {
  return head;
}
