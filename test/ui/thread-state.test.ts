/**
 * Goal: whatever the order in which a branch is read and told, what is shown in the end is what the log has.
 * Method: logs of messages, branches and hidden ones at random; the stream is behind the log or ahead of what was read.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { nodesOf } from "../../ui/src/pages/conversation/thread/branch-nodes.ts";
import {
  afterTold,
  NO_THREAD,
  type ThreadState,
} from "../../ui/src/pages/conversation/thread/thread-state.ts";

type Page = Parameters<typeof nodesOf>[0];
type Shown = ThreadState & { readonly branch: NonNullable<ThreadState["branch"]> };

const ROOT = { seq: 1, id: "e1", parentId: null, type: "conversation" } as unknown as Entry;

/** Each step is a message behind the leaf, a move to an earlier node, or a message hidden. */
function logOf(steps: readonly { readonly act: string; readonly at: number }[]): readonly Entry[] {
  const entries: Entry[] = [ROOT];
  let leaf = ROOT.id as string;
  const nodes = [leaf];
  for (const { act, at } of steps) {
    const [seq, id] = [entries.length + 1, `e${entries.length + 1}`];
    const target = nodes[at % nodes.length] ?? leaf;
    const body =
      act === "say"
        ? { type: "message", parentId: leaf, message: { role: "user", content: [] } }
        : { type: act, parentId: null, target };
    entries.push({ seq, id, ...body } as unknown as Entry);
    if (act === "leaf") leaf = target;
    if (act === "say") nodes.push((leaf = id));
  }
  return entries;
}

/** What a server would answer when the log was that long. */
function pageAt(log: readonly Entry[], headSeq: number): Page {
  const known = log.slice(0, headSeq);
  const byId = new Map(known.map((entry) => [entry.id as string, entry]));
  const last = known.findLast(({ type }) => type === "leaf" || type === "message");
  const leaf = last?.type === "leaf" ? (last.target as string) : (last?.id ?? "e1");
  const branch: Entry[] = [];
  for (let at = byId.get(leaf); at !== undefined; at = byId.get(at.parentId ?? "")) branch.unshift(at);
  const hidden = known.flatMap((entry) => (entry.type === "hide" ? [entry.target as string] : []));
  const [entries, length] = [branch, branch.length];
  const shown = hidden.filter((id) => branch.some((entry) => entry.id === id));
  return {
    leaf,
    length,
    inherited: 0,
    from: 0,
    logs: [],
    entries,
    hidden: shown,
    cut: {},
    headSeq,
  } as unknown as Page;
}

const step = fc.record({ act: fc.constantFrom("say", "say", "say", "leaf", "hide"), at: fc.nat(20) });

test("what is shown in the end is the branch of the log, however reading and telling overlap", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.nat(30),
      fc.infiniteStream(fc.nat(4)),
      (steps, opened, ahead) => {
        const log = logOf(steps);
        const read = (atLeast: number): number =>
          Math.min(log.length, atLeast + (ahead.next().value as number));
        const first = pageAt(log, Math.min(log.length, Math.max(1, opened)));
        let state: Shown = { ...NO_THREAD, branch: nodesOf(first) };
        const parents = new Set(log.slice(0, first.headSeq).map(({ parentId }) => parentId));
        for (const entry of log.slice(first.headSeq)) {
          const next = afterTold(state, { entry, cut: null }, false);
          // What was read with the branch does not make it be read again.
          if (entry.seq <= state.branch.headSeq) expect(next.isStale).toBe(false);
          state = next.state as Shown;
          if (next.isStale) state = { ...state, branch: nodesOf(pageAt(log, read(entry.seq))) };
          const hasSibling = entry.parentId !== null && parents.has(entry.parentId);
          parents.add(entry.parentId);
          if (hasSibling) expect(next.isParted).toBe(true);
        }
        const { branch: shown } = state;
        const wanted = nodesOf(pageAt(log, log.length));
        expect([...shown.nodes.values()].map(({ id }) => id)).toEqual(
          [...wanted.nodes.values()].map(({ id }) => id),
        );
        const onBranch = new Set([...shown.nodes.values()].map(({ id }) => id as string));
        expect(new Set([...shown.hidden].filter((id) => onBranch.has(id)))).toEqual(wanted.hidden);
      },
    ),
  );
});

test("in a branch of its own nothing is added, and it is noticed when another branch is gone on with or begun", () => {
  const log = logOf([
    { act: "say", at: 0 },
    { act: "say", at: 0 },
    { act: "leaf", at: 1 },
    { act: "say", at: 0 },
    { act: "say", at: 0 },
  ]);
  const first = pageAt(log, 3);
  let state: Shown = { ...NO_THREAD, branch: nodesOf(first) };
  const parted = log.slice(3).map((entry) => {
    const next = afterTold(state, { entry, cut: null }, true);
    state = next.state as Shown;
    expect(next.isStale).toBe(false);
    return next.isParted;
  });
  expect(parted).toEqual([true, true, false]);
  expect([...state.branch.nodes.values()].map(({ id }) => id)).toEqual(["e1", "e2", "e3"]);
});

test("what is being said is shown at the end of the conversation's own branch, and of no other", () => {
  const log = logOf([{ act: "say", at: 0 }]);
  const state: ThreadState = { ...NO_THREAD, branch: nodesOf(pageAt(log, 2)) };
  const entry = { seq: 3, id: "e3", parentId: null, type: "turn_start", turn: "t" } as unknown as Entry;
  expect(afterTold(state, { entry, cut: null }, false).state.live.turn).toBe("t");
  expect(afterTold(state, { entry, cut: null }, true).state.live.turn).toBeNull();
});
