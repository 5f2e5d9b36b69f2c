/**
 * Goal: whatever the order in which a branch is read and told, what is shown in the end is what the log has.
 * Method: logs of messages, branches, labels and hidden ones at random; the stream is behind the log or ahead of what was read.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { ThreadPage, ThreadRow } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { changedRows, type ReadSeqs } from "../../ui/src/pages/conversation/thread/changed-rows.ts";
import {
  continued,
  missingPages,
  NO_THREAD,
  opened,
  type ThreadState,
  withoutFar,
  withRows,
} from "../../ui/src/pages/conversation/thread/thread-state.ts";

const ROOT = { seq: 1, id: "e1", parentId: null, type: "conversation" } as unknown as Entry;

/** Each step is a message after the leaf, a move to an earlier node, or a message that is hidden or labeled. */
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
        : { type: act, parentId: null, target, label: id };
    entries.push({ seq, id, ...body } as unknown as Entry);
    if (act === "leaf") leaf = target;
    if (act === "say") nodes.push((leaf = id));
  }
  return entries;
}

/** What a server would answer when the log was that long. */
function pageAt(
  log: readonly Entry[],
  headSeq: number,
  { leaf: end, from = 0, limit = 500 }: { leaf?: string; from?: number; limit?: number } = {},
): ThreadPage {
  const known = log.slice(0, headSeq);
  const byId = new Map(known.map((entry) => [entry.id as string, entry]));
  const last = known.findLast(({ type }) => type === "leaf" || type === "message");
  const own = last?.type === "leaf" ? (last.target as string) : (last?.id ?? "e1");
  const leaf = end ?? own;
  const branch: Entry[] = [];
  for (let at = byId.get(leaf); at !== undefined; at = byId.get(at.parentId ?? "")) branch.unshift(at);
  const about = (type: string, id: string): Entry | undefined =>
    known.findLast((entry) => entry.type === type && "target" in entry && entry.target === id);
  const rows = branch.map((entry, place) => {
    const label = about("label", entry.id);
    const siblings = known.filter(({ parentId }) => parentId !== null && parentId === entry.parentId);
    return {
      place,
      entry,
      hidden: about("hide", entry.id) !== undefined,
      label: label?.type === "label" ? label.label : null,
      siblings: siblings.length < 2 ? [] : siblings.map(({ id }) => ({ entry: id })),
      calls: [],
    } as unknown as ThreadRow;
  });
  const first = Math.min(from, rows.length - 1);
  return {
    leaf,
    own: leaf === own,
    length: rows.length,
    from: first,
    rows: rows.slice(first, first + limit),
    headSeq,
  } as unknown as ThreadPage;
}

const step = fc.record({
  act: fc.constantFrom("say", "say", "say", "leaf", "hide", "label"),
  at: fc.nat(20),
});

/** As the store does it: an entry that changed rows has them read, and the whole branch where they do not connect. */
function follow(
  log: readonly Entry[],
  first: ThreadPage,
  read: (seq: number) => number,
  leaf?: string,
): ThreadState {
  let state = opened(NO_THREAD, first);
  let readSeqs: ReadSeqs = { end: first.headSeq, turn: first.headSeq };
  const wanted = leaf === undefined ? {} : { leaf };
  for (const entry of log.slice(first.headSeq)) {
    for (let reads = 0; ; reads++) {
      const changed = changedRows(state, entry, { isPinned: leaf !== undefined, readSeqs });
      if (changed === null) break;
      expect(reads).toBeLessThan(4);
      const page = pageAt(log, read(entry.seq), { ...wanted, ...changed });
      const next = continued(state, page);
      if (next === null) {
        state = opened(state, pageAt(log, read(page.headSeq), wanted));
        const headSeq = state.page?.headSeq ?? 0;
        readSeqs = { end: headSeq, turn: headSeq };
      } else {
        state = next;
        const { headSeq } = page;
        if (changed.reach !== "some") readSeqs = { ...readSeqs, end: headSeq, [changed.reach]: headSeq };
      }
    }
  }
  return state;
}

/** How long the log is at each reading: it never gets shorter. */
function reader(length: number, ahead: Iterator<number>): (seq: number) => number {
  let last = 0;
  return (seq) => (last = Math.min(length, Math.max(last, seq + (ahead.next().value as number))));
}

const shown = ({ rows }: ThreadState): readonly ThreadRow[] =>
  [...rows.values()].toSorted((a, b) => a.place - b.place);

test("what is shown in the end is the branch of the log, however reading and telling overlap", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 30 }),
      fc.nat(30),
      fc.infiniteStream(fc.nat(4)),
      (steps, start, ahead) => {
        const log = logOf(steps);
        const read = reader(log.length, ahead);
        const first = pageAt(log, Math.min(log.length, Math.max(1, start)));
        expect(shown(follow(log, first, read))).toEqual(pageAt(log, log.length).rows);
      },
    ),
  );
});

test("a branch of its own stays, and shows where others part from it", () => {
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 3, maxLength: 30 }),
      fc.infiniteStream(fc.nat(4)),
      (steps, ahead) => {
        const log = logOf([{ act: "say", at: 0 }, { act: "say", at: 0 }, ...steps]);
        const read = reader(log.length, ahead);
        const leaf = "e3";
        const state = follow(log, pageAt(log, 3, { leaf }), read, leaf);
        expect(shown(state)).toEqual(pageAt(log, log.length, { leaf }).rows);
      },
    ),
  );
});

test("a branch is read by pages where something is missing, and keeps its end", () => {
  const log = logOf(Array.from({ length: 9 }, () => ({ act: "say", at: 0 })));
  const state = opened(NO_THREAD, pageAt(log, 10, { from: 4 }));
  expect(missingPages(state, { first: 0, last: 100, size: 2 })).toEqual([0, 2]);
  const more = withRows(state, pageAt(log, 10, { from: 0, limit: 2 }));
  expect(missingPages(more, { first: 0, last: 100, size: 2 })).toEqual([2]);
  expect([...withoutFar(more, 0, 4).rows.keys()].toSorted((a, b) => a - b)).toEqual([0, 1, 4, 9]);
});
