import fc from "fast-check";
import { expect } from "vitest";
import { decodeEntry } from "#log/codec";
import type { ContractSubject } from "#store/contract/rig";
import { Rig, branch, conv, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";

type Act =
  | {
      readonly kind: "append";
      readonly on: number;
      readonly parent: number | null;
      readonly count: number;
      readonly key: number | null;
    }
  | { readonly kind: "goto" | "hide" | "show" | "fork"; readonly on: number; readonly at: number }
  | { readonly kind: "refused"; readonly on: number }
  | { readonly kind: "reopen" };

const pick = fc.nat({ max: 1_000 });
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant("append" as const),
      on: pick,
      parent: fc.option(pick, { freq: 2 }),
      count: fc.integer({ min: 1, max: 3 }),
      key: fc.option(fc.nat({ max: 3 }), { freq: 4 }),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constantFrom("goto" as const, "hide" as const, "show" as const, "fork" as const),
      on: pick,
      at: pick,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("refused" as const), on: pick }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("reopen" as const) }) },
);

/** What a conversation is: nodes it can reach by id, its own entries in order, its leaf, what it hides. */
interface Model {
  readonly id: string;
  readonly parentOf: Map<string, string | null>;
  readonly own: string[];
  readonly hidden: Set<string>;
  readonly keys: Set<number>;
  leaf: string;
}

function pathOf(model: Model, from: string): string[] {
  const path: string[] = [];
  for (let at: string | null = from; at !== null; at = model.parentOf.get(at) ?? null) path.push(at);
  return path.toReversed();
}

const nth = (list: readonly string[], n: number): string => list[n % list.length] ?? "";

class Run {
  readonly models: Model[] = [];
  made: number = 0;
  readonly rig: Rig;
  space: SpaceStore;

  constructor(rig: Rig, space: SpaceStore) {
    this.rig = rig;
    this.space = space;
  }

  async start(): Promise<void> {
    await this.rig.create(this.space, "c0");
    this.models.push({
      id: "c0",
      parentOf: new Map([["c0-root", null]]),
      own: ["conversation"],
      hidden: new Set(),
      keys: new Set(),
      leaf: "c0-root",
    });
  }

  async do(given: Act): Promise<void> {
    if (given.kind === "reopen") {
      this.space = await this.rig.space();
      return;
    }
    const model = this.models[given.on % this.models.length];
    if (model === undefined) return;
    const nodes = [...model.parentOf.keys()];
    if (given.kind === "append") await this.append(model, given, nodes);
    else if (given.kind === "refused") await this.refused(model);
    else if (given.kind === "fork") await this.fork(model, nth(nodes, given.at));
    else if (given.kind === "goto") {
      model.leaf = nth(nodes, given.at);
      model.own.push("leaf");
      await this.rig.append(this.space, model.id, [{ type: "leaf", target: model.leaf }]);
    } else {
      const target = nth(nodes, given.at);
      const hidden = given.kind === "hide";
      model.own.push("hide");
      if (hidden) model.hidden.add(target);
      else model.hidden.delete(target);
      await this.rig.append(this.space, model.id, [{ type: "hide", target, hidden }], {
        author: { kind: "outside" },
      });
    }
  }

  async append(
    model: Model,
    given: Extract<Act, { kind: "append" }>,
    nodes: readonly string[],
  ): Promise<void> {
    const ids = Array.from({ length: given.count }, () => `n${++this.made}`);
    const parent = given.parent === null ? model.leaf : nth(nodes, given.parent);
    const bodies = ids.map((id, at) => ({
      ...user(id, id),
      ...(at === 0 && given.parent !== null ? { parentId: parent } : {}),
    }));
    const known = given.key !== null && model.keys.has(given.key);
    const result = await this.rig.append(
      this.space,
      model.id,
      bodies,
      given.key === null ? {} : { key: `k${given.key}` },
    );
    expect(result.deduped).toBe(known);
    if (known) return;
    if (given.key !== null) model.keys.add(given.key);
    for (const [at, id] of ids.entries()) {
      model.parentOf.set(id, at === 0 ? parent : (ids[at - 1] ?? null));
      model.own.push(id);
      model.leaf = id;
    }
  }

  async refused(model: Model): Promise<void> {
    const bad = [user("fine"), { ...user("bad"), parentId: "nowhere" }];
    await expect(this.rig.append(this.space, model.id, bad)).rejects.toMatchObject({
      code: "unknown_parent",
    });
  }

  async fork(model: Model, at: string): Promise<void> {
    const id = `c${this.models.length}`;
    const path = pathOf(model, at);
    const parentOf = new Map(path.map((node) => [node, model.parentOf.get(node) ?? null]));
    const hidden = new Set([...model.hidden].filter((node) => parentOf.has(node)));
    this.models.push({ id, parentOf, own: ["conversation"], hidden, keys: new Set(), leaf: at });
    await this.rig.fork(this.space, model.id, id, { entry: at });
  }

  async compare(): Promise<void> {
    for (const model of this.models) {
      const head = await this.space.head(conv(model.id));
      expect([head.leaf.id, head.headSeq]).toEqual([model.leaf, model.own.length]);
      const path = pathOf(model, model.leaf);
      expect((await branch(this.space, model.id, 3)).map((entry) => entry.id)).toEqual(path);
      const page = await this.space.page({ conversation: conv(model.id), limit: 1_000 });
      expect([...page.hidden].toSorted()).toEqual(path.filter((id) => model.hidden.has(id)).toSorted());
      const own = await this.space.read({ conversation: conv(model.id), limit: 10_000 });
      expect(own.map((stored, at) => [stored.seq, at + 1].join())).toEqual(
        own.map((_, at) => [at + 1, at + 1].join()),
      );
      expect(own.map((stored) => (stored.type === "message" ? stored.id : decodeEntry(stored).type))).toEqual(
        model.own,
      );
    }
  }
}

/** Compares a store with the model after histories that are made up; each has data of its own. */
export async function agreesWithModel(
  numRuns: number,
  withData: (work: (subject: ContractSubject) => Promise<void>) => Promise<void>,
): Promise<void> {
  await fc.assert(
    fc.asyncProperty(fc.array(act, { maxLength: 40 }), (acts) =>
      withData(async (data) => {
        await using rig = new Rig(data);
        const run = new Run(rig, await rig.space());
        await run.start();
        for (const next of acts) await run.do(next);
        await run.compare();
        run.space = await rig.space();
        await run.compare();
      }),
    ),
    { numRuns },
  );
}
