/** Branches of real logs, compared from where they part, on every store. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { ComparedBranches } from "#conversation/read-diff";
import type { EntryBody } from "#log/entry";
import type { Json } from "#log/json/json-text";
import type { Usage } from "#log/message";
import { countingIdsAndTime, result, user } from "../support/a-log.ts";
import type { NamedSubject } from "../support/subjects.ts";

function called(call: string, name: string, input: Json, usage: Usage = {}): EntryBody {
  const content = [{ type: "toolCall", id: call, name, input } as const];
  return { type: "message", message: { role: "assistant", content, model: "m", usage } };
}

function answered(text: string, more: { readonly model?: string; readonly usage?: Usage } = {}): EntryBody {
  return { type: "message", message: { role: "assistant", content: [{ type: "text", text }], ...more } };
}

const ops = ({ rows }: ComparedBranches): readonly string[] =>
  rows.map(({ op, a, b }) => {
    const item = a ?? b;
    return `${op} ${item === null ? "" : item.kind === "call" ? item.name : item.text}`;
  });

export function branchDiffCases(kind: NamedSubject): void {
  const opened = async (): Promise<AsyncDisposable & { readonly holdfast: Holdfast }> => {
    const subject = kind.make();
    const store = await subject.open(() => 0);
    return {
      holdfast: new Holdfast(store, "default", countingIdsAndTime()),
      async [Symbol.asyncDispose]() {
        await store.close();
        subject[Symbol.dispose]();
      },
    };
  };

  test("two branches of a conversation are compared behind the entry they part at", async () => {
    await using place = await opened();
    const chat = await place.holdfast.create({ id: "c", entries: [user("go", "p"), answered("hm")] });
    const first = (await chat.append([user("fix it"), called("1", "read", { b: 1, a: [2] })])).lastId;
    const { leaf } = await chat.head();
    expect(leaf.id).toBe(first);
    const [, parent] = (await chat.branch()).toReversed().slice(1);
    await chat.append([
      { ...user("fix it"), parentId: parent?.id ?? "" },
      called("9", "read", { a: [2], b: 1 }),
      answered("done"),
    ]);
    const [diff] = await place.holdfast.compare({ conversation: "c", at: first }, [{ conversation: "c" }]);
    if (diff === undefined) throw new Error("nothing compared");
    expect(diff.start).toEqual({ kind: "ancestor", a: parent?.id, b: parent?.id });
    expect(ops(diff)).toEqual(["same fix it", "same read", "added done"]);
    expect(diff.divergence).toMatchObject({ kind: "text", a: null, b: { text: "done", turn: 1 } });
    expect(diff.totals.b).toMatchObject({ turns: 1, steps: 2, calls: 1, tools: { read: 1 } });
  });

  test("forks of forks, whose own entries have the same ids, part where they were forked", async () => {
    await using place = await opened();
    const { holdfast } = place;
    const chat = await holdfast.create({ id: "c", entries: [user("one", "m1"), answered("hm")] });
    const at = (await chat.head()).leaf.id;
    const fork = await chat.fork({ id: "f" });
    await chat.append(user("two", "m2"));
    await fork.append([user("two", "m2"), called("1", "read", {}), result("1", "old")]);
    const deeper = await fork.fork({ id: "ff" });
    await fork.append(called("2", "write", { path: "a" }));
    await deeper.append(called("2", "write", { path: "b" }));
    const [withSource, withFork] = await Promise.all(
      ["c", "f"].map(
        async (id) => (await holdfast.compare({ conversation: id }, [{ conversation: "ff" }]))[0],
      ),
    );
    expect(withSource?.start).toEqual({ kind: "ancestor", a: at, b: at });
    expect(withSource === undefined ? [] : ops(withSource)).toEqual([
      "same two",
      "added read",
      "added write",
    ]);
    expect(withFork?.start.kind).toBe("ancestor");
    expect(withFork === undefined ? [] : ops(withFork)).toEqual(["changed write"]);
    // Named together they are compared from the first place where one of them parts.
    const both = await holdfast.compare({ conversation: "ff" }, [
      { conversation: "f" },
      { conversation: "c" },
    ]);
    expect(both.map(ops)).toEqual([
      ["same two", "same read", "changed write"],
      ["same two", "removed read", "removed write"],
    ]);
    expect(new Set(both.map((diff) => JSON.stringify(diff.totals.a))).size).toBe(1);
  });

  test("a branch and itself, or its own beginning, have nothing changed but what was added", async () => {
    await using place = await opened();
    const chat = await place.holdfast.create({ id: "c", entries: [user("go", "p"), answered("hm")] });
    const [same, longer] = await place.holdfast.compare({ conversation: chat.id, at: "p" }, [
      { conversation: chat.id, at: "p" },
      { conversation: chat.id },
    ]);
    expect(same).toMatchObject({ isSame: true, rows: [], start: { kind: "ancestor", a: "p", b: "p" } });
    expect(longer === undefined ? [] : ops(longer)).toEqual(["added hm"]);
  });

  test("unrelated ones are compared from their starts, though their ids are the same; copies behind what was copied", async () => {
    await using place = await opened();
    const { holdfast } = place;
    const entries = [user("go", "p"), answered("hm")];
    for (const id of ["c", "other"]) await holdfast.create({ id, entries });
    const [unrelated] = await holdfast.compare({ conversation: "c" }, [{ conversation: "other" }]);
    expect(unrelated).toMatchObject({ isSame: true, start: { kind: "starts", a: null, b: null } });
    expect(unrelated?.rows).toHaveLength(2);
    const bodies = (await (await holdfast.conversation("c")).branch()).map(
      ({ id, type, time, payload, parentId }): string =>
        JSON.stringify({
          id,
          type,
          time,
          ...(parentId === null ? {} : { parentId }),
          ...(JSON.parse(payload) as object),
        }),
    );
    const copy = await holdfast.createFrom("copy", bodies);
    await copy.append(answered("more"));
    const [copied, forced] = [
      (await holdfast.compare({ conversation: "c" }, [{ conversation: "copy" }]))[0],
      await holdfast.compare({ conversation: "c" }, [{ conversation: "copy" }, { conversation: "other" }]),
    ];
    expect(copied?.start.kind).toBe("copy");
    expect(copied === undefined ? [] : ops(copied)).toEqual(["added more"]);
    expect(forced.map(({ start }) => start.kind)).toEqual(["starts", "starts"]);
  });

  test("runs that began with the same seeds are compared behind them", async () => {
    await using place = await opened();
    const { holdfast } = place;
    const seed = (run: string): EntryBody => ({
      type: "seed",
      run,
      messages: [{ role: "system", content: "Be brief" }],
    });
    await holdfast.create({ id: "a", entries: [user("old"), seed("r1"), user("go"), answered("x")] });
    await holdfast.create({ id: "b", entries: [seed("r2"), user("go"), answered("y")] });
    const [diff] = await holdfast.compare({ conversation: "a" }, [{ conversation: "b" }]);
    expect(diff?.start.kind).toBe("seeds");
    expect(diff === undefined ? [] : ops(diff)).toEqual(["same go", "changed x"]);
  });

  test("totals are of the turns of the branch alone: failed attempts count, other branches do not, nor does the time between", async () => {
    await using place = await opened();
    const { holdfast } = place;
    const chat = await holdfast.create({ id: "c", entries: [user("hello"), answered("hm")] });
    const root = (await chat.head()).leaf.id;
    const turn = (name: string, words: string, day: number): EntryBody[] => {
      const time = (second: number): string => new Date(Date.UTC(2026, 0, day, 0, 0, second)).toISOString();
      const usage = { inputTokens: 10, costMicros: 5 };
      const content = [{ type: "text", text: words } as const];
      return [
        { ...user("go", `p-${name}`), parentId: root, time: time(1) },
        { type: "turn_start", turn: name, prompt: `p-${name}`, time: time(1) },
        { type: "attempt_end", turn: name, class: "overloaded", model: "m", usage, time: time(2) },
        { type: "message", time: time(3), message: { role: "assistant", content, model: "m", usage } },
        { type: "turn_end", turn: name, outcome: "completed", time: time(4) },
      ];
    };
    await chat.append(turn("t1", "one", 1));
    const one = (await chat.head()).leaf.id;
    await chat.append(turn("t2", "two", 9));
    await chat.append([
      { ...user("on", "p3"), time: "2026-02-01T00:00:00.000Z" },
      { ...answered("ok"), time: "2026-02-01T00:00:02.000Z" },
    ]);
    const [diff] = await holdfast.compare({ conversation: "c", at: one }, [{ conversation: "c" }]);
    expect(diff?.totals.a).toMatchObject({
      turns: 1,
      wallMs: 3_000,
      usage: { inputTokens: 20, costMicros: 10 },
    });
    expect(diff?.totals.b).toMatchObject({ turns: 2, wallMs: 5_000, usage: { inputTokens: 20 } });
    expect(diff?.divergence).toMatchObject({ kind: "prompt", a: null, b: { text: "on", turn: 2 } });
  });
}
