/** What a send, an edit and a fork cost: what they read is bounded, however long the conversation is. */
import { expect, test, vi } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { readFacts } from "#upstream/sessions/live-sessions";
import { forkAside, goBackTo } from "#upstream/sessions/fork-session";
import type { EntryBody, EntryType, StoredEntry } from "#log/entry";
import type { Store } from "#store/store";
import type { AppendRequest, ReadRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { aRig, type Rig } from "./rig.ts";
import { spaceOf } from "#conversation/on-space";

const reply = (model: string): EntryBody => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text: "hi" }], model },
});

const said: EntryBody = {
  type: "message",
  message: { role: "user", content: [{ type: "text", text: "x" }] },
};

/** A store finds these by going through the log. */
const BULK: ReadonlySet<EntryType> = new Set(["message", "update", "tool_progress"]);

/** How many entries are gone through for a read: those it gives, and for types that have no index what lies between. */
function gone(request: ReadRequest, read: readonly StoredEntry[], headSeq: number): number {
  const { types, after, until, limit, newestFirst = false } = request;
  if (types === undefined || !types.some((type) => BULK.has(type))) return read.length;
  const from = Math.min(after ?? (newestFirst ? headSeq + 1 : 0), headSeq + 1);
  const end = Math.min(Math.max(until ?? (newestFirst ? 1 : headSeq), 1), headSeq);
  return Math.abs((read.length < limit ? end : (read.at(-1)?.seq ?? end)) - from);
}

/** How many entries a store goes through while something is done in a conversation that begins with these. */
async function entriesReadBy(
  bodies: readonly EntryBody[],
  act: (rig: Rig, conversation: Conversation) => Promise<unknown>,
  before: (rig: Rig) => Promise<unknown> = async () => undefined,
): Promise<number> {
  const backing = inMemoryBacking();
  let entries = 0;
  const counted = (space: SpaceStore): SpaceStore => ({
    ...space,
    page: async (request) => {
      const page = await space.page(request);
      entries += page.entries.length;
      return page;
    },
    window: async (request) => {
      const window = await space.window(request);
      entries += window.page.entries.length;
      return window;
    },
    read: async (request) => {
      const read = await space.read(request);
      const { headSeq } = await space.head(request.conversation);
      entries += gone(request, read, headSeq);
      return read;
    },
  });
  const open = (): Store => {
    const store = inMemoryStore({ backing });
    return { ...store, space: (id) => counted(store.space(id)) };
  };
  const rig = await aRig({ open });
  const conversation = await rig.holdfast.conversation("c");
  for (let from = 0; from < bodies.length; from += 10_000)
    await conversation.append(bodies.slice(from, from + 10_000));
  await before(rig);
  entries = 0;
  await act(rig, conversation);
  return entries;
}

const many = (count: number): readonly EntryBody[] => Array.from({ length: count }, () => said);

const hello = (rig: Rig): Promise<unknown> => rig.send("hello");
const again = (rig: Rig): Promise<unknown> => rig.send("and again");

test("a first send reads what a new session has room for, however long the conversation is", async () => {
  expect(await entriesReadBy(many(10_000), hello)).toBe(await entriesReadBy(many(7_000), hello));
});

test("a send to a session that lacks nothing reads as much of a long conversation as of a short one", async () => {
  const cost = await entriesReadBy(many(8_000), again, hello);
  expect(cost).toBe(await entriesReadBy(many(200), again, hello));
  expect(cost).toBeLessThan(1_000);
});

const calling = (n: number): EntryBody => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "toolCall", id: `c${n}`, name: "ls", input: {} }] },
});
const result = (n: number): EntryBody => ({
  type: "message",
  message: { role: "toolResult", toolCallId: `c${n}`, content: [{ type: "text", text: "x" }] },
});
const stretches: { readonly [of: string]: (n: number) => readonly EntryBody[] } = {
  "tool calls": (n) => [calling(n), result(n)],
  "hidden messages": (n) => [
    { ...said, id: `h${n}` },
    { type: "hide", target: `h${n}` },
  ],
  "custom nodes": () => [
    { type: "custom", customType: "note", data: "x" },
    { type: "custom", customType: "note", data: "y" },
  ],
};

test.each(Object.entries(stretches))(
  "behind a long stretch of %s a send reads no more than behind a shorter one",
  async (_, pair) => {
    const stretch = (pairs: number): readonly EntryBody[] =>
      Array.from({ length: pairs }, (__, n) => pair(n)).flat();
    const opened = await entriesReadBy(stretch(9_000), hello);
    expect(opened).toBeLessThanOrEqual((await entriesReadBy(stretch(8_000), hello)) + 8);
    expect(await entriesReadBy(stretch(9_000), again, hello)).toBe(
      await entriesReadBy(stretch(200), again, hello),
    );
  },
);

test("a send in a conversation with branches looks for what was done on them among its latest entries only", async () => {
  const note: EntryBody = { type: "custom", customType: "note", data: "x" };
  const bodies = (count: number): readonly EntryBody[] => [
    { ...said, id: "left" },
    ...Array.from({ length: count }, () => note),
    { ...said, id: "here" },
  ];
  const branched = async (rig: Rig): Promise<void> => {
    const conversation = await rig.holdfast.conversation("c");
    await conversation.goTo("left");
    await conversation.append(said);
    await conversation.goTo("here");
  };
  expect(await entriesReadBy(bodies(16_000), hello, branched)).toBe(
    await entriesReadBy(bodies(8_000), hello, branched),
  );
});

test("a send in a conversation of a thousand links reads as much as in one of a hundred", async () => {
  const links = (count: number): readonly EntryBody[] =>
    Array.from({ length: count }, (_, n): readonly EntryBody[] => [
      { type: "upstream_link", upstream: `old-${n}`, agent: "claude", reason: "lost" },
      said,
    ]).flat();
  const facts = (count: number): Promise<number> =>
    entriesReadBy(links(count), async (rig) => readFacts(spaceOf(rig.holdfast), "c"));
  expect(await facts(1_000)).toBe(await facts(100));
  const back = (count: number): Promise<number> =>
    entriesReadBy([...links(count), { ...said, id: "last" }], (rig, conversation) =>
      goBackTo(conversation, agent(rig), "last"),
    );
  expect(await back(1_000)).toBe(await back(100));
});

const agent = (rig: Rig): Parameters<typeof goBackTo>[1] => {
  const [upstream] = rig.upstreams;
  if (upstream === undefined) throw new Error("There is no agent");
  return upstream;
};

test.each(["the last prompt", "a prompt long ago", "a reply"])(
  "going back to %s, or forking there, reads as much of a long conversation as of a short one",
  async (which) => {
    const id = which === "a reply" ? "reply" : which === "the last prompt" ? "last" : "early";
    const bodies = (count: number): readonly EntryBody[] => [
      ...many(50),
      { ...said, id: "early" },
      ...many(count),
      { ...reply("m"), id: "reply" },
      { ...said, id: "last" },
    ];
    const back = (count: number): Promise<number> =>
      entriesReadBy(bodies(count), (rig, conversation) => goBackTo(conversation, agent(rig), id));
    expect(await back(8_000)).toBe(await back(800));
    const fork = (count: number): Promise<number> =>
      entriesReadBy(bodies(count), (rig, conversation) => forkAside(conversation, agent(rig), { at: id }));
    expect(await fork(8_000)).toBe(await fork(800));
  },
);

test("going back to where a session had not begun reads none of what lies before it", async () => {
  const back = (count: number): Promise<number> =>
    entriesReadBy(
      [...many(count), { ...said, id: "before" }],
      (rig, conversation) => goBackTo(conversation, agent(rig), "before"),
      (rig) => rig.say("hello", "and again"),
    );
  expect(await back(8_000)).toBe(await back(800));
});

test("the model of the latest reply is replayed where none was chosen", async () => {
  const rig = await aRig();
  const conversation = await rig.holdfast.conversation("c");
  await conversation.append([reply("old"), reply("new")]);
  await rig.send("hello");
  expect(rig.upstreams[0]?.requests[0]?.settings).toMatchObject({ model: "new" });
});

/** What a send calls of the store, its updates not counted, after what was done before. */
async function callsOf(before: (rig: Rig) => Promise<unknown>): Promise<readonly string[]> {
  const calls: string[] = [];
  const backing = inMemoryBacking();
  const counted = (space: SpaceStore): SpaceStore => {
    const verbs = Object.entries(space) as readonly [string, (...given: readonly unknown[]) => unknown][];
    const wrapped = verbs.map(([verb, call]) => {
      const note = (...given: readonly unknown[]): unknown => {
        const { drafts = [] } = (given[0] ?? {}) as Partial<AppendRequest>;
        if (!drafts.some(({ draft }) => draft.type === "update")) calls.push(verb);
        return call(...given);
      };
      return [verb, note] as const;
    });
    return Object.fromEntries(wrapped) as unknown as SpaceStore;
  };
  const open = (): Store => {
    const store = inMemoryStore({ backing });
    return { ...store, space: (id) => counted(store.space(id)) };
  };
  const rig = await aRig({ open });
  await before(rig);
  calls.length = 0;
  await rig.send("and once more");
  return calls;
}

test("a turn of text on a live session that lacks nothing reads nothing and writes three batches", async () => {
  const calls = await callsOf((rig) => rig.say("hello", "and again"));
  expect(calls).toEqual(["acquire", "append", "append", "append"]); // the prompt, the attempt, the reply
});

test("words that come right before the reply that holds them are not recorded twice", async () => {
  const rig = await aRig();
  await rig.say("hello");
  expect(await rig.of("update")).toEqual([]);
  expect(await rig.of("message")).toHaveLength(2);
});

test("whatever a turn ends by a signal has a reason: without one each costs an error with its stack", async () => {
  const rig = await aRig();
  await rig.say("hello");
  const abort = vi.spyOn(AbortController.prototype, "abort");
  await rig.send("and again");
  const reasons = abort.mock.calls.map(([reason]) => reason as unknown);
  abort.mockRestore();
  expect(reasons).not.toHaveLength(0);
  expect(reasons).not.toContain(undefined);
});

test("the same after somebody else wrote takes at most one more", async () => {
  const calls = await callsOf(async (rig) => {
    await rig.say("hello", "and again");
    const conversation = await rig.holdfast.conversation("c");
    await conversation.title("another");
    await conversation.label(await leafOf(conversation), "here");
  });
  expect(calls.length, calls.join(" ")).toBeLessThanOrEqual(7);
});

const leafOf = async (conversation: Conversation): Promise<string> => (await conversation.head()).leaf.id;

test("what is known of a conversation is not taken for what is known of another one of its name", async () => {
  const rig = await aRig();
  await rig.say("hello", "and again");
  await (await rig.holdfast.conversation("c")).erase();
  await rig.create();
  await rig.say("hello", "and again");
  const [first] = await rig.chain();
  expect(first).toBe("first");
  expect(await rig.of("turn_end")).toHaveLength(2);
});
