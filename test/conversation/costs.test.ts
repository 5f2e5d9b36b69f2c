/** What reads cost: counted in nodes and entries that leave the store, which says the same on every machine. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { readSummary } from "#conversation/list-conversations";
import { readSettings } from "#conversation/reading";
import type { Entry, EntryBody } from "#log/entry";
import type { EffectsPage } from "#conversation/ledger";
import { effectsOf } from "#log/projections/effects";
import { decorateStore } from "#store/decorate";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { countedStore } from "../support/counted-store.ts";
import { spaceOf } from "#conversation/on-space";

const said = (role: "user" | "assistant", text: string): EntryBody => ({
  type: "message",
  message: { role, content: [{ type: "text", text }] },
});

/** How many entries a read takes from the store, behind so many messages that a compaction cut off. */
async function costBehind(messages: number, read: (conversation: Conversation) => unknown): Promise<number> {
  const { store, count } = countedStore();
  const conversation = await new Holdfast(store, "default").create();
  await conversation.append(
    Array.from({ length: messages }, (_, n) => said(n % 2 ? "assistant" : "user", "x")),
  );
  await conversation.append([{ type: "compaction", summary: "so far" }, said("user", "go on")]);
  const before = count();
  await read(conversation);
  return count() - before;
}

test("a context at the leaf is one call of the store, at another node two", async () => {
  const calls: string[] = [];
  const store = decorateStore(inMemoryStore(), { around: (call, verb) => (calls.push(verb), call()) });
  const conversation = await new Holdfast(store, "default").create();
  const { ids } = await conversation.append([
    said("user", "one"),
    said("assistant", "two"),
    { type: "config_change", config: { mode: "x" } },
  ]);
  const callsOf = async (read: () => Promise<unknown>): Promise<readonly string[]> => {
    calls.length = 0;
    await read();
    return [...calls];
  };
  expect(await callsOf(() => conversation.context())).toEqual(["window"]);
  expect(await callsOf(() => conversation.exactContext())).toEqual(["window"]);
  expect(await callsOf(() => conversation.branch())).toEqual(["page"]);
  expect(await callsOf(() => conversation.history())).toEqual(["page"]);
  expect(await callsOf(() => conversation.context({ at: ids[0] ?? "" }))).toEqual(["entry", "window"]);
});

test("a context costs what its window does, also where no reply names a model", async () => {
  const cost = (messages: number): Promise<number> => costBehind(messages, (it) => it.context());
  expect(await cost(5_000)).toBe(await cost(500));
});

test("a node is found by its label, the start or the end of its id without the log being read", async () => {
  const cost = (messages: number): Promise<number> =>
    costBehind(messages, async (it) => {
      const { leaf } = await it.head();
      await it.label(leaf.id, "the end");
      expect(await it.named("the end")).toEqual([leaf.id]);
      expect(await it.named(leaf.id.slice(0, -1))).toContain(leaf.id);
      expect(await it.named(leaf.id.slice(-9))).toEqual([leaf.id]);
      expect(await it.named("no such")).toEqual([]);
    });
  expect(await cost(5_000)).toBe(await cost(500));
});

test("a label costs what was said about the nodes that have it, not what there are of labels or logs", async () => {
  const cost = async (labels: number, forks: number): Promise<number> => {
    const { store, count } = countedStore();
    let conversation = await new Holdfast(store, "default").create();
    await conversation.append([{ ...said("user", "x"), id: "m0" }, said("assistant", "y")]);
    for (let n = 0; n < labels; n++)
      await conversation.label((await conversation.head()).leaf.id, `label ${n}`);
    await conversation.label("m0", "the start");
    for (let n = 0; n < forks; n++) conversation = await conversation.fork();
    const before = count();
    expect(await conversation.named("the start")).toEqual(["m0"]);
    expect(await conversation.named("m")).toContain("m0");
    return count() - before;
  };
  expect(await cost(200, 20)).toBe(await cost(2, 1));
});

test("a context and the settings of a send name the same model", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const conversation = await holdfast.create();
  const reply = { role: "assistant", content: [{ type: "text", text: "hi" }], model: "old" } as const;
  for (const behind of [1, 62, 1, 200]) {
    await conversation.append({ type: "message", message: reply });
    await conversation.append(Array.from({ length: behind }, () => said("user", "x")));
    const { leaf } = await conversation.head();
    const { model } = await readSettings(spaceOf(holdfast), conversation.id, leaf);
    expect((await conversation.context()).model).toBe(model);
  }
});

const WHOLE_READS: { readonly [name: string]: (of: Conversation, space: SpaceStore) => Promise<unknown> } = {
  branch: (of) => of.branch(),
  tree: (of) => of.tree(),
  chain: (of) => of.chain(),
  effects: (of) => of.effects(),
  issues: (of) => of.issues(),
  context: (of) => of.context(),
  "a summary that no append kept": (of, space) => readSummary(space, of.id),
  runs: (of) => of.runs(),
};
const ENTRIES_PER_TURN = 1_024; // taken from the store between two turns of the event loop: a few milliseconds of work

test.each(Object.keys(WHOLE_READS))(
  "%s reads a whole log in pieces and lets others have their turn in between",
  async (verb) => {
    const { store, count } = countedStore();
    const holdfast = new Holdfast(store, "default");
    const conversation = await holdfast.create();
    const turn: readonly EntryBody[] = [
      said("user", "x"),
      { type: "turn_start", turn: "t" },
      { type: "turn_end", turn: "t", outcome: "completed" },
    ];
    const call = { type: "toolCall", id: "c", name: "look", input: {} } as const;
    await conversation.append([{ type: "upstream_link", upstream: "s", agent: "claude", reason: "first" }]);
    await conversation.append([{ type: "message", message: { role: "assistant", content: [call] } }]);
    await conversation.append(Array.from({ length: 3_000 }, () => turn).flat());
    let [turns, most, before, over] = [0, 0, count(), false];
    const tick = (): void => {
      [turns, most, before] = [turns + 1, Math.max(most, count() - before), count()];
      if (!over) setImmediate(tick);
    };
    setImmediate(tick);
    await WHOLE_READS[verb]?.(conversation, spaceOf(holdfast));
    over = true;
    expect(turns).toBeGreaterThanOrEqual(3);
    expect(most).toBeLessThanOrEqual(ENTRIES_PER_TURN);
  },
);

test("a chain without a link is had without reading an entry", async () => {
  const cost = (messages: number): Promise<number> =>
    costBehind(messages, async (of) => expect(await of.chain()).toEqual([]));
  expect(await cost(2_000)).toBe(0);
});

test("a chain is read without a look into a message", async () => {
  const { store } = countedStore();
  let looks = 0;
  const watched = decorateStore(store, {
    verbs: (space) => ({
      read: async (request) => {
        const entries = await space.read(request);
        return entries.map((entry) =>
          entry.type === "message"
            ? Object.defineProperty({ ...entry }, "payload", { get: () => looks++ })
            : entry,
        );
      },
    }),
  });
  const conversation = await new Holdfast(watched, "default").create();
  await conversation.append([
    { type: "upstream_link", upstream: "s1", agent: "claude", reason: "first" },
    ...Array.from({ length: 50 }, () => said("user", "x")),
  ]);
  expect(await conversation.chain()).toMatchObject([{ id: "s1", carried: { fromSeq: 3, toSeq: 52 } }]);
  expect(looks).toBe(0);
});

test("usage and open turns are had without reading an entry, where appends kept them", async () => {
  const { store, count } = countedStore();
  const holdfast = new Holdfast(store, "default");
  const conversation = await holdfast.create();
  await conversation.append([said("user", "x"), { type: "turn_start", turn: "t" }]);
  expect((await conversation.usage()).outputTokens).toBe(0);
  const open = await Array.fromAsync(holdfast.openTurns(), ({ turn }) => turn);
  expect([open, (await conversation.openTurn())?.turn, count()]).toEqual([["t"], "t", 0]);
});

test("effects and issues are had from the head where there is nothing to tell, however long the log is", async () => {
  const { store, count } = countedStore();
  const conversation = await new Holdfast(store, "default").create();
  for (let turn = 0; turn < 300; turn++)
    await conversation.append([
      { type: "turn_start", turn: `t${turn}` },
      said("user", "x"),
      said("assistant", "y"),
      { type: "turn_end", turn: `t${turn}`, outcome: "completed" },
    ]);
  const read = async (work: () => Promise<unknown>): Promise<number> => {
    const before = count();
    await work();
    return count() - before;
  };
  expect(await read(() => conversation.effects())).toBe(0);
  expect(await read(() => conversation.issues())).toBe(0);
  await conversation.append([{ type: "run_start", run: "r", trigger: "timer" }]);
  await conversation.append([{ type: "turn_start", turn: "last" }]);
  expect(await read(() => conversation.issues())).toBe(0);
  expect((await conversation.issues()).map(({ kind }) => kind)).toEqual(["open_turn", "open_run"]);
});

test("more open turns than a head names are all told of", async () => {
  const conversation = await new Holdfast(inMemoryStore(), "default").create();
  const starts = Array.from({ length: 50 }, (_, n) => ({ type: "turn_start", turn: `t${n}` }) as const);
  await conversation.append(starts);
  expect(await conversation.issues()).toHaveLength(50);
  await conversation.append(
    starts.slice(1).map(({ turn }) => ({ type: "turn_end", turn, outcome: "completed" }) as const),
  );
  expect((await conversation.issues()).map(({ message }) => message.split(" ")[1])).toEqual(["t0,"]);
});

test("a page of effects reads what its calls take in the log, not what the log is long", async () => {
  const { store, count } = countedStore();
  const conversation = await new Holdfast(store, "default").create();
  const calls = 4_000;
  const bodies = Array.from({ length: calls }, (_, n): readonly EntryBody[] => [
    {
      type: "message",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: `c${n}`, name: "look", input: {} }],
      },
    },
    { type: "message", message: { role: "toolResult", toolCallId: `c${n}`, content: [] } },
  ]).flat();
  await conversation.append(bodies);
  let cursor: string | null = null;
  let found = 0;
  for (let page = 0; page < 5; page++) {
    const before = count();
    const read: EffectsPage = await conversation.effectsPage({
      limit: 50,
      ...(cursor === null ? {} : { cursor }),
    });
    expect(count() - before).toBeLessThan(1_100);
    cursor = read.cursor;
    for (const { call } of read.effects) expect(call).toBe(`c${found++}`);
  }
  await expect(conversation.effectsPage({ cursor: "junk" })).rejects.toMatchObject({
    code: "invalid_request",
  });
});

test("the tree of a fork takes what it inherits in pieces, also when all of it is read", async () => {
  const nodes = 20_000;
  const { store, count } = countedStore();
  const source = await new Holdfast(store, "default").create();
  for (let from = 0; from < nodes; from += 10_000)
    await source.append(Array.from({ length: 10_000 }, () => said("user", "x")));
  const fork = await source.fork();
  let [turns, over] = [0, false];
  const tick = (): void => {
    if (count() >= nodes) turns++; // nothing is left to be read
    if (!over) setImmediate(tick);
  };
  setImmediate(tick);
  const tree = await fork.tree();
  over = true;
  expect(tree.nodes.filter((node) => node.inherited && node.active)).toHaveLength(nodes + 1);
  expect(turns).toBeGreaterThanOrEqual(2 * Math.floor(nodes / 2_048)); // added, then marked
});

test("the ledger of effects costs what its entries do", () => {
  const calls = 200_000; // looked through anew for each, they would take minutes
  const call = (n: number): Entry =>
    ({
      type: "message",
      id: `m${n}`,
      message: { role: "assistant", content: [{ type: "toolCall", id: `c${n}`, name: "ls", input: {} }] },
    }) as unknown as Entry;
  const result = (n: number): Entry =>
    ({
      type: "message",
      id: `r${n}`,
      message: { role: "toolResult", toolCallId: `c${n}`, content: [] },
    }) as unknown as Entry;
  function* log(): Generator<Entry> {
    for (let n = 0; n < calls; n++) yield call(n);
    for (let n = 0; n < calls; n++) yield result(n);
  }
  const effects = effectsOf(log());
  expect(effects.filter((effect) => effect.state === "done")).toHaveLength(calls);
});
