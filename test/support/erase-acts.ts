import fc from "fast-check";
import { expect } from "vitest";
import type { EntryBody } from "#log/entry";
import { branch, conv, type Rig } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";

interface Act {
  readonly kind: "append" | "fork" | "hide" | "blob" | "erase" | "reopen";
  readonly on: number;
  readonly at: number;
}

const pick = fc.nat({ max: 1_000 });
const act: fc.Arbitrary<Act> = fc.record({
  kind: fc.constantFrom("append", "append", "fork", "fork", "hide", "blob", "erase", "reopen"),
  on: pick,
  at: pick,
});

const word = (n: number): string => `word${String(n).padStart(5, "0")}`;

interface View {
  readonly path: readonly string[];
  readonly hidden: readonly string[];
  readonly blobs: readonly string[];
}

class Run {
  readonly living: string[] = [];
  /** The digests that a conversation's own entries name. */
  readonly named = new Map<string, string[]>();
  /** What was put into a conversation itself. */
  readonly put = new Map<string, string[]>();
  /** The nodes that a fork inherits, also those off its present branch. */
  readonly inherited = new Map<string, readonly string[]>();
  /** The blob that a message shows. */
  readonly shows = new Map<string, string>();
  made: number = 0;
  readonly rig: Rig;
  space: SpaceStore;

  constructor(rig: Rig, space: SpaceStore) {
    this.rig = rig;
    this.space = space;
  }

  async path(id: string): Promise<readonly string[]> {
    return (await branch(this.space, id, 3)).map((entry) => entry.id);
  }

  async view(id: string): Promise<View> {
    const { hidden } = await this.space.page({ conversation: conv(id), limit: 1_000 });
    const blobs: string[] = [];
    for (const digest of this.named.get(id) ?? [])
      blobs.push(Buffer.from(await this.space.getBlob(conv(id), digest as never)).toString());
    return { path: await this.path(id), hidden: [...hidden].toSorted(), blobs };
  }

  async views(): Promise<ReadonlyMap<string, View>> {
    const views = new Map<string, View>();
    for (const id of this.living) views.set(id, await this.view(id));
    return views;
  }

  message(blob?: string): EntryBody {
    const id = word(++this.made);
    const text = { type: "text", text: id } as const;
    const image = blob === undefined ? [] : [{ type: "image", mediaType: "image/png", blob } as const];
    return { type: "message", id, message: { role: "user", content: [text, ...image] } };
  }

  async create(): Promise<void> {
    const id = `c${++this.made}`;
    await this.rig.create(this.space, id, [this.message(), this.message()]);
    this.living.push(id);
  }

  async act({ kind, on, at }: Act): Promise<void> {
    if (this.living.length === 0) await this.create();
    const id = this.living[on % this.living.length] ?? "";
    const path = await this.path(id);
    const node = path[at % path.length] ?? "";
    if (kind === "append") {
      const parentId = at % 3 === 0 ? node : path.at(-1);
      await this.rig.append(this.space, id, [{ ...this.message(), ...(parentId && { parentId }) }]);
    } else if (kind === "fork") {
      const made = `c${++this.made}`;
      await this.rig.fork(this.space, id, made, { entry: node, cwd: word(++this.made) });
      this.inherited.set(made, path.slice(0, path.indexOf(node) + 1));
      this.named.set(made, []);
      this.living.push(made);
    } else if (kind === "hide") {
      await this.rig.append(this.space, id, [{ type: "hide", target: node, hidden: at % 4 !== 0 }]);
    } else if (kind === "blob") {
      const words = word(++this.made);
      const digest = await this.space.putBlob(conv(id), Buffer.from(words));
      const made = `c${++this.made}`;
      await this.rig.fork(this.space, id, made, { entry: node });
      this.inherited.set(made, path.slice(0, path.indexOf(node) + 1));
      const message = this.message(digest);
      this.shows.set(message.id ?? "", words);
      await this.rig.append(this.space, made, [message]);
      this.put.set(id, [...(this.put.get(id) ?? []), words]);
      this.named.set(made, [digest]);
      this.living.push(made);
    } else if (kind === "erase") {
      this.living.splice(this.living.indexOf(id), 1);
      await this.space.erase(conv(id));
    } else {
      this.space = await this.rig.space();
    }
  }
}

/** The words that a living conversation has itself or inherits: all else must be gone. */
async function seen(run: Run): Promise<ReadonlySet<string>> {
  const words = new Set<string>();
  for (const id of run.living) {
    for (const entry of run.inherited.get(id) ?? []) {
      words.add(entry);
      words.add(run.shows.get(entry) ?? entry);
    }
    for (const { payload, id: own } of await run.space.read({ conversation: conv(id), limit: 1_000 }))
      for (const found of [own, ...(payload.match(/word\d{5}/g) ?? [])]) words.add(found);
    for (const blob of [...(await run.view(id)).blobs, ...(run.put.get(id) ?? [])]) words.add(blob);
  }
  return words;
}

/** Erases in families of forks that are made up: what lives reads as before, and only what it sees may stay. */
export async function erasesAsModelled(
  numRuns: number,
  withRig: (work: (rig: Rig) => Promise<ReadonlySet<string>>) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { minLength: 5, maxLength: 30 }), (acts) =>
      withRig(async (rig) => {
        const run = new Run(rig, await rig.space());
        for (const one of acts) {
          const before = one.kind === "erase" ? await run.views() : null;
          await run.act(one);
          if (before === null) continue;
          for (const handle of [run.space, await rig.space()]) {
            run.space = handle;
            for (const id of run.living) expect(await run.view(id)).toEqual(before.get(id));
          }
          expect(await run.space.check({ repair: false })).toEqual([]);
        }
        return seen(run);
      }),
    ),
    { numRuns },
  );
}
