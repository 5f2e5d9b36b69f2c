import { describe, expect, test } from "vitest";
import { by, posted } from "../raw-requests.ts";
import { RouteRig, type StoreAddress } from "./route-rig.ts";

/** What is read through routes is what the library and the command line say of the same store. */
export function readCases(kind: string, storeOf: StoreAddress): void {
  describe(`on ${kind}`, () => {
    const rig = new RouteRig(storeOf);

    test("conversations are listed, filtered and paged; one is shown as it stands", async () => {
      await rig.client.createConversation({ id: "b", title: "Second" });
      const { conversations, next } = await rig.client.listConversations({ limit: 1 });
      expect([conversations.length, typeof next]).toEqual([1, "string"]);
      const rest = await rig.client.listConversations({ limit: 1, cursor: next ?? "" });
      expect([...conversations, ...rest.conversations].map((one) => one.conversation).toSorted()).toEqual([
        "a",
        "b",
      ]);
      expect((await rig.client.listConversations({ title: "first" })).conversations).toHaveLength(1);
      for (const filter of [{ fork: true }, { rolled: true }, { label: "nobody's" }, { under: "/elsewhere" }])
        expect((await rig.client.listConversations(filter)).conversations).toEqual([]);
      await rig.client.fork({ conversation: "b", id: "b-fork" });
      const forks = (await rig.client.listConversations({ forkOf: "b" })).conversations;
      expect(forks.map(({ conversation }) => conversation)).toEqual(["b-fork"]);
      expect((await rig.client.listConversations({ forkOf: "b-fork" })).conversations).toEqual([]);
      const printed = await rig.cli("ls");
      const all = (await rig.client.listConversations()).conversations;
      if (printed !== null)
        expect(all.map((one) => Object.assign(one, { schemaVersion: 1 }))).toEqual(printed);
      const view = await rig.client.getConversation({ conversation: "a" });
      const { headSeq, leaf } = await rig.conversation.head();
      expect(view).toMatchObject({
        title: "First",
        headSeq,
        leaf: leaf.id,
        openTurn: null,
        lease: null,
        space: "default",
      });
      expect(view.settings).toEqual(await rig.conversation.settings());
      expect((await rig.client.getConversation({ conversation: "b" })).cwd).toBe(rig.folder);
    });

    test("a conversation is made once under its key; its entries keep their exact text", async () => {
      const exact =
        '{"type":"custom","customType":"x","data":{"big":12345678901234567890,"a":1,"a":2,"s":"\\u2028"}}';
      const body =
        `{"title":"Exact","entries":[ ${exact} ,{"type":"label","target":"x1","label":"l"}]}`.replace(
          '"customType"',
          '"id":"x1","customType"',
        );
      const made = async (): Promise<string> => {
        const response = await rig.served.ask(
          "/api/conversations",
          posted(rig.token, body, { "idempotency-key": "made" }),
        );
        expect(response.status).toBe(201);
        return ((await response.json()) as { conversation: string }).conversation;
      };
      const id = await made();
      expect(await made()).toBe(id);
      const entry = await rig.served.ask(`/api/conversations/${id}/entries/x1`, by(rig.token));
      expect(await entry.text()).toContain('"data":{"big":12345678901234567890,"a":1,"a":2,"s":"\\u2028"}');
    });

    test("entries are paged both ways, by type too; a page says where others begin", async () => {
      const all = await rig.client.listEntries({ conversation: "a", limit: 500 });
      expect(all.entries.map(({ seq }) => seq)).toEqual(all.entries.map((_, at) => at + 1));
      expect([all.next, all.previous, all.headSeq]).toEqual([null, null, all.entries.length]);
      const forwards: number[] = [];
      for (let after: number | null = 0; after !== null;) {
        const page = await rig.client.listEntries({ conversation: "a", after, limit: 4 });
        forwards.push(...page.entries.map(({ seq }) => seq));
        after = page.next;
      }
      const backwards: number[] = [];
      for (let before: number | null = 1_000; before !== null;) {
        const page = await rig.client.listEntries({ conversation: "a", before, limit: 4 });
        backwards.unshift(...page.entries.map(({ seq }) => seq));
        before = page.previous;
      }
      expect([forwards, backwards]).toEqual([
        all.entries.map(({ seq }) => seq),
        all.entries.map(({ seq }) => seq),
      ]);
      const { entries } = await rig.client.listEntries({
        conversation: "a",
        types: ["turn_start", "turn_end"],
      });
      expect(entries.map(({ type }) => type)).toEqual(["turn_start", "turn_end"]);
      await expect(rig.client.listEntries({ conversation: "a", types: ["nonsense"] })).rejects.toMatchObject({
        status: 400,
      });
      await expect(rig.client.listEntries({ conversation: "a", after: 1, before: 3 })).rejects.toMatchObject({
        status: 400,
      });
      const printed = await rig.cli("log", "a");
      if (printed !== null) expect(all.entries).toEqual(printed);
    });

    test("a branch is paged from its end; context, tree and one entry are what the library says", async () => {
      const newest = await rig.client.listHistory({ conversation: "a", limit: 2 });
      expect((await rig.client.listBranch({ conversation: "a", limit: 2 })).entries).toEqual(newest.entries);
      const thread = await rig.client.getThread({ conversation: "a", limit: 2 });
      expect(thread.rows.map(({ entry }) => entry)).toEqual(newest.entries);
      expect(newest.entries.map(({ id }) => id)).toEqual(["m3", "m4"]);
      const older = await rig.client.listHistory({ conversation: "a", limit: 2, cursor: newest.next ?? "" });
      expect(older.entries.map(({ id }) => id)).toEqual(["m1", "m2"]);
      const context = await rig.client.getContext({ conversation: "a" });
      await rig.sameAsCli(context, "context", "a");
      const { messages } = await rig.conversation.context();
      expect(context.messages.map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
      const then = await rig.client.getContext({ conversation: "a", at: "m1" });
      expect([then.messages.length, then.leaf]).toEqual([1, "m1"]);
      const tree = await rig.client.getTree({ conversation: "a" });
      await rig.sameAsCli({ ...tree, next: undefined }, "tree", "a");
      const [one, two] = [
        await rig.client.getTree({ conversation: "a", limit: 2 }),
        await rig.client.getTree({ conversation: "a", limit: 500, cursor: "2" }),
      ];
      expect([...one.nodes, ...two.nodes]).toEqual(tree.nodes);
      expect(await rig.client.getEntry({ conversation: "a", entry: "m4" })).toMatchObject({
        id: "m4",
        type: "message",
      });
    });

    test("chain, stamps, effects, usage, issues, runs and search are what the library says", async () => {
      const chain = await rig.client.getChain({ conversation: "a" });
      await rig.sameAsCli(chain, "chain", "a");
      expect(chain.links).toMatchObject([{ id: "s1", agent: "sim", fidelity: "native" }]);
      const { links } = await rig.client.getChain({ conversation: "a", details: true });
      expect(links).toEqual(
        chain.links.map((link) => Object.assign({}, link, { messages: 4, priorContext: null, ended: null })),
      );
      const { stamps } = await rig.client.listStamps({ conversation: "a" });
      expect(stamps.find(({ entry }) => entry === "m1")?.upstreams).toEqual([
        { id: "s1", agent: "sim", account: null, link: 0 },
      ]);
      expect((await rig.client.listStamps({ conversation: "a", upstream: "s1" })).stamps).toEqual(stamps);
      expect((await rig.client.listStamps({ conversation: "a", upstream: "s2" })).stamps).toEqual([]);
      expect((await rig.client.listStamps({ conversation: "a", entry: "m4" })).stamps).toHaveLength(1);
      const some = await rig.client.listStamps({ conversation: "a", entries: ["m4", "m1", "nobodys"] });
      expect(some.stamps.map(({ entry, upstreams }) => [entry, upstreams.length])).toEqual([
        ["m4", 1],
        ["m1", 1],
        ["nobodys", 0],
      ]);
      const effects = await rig.client.listEffects({ conversation: "a" });
      await rig.sameAsCli(effects, "effects", "a");
      expect(effects.effects).toMatchObject([{ call: "c1", state: "done", input: { q: "needle" } }]);
      const page = await rig.client.listEffects({ conversation: "a", limit: 1 });
      expect([page.effects, page.cursor]).toEqual([effects.effects, null]);
      const usage = await rig.client.getUsage({ conversation: "a" });
      await rig.sameAsCli(usage, "usage", "a");
      expect(usage.total).toMatchObject({ inputTokens: 10, costMicros: 70 });
      expect((await rig.client.getUsage({ conversation: "a", by: "day" })).rows).toHaveLength(1);
      expect((await rig.client.getSpaceUsage({ by: "conversation" })).rows.map(({ name }) => name)).toContain(
        "a",
      );
      expect((await rig.client.listIssues({ conversation: "a" })).issues).toEqual(
        await rig.conversation.issues(),
      );
      expect((await rig.client.listIssues({ conversation: "a", limit: 1 })).issues).toEqual(
        (await rig.conversation.issues()).slice(0, 1),
      );
      expect(await rig.client.listWaiting({ conversation: "a" })).toMatchObject({ queue: [], asked: [] });
      const { hits } = await rig.client.search({ q: "needle", conversation: "a" });
      expect(hits.map(({ entry }) => entry)).toContain("m1");
      expect((await rig.client.listRuns({ mailbox: "in" })).runs).toEqual([
        await rig.served.holdfast.run("run-1"),
      ]);
      expect((await rig.client.listRuns({ mailbox: "out" })).runs).toEqual([]);
      expect(await rig.client.getRun({ run: "run-1" })).toMatchObject({ run: "run-1", status: "completed" });
      await expect(rig.client.getRun({ run: "run-2" })).rejects.toMatchObject({
        status: 404,
        code: "run_not_found",
      });
      const hydrated = await rig.client.hydrate({ run: "run-1" });
      await rig.sameAsCli(hydrated, "hydrate", "run-1");
      expect(hydrated.messages).toHaveLength(4);
    });
  });
}
