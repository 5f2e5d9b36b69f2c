import { describe, expect, test } from "vitest";
import { messagesTokens } from "#agent/compaction/token-estimate";
import type { Client } from "#edges/http/client/index";
import { entryDigest } from "#log/batch-links";
import { entryLine } from "#log/codec";
import { assistant, toolResult, user } from "#log/message";
import { sha256 } from "#store/sha256";
import { by } from "../raw-requests.ts";
import { RouteRig, type StoreAddress } from "./route-rig.ts";
import { spaceOf } from "#conversation/on-space";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** Forks, marks, appends, blobs and figures through routes. */
export function routeCases(kind: string, storeOf: StoreAddress): void {
  describe(`on ${kind}`, () => {
    const rig = new RouteRig(storeOf);

    test("records, sizes and sums are those of the log and its context", async () => {
      const { records, headSeq, next } = await rig.client.listRecords({ conversation: "a", limit: 500 });
      const stored = await spaceOf(rig.conversation).read({ conversation: rig.conversation.id, limit: 500 });
      expect([records.map(({ seq }) => seq), next]).toEqual([stored.map(({ seq }) => seq), null]);
      expect(records.map(({ bytes }) => bytes)).toEqual(
        stored.map((one) => Buffer.byteLength(entryLine(one))),
      );
      expect(records.map(({ digest }) => digest)).toEqual(stored.map((one) => entryDigest(sha256, one)));
      const ends = await spaceOf(rig.conversation).batchEnds({
        conversation: rig.conversation.id,
        after: 0,
        limit: 500,
      });
      const links = records.flatMap(({ seq, link }) => (link === null ? [] : [{ seq, link }]));
      expect(links).toEqual(ends.map(({ seq, link }) => ({ seq, link })));
      expect(links.at(-1)?.seq).toBe(headSeq);
      const second = stored.find(({ id }) => id === "m1");
      if (second === undefined) throw new Error("It is there");
      const line = { conversation: "a", seq: second.seq, line: entryLine(second) };
      expect(await rig.client.getRecord({ conversation: "a", seq: second.seq })).toMatchObject(line);
      const fork = await rig.conversation.fork({ id: "record-fork" });
      const again = await fork.fork({ id: "record-fork-fork" });
      for (const conversation of ["a", fork.id, again.id])
        expect(await rig.client.getRecord({ conversation, entry: second.id })).toMatchObject(line);
      for (const wrong of [{}, { seq: 1, entry: second.id }])
        await expect(rig.client.getRecord({ conversation: "a", ...wrong })).rejects.toMatchObject({
          status: 400,
        });
      await expect(rig.client.getRecord({ conversation: "a", seq: 99_999 })).rejects.toMatchObject({
        status: 404,
      });
      let text = "";
      const told = await rig.client.getEntry(
        { conversation: "a", entry: second.id },
        { onText: (came) => (text = came) },
      );
      expect([text, JSON.parse(text)]).toEqual([entryLine(second), told]);
      const back = await rig.client.listRecords({ conversation: "a", before: 4, limit: 2 });
      expect([back.records.map(({ seq }) => seq), back.previous, back.next]).toEqual([[2, 3], 2, 3]);
      const sizes = await rig.client.getContextSizes({ conversation: "a" });
      const { messages, model } = await rig.conversation.context();
      expect(sizes.messages.map(({ entry }) => entry)).toEqual(messages.map(({ entryId }) => entryId));
      expect([sizes.model, sizes.tokens]).toEqual([model, messagesTokens(messages)]);
      expect((await rig.client.getContextSizes({ conversation: "a", at: "m1" })).messages).toHaveLength(1);
      const { rows, leftOut } = await rig.client.getDailyUsage();
      expect([rows.length, leftOut]).toEqual([1, []]);
      expect(rows[0]).toMatchObject({ model: "x/y", replay: false, inputTokens: 10, costMicros: 70 });
      expect((await rig.client.getDailyUsage({ until: "2000-01-01" })).rows).toEqual([]);
      expect((await rig.client.getDailyUsage({ conversation: "a", since: "2000-01-01" })).rows).toEqual(rows);
      await expect(rig.client.getDailyUsage({ conversation: "x" })).rejects.toMatchObject({ status: 404 });
      const daily = await rig.client.getDailyUsage();
      expect([daily.conversationCount, daily.conversations[0]]).toMatchObject([
        1,
        { conversation: "a", replay: false, inputTokens: 10, costMicros: 70, rollovers: daily.rollovers },
      ]);
      const used = await rig.client.getTurnUsage({ conversation: "a" });
      expect(used.turns.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0)).toBe(70);
      expect((await rig.client.getTurnUsage({ conversation: "a", limit: 1 })).turns).toEqual(
        used.turns.slice(-1),
      );
      expect([used.inherited, used.replays]).toMatchObject([null, { count: 0, costMicros: 0 }]);
      const replay = await rig.conversation.fork({ id: "usage-replay" });
      const answer = {
        role: "assistant",
        model: "x/y",
        content: [],
        usage: { inputTokens: 1, costMicros: 5 },
      } as const;
      await replay.append([
        { type: "run_start", run: "usage-run", trigger: "replay" },
        { type: "message", message: answer },
      ]);
      expect((await rig.client.getTurnUsage({ conversation: "a" })).replays).toMatchObject({
        count: 1,
        costMicros: 5,
        inputTokens: 1,
      });
      const ofReplay = async (): Promise<unknown> => {
        const { turns, inherited } = await rig.client.getTurnUsage({ conversation: replay.id });
        const own = turns.reduce((sum, { costMicros }) => sum + (costMicros ?? 0), 0);
        return [own, inherited?.costMicros];
      };
      expect(await ofReplay()).toEqual([5, 70]);
      // What is kept of a log goes on where it was; a log that took its name is another.
      await replay.append([{ type: "message", message: answer }]);
      expect(await ofReplay()).toEqual([10, 70]);
      const days = await rig.client.getDailyUsage();
      expect(days.rows.find((row) => row.replay)).toMatchObject({ costMicros: 10 });
      await spaceOf(rig.conversation).erase(replay.id);
      const later = await rig.served.holdfast.create({ id: replay.id });
      for (const _ of [1, 2, 3, 4]) await later.append([{ type: "message", message: answer }]);
      expect(await ofReplay()).toEqual([20, undefined]);
      expect(
        (await rig.client.getDailyUsage()).conversations.find((one) => one.conversation === replay.id),
      ).toMatchObject({
        costMicros: 20,
        replay: false,
      });
      await spaceOf(rig.conversation).erase(replay.id);
    });

    test("the store says how much there is of it; where it lies, to those with the right admin alone", async () => {
      const view = await rig.client.getStore();
      expect(view).toMatchObject({
        kind: "sqlite",
        address: "sqlite:HERE",
        bytes: 7,
        more: false,
        damaged: [],
      });
      expect(view.conversations).toBe((await rig.client.listConversations()).conversations.length);
      const reader = rig.served.client(await rig.served.token("read"));
      expect(await reader.getStore()).toMatchObject({ kind: "sqlite", address: null });
      expect((await rig.client.checkSpace()).findings).toEqual(
        await rig.served.holdfast.check({ repair: false }),
      );
      await expect(reader.checkSpace()).rejects.toMatchObject({ code: "no_right" });
    });

    test("a run is gone on with in a fork, once under its key, with what is other recorded", async () => {
      const ask = { run: "run-1", at: "m2", model: "x/z", tools: ["grep"], system: "Be brief" };
      const made = await rig.client.forkRun(ask, { key: "r" });
      expect(await rig.client.forkRun(ask, { key: "r" })).toEqual(made);
      expect(made).toMatchObject({ source: "a", entry: "m2" });
      const { run, conversation: at } = made;
      expect(await rig.client.getRun({ run })).toMatchObject({
        conversation: at,
        model: "x/z",
        tools: ["grep"],
      });
      await expect(rig.client.forkRun({ run: "run-2" })).rejects.toMatchObject({ status: 404 });
      await expect(rig.client.forkRun({ run: "run-1", at: "nothing" })).rejects.toMatchObject({
        status: 404,
      });
      await (await rig.served.holdfast.conversation(at)).erase();
    });

    test("a fork is made once under its key, and compared with its source", async () => {
      const fork = await rig.client.fork({ conversation: "a", at: "m2", id: "f" }, { key: "f1" });
      expect(await rig.client.fork({ conversation: "a", at: "m2", id: "f" }, { key: "f1" })).toEqual(fork);
      expect(fork).toMatchObject({ conversation: "f", source: "a", entry: "m2" });
      const written = await rig.client.appendEntries({
        conversation: "f",
        entries: [toolResult("c1", "nothing there"), assistant("It is not there")],
      });
      expect(written).toMatchObject({ conversation: "f", deduped: false });
      const diff = await rig.client.diff({ a: "a", b: "f" });
      await rig.sameAsCli(diff, "diff", "a", "f");
      expect(diff.same).toBe(false);
      await rig.sameAsCli(
        await rig.client.diff({ a: "a@m2", b: "f@m2", stat: true }),
        "diff",
        "a@m2",
        "f@m2",
        "--stat",
      );
    });

    test("every write of a mark is done once under its key, and says when it comes again with other words", async () => {
      const once = async (
        write: () => Promise<{ readonly toSeq: number; readonly deduped: boolean }>,
      ): Promise<void> => {
        const [first, again] = [await write(), await write()];
        expect([first.deduped, again.deduped, again.toSeq]).toEqual([false, true, first.toSeq]);
      };
      const key = "k";
      await once(() => rig.client.setTitle({ conversation: "a", title: "Renamed" }, { key }));
      await once(() =>
        rig.client.setMetadata({ conversation: "a", metadata: { tags: ["x"], archived: true } }, { key }),
      );
      await once(() => rig.client.setLabel({ conversation: "a", entry: "m2", label: "here" }, { key }));
      await once(() => rig.client.setHidden({ conversation: "a", entry: "m3", hidden: true }, { key }));
      await once(() => rig.client.goTo({ conversation: "a", entry: "m2" }, { key }));
      await once(() => rig.client.appendEntries({ conversation: "a", entries: [user("More")] }, { key }));
      await once(() => rig.client.newChat({ conversation: "a" }, { key }));
      const other = await rig.client.setTitle({ conversation: "a", title: "Other" }, { key });
      expect([other.deduped, other.differs]).toEqual([true, true]);
      const view = await rig.client.getConversation({ conversation: "a" });
      expect([view.title, view.metadata]).toEqual(["Renamed", { tags: ["x"], archived: true }]);
      expect((await rig.client.listConversations({ tag: "x", archived: true })).conversations).toHaveLength(
        1,
      );
      const { nodes } = await rig.client.getTree({ conversation: "a" });
      expect(nodes.find(({ id }) => id === "m2")?.label).toBe("here");
      expect(nodes.find(({ id }) => id === "m3")?.hidden).toBe(true);
      await rig.client.setHidden({ conversation: "a", entry: "m3", hidden: false });
      await rig.client.setLabel({ conversation: "a", entry: "m2", label: null });
      const again = (await rig.client.getTree({ conversation: "a" })).nodes;
      expect(again.filter(({ hidden, label }) => hidden || label !== null)).toEqual([]);
    });

    test("an append is refused where somebody wrote before, and where an entry is not the client's to write", async () => {
      const { headSeq } = await rig.conversation.head();
      const append = (
        entries: readonly object[],
        more: object = {},
        as: Client = rig.client,
      ): Promise<unknown> => as.appendEntries({ conversation: "a", entries, ...more });
      await expect(append([user("x")], { expected: 1 })).rejects.toMatchObject({
        status: 409,
        code: "head_moved",
      });
      await expect(append([user("x")], { outside: true })).rejects.toMatchObject({ status: 400 });
      const writer = rig.served.client(await rig.served.token("write"));
      for (const entry of [
        { type: "cwd", cwd: "/" },
        { type: "config_change", config: { cwd: "/" } },
        { type: "upstream_link", upstream: "other", agent: "sim", reason: "new" },
        { type: "attempt", turn: "t", upstream: "s", process: "1" },
        { type: "attempt", turn: "t", upstream: "s", process: "1" },
        { type: "memory", change: "saved" },
        { type: "conversation" },
      ])
        await expect(append([entry], {}, writer)).rejects.toMatchObject({
          status: 400,
          code: "invalid_entry",
        });
      await expect(writer.createConversation({ entries: [{ type: "cwd", cwd: "/" }] })).rejects.toMatchObject(
        {
          code: "invalid_entry",
        },
      );
      expect((await rig.conversation.head()).headSeq).toBe(headSeq);
      await expect(append([{ type: "cwd", cwd: rig.folder }])).resolves.toMatchObject({ deduped: false });
    });

    test("blobs are given as images or as files, never as pages", async () => {
      const image = await rig.conversation.putBlob(PNG);
      const page = await rig.conversation.putBlob(Buffer.from("<script>alert(1)</script>"));
      expect(Buffer.from(await rig.client.getBlob({ conversation: "a", digest: image }))).toEqual(PNG);
      const [png, html] = await Promise.all(
        [image, page].map((digest) => rig.served.ask(`/api/conversations/a/blobs/${digest}`, by(rig.token))),
      );
      expect(png?.headers.get("content-type")).toBe("image/png");
      expect(html?.headers.get("content-type")).toBe("application/octet-stream");
      expect(html?.headers.get("content-disposition")).toMatch(/^attachment;/);
      for (const one of [png, html])
        expect(one?.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
      await expect(rig.client.getBlob({ conversation: "b", digest: image })).rejects.toMatchObject({
        status: 404,
      });
    });
  });
}
