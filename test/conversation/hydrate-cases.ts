/**
 * Goal: a run is given back as it was, from its own stretch of the log alone.
 * Method: random logs of runs, turns, moves of the leaf, hides, resets, compactions and forks on every store, and each run
 * compared with what a reader of the whole log makes of it by hand.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import { isNode } from "#log/entry-types";
import type { Run } from "#log/runs/run-row";
import { Rig } from "#store/contract/rig";
import type { NamedSubject } from "../support/subjects.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;
const said = (words: string, id?: string): EntryBody => ({
  type: "message",
  ...(id === undefined ? {} : { id }),
  message: { role: "user", content: text(words) },
});
const answered = (words: string): EntryBody => ({
  type: "message",
  message: { role: "assistant", model: "p/m", content: text(words), usage: { outputTokens: 1 } },
});
const wordsOf = (messages: readonly { readonly content: readonly unknown[] }[]): readonly string[] =>
  messages.map(({ content }) => (content as readonly { text: string }[]).map((block) => block.text).join());

/** A log as one list, with what lies above a fork in front of it: each entry with the log it is of. */
interface Line {
  readonly conversation: string;
  readonly entry: Entry;
}

async function linesOf(
  holdfast: Holdfast,
  conversation: Conversation,
  upTo: number,
): Promise<readonly Line[]> {
  const own = (await conversation.entries({ limit: 9_999, until: upTo })).map((stored) => ({
    conversation: conversation.id as string,
    entry: decodeEntry(stored),
  }));
  const { origin } = await conversation.head();
  if (origin === null) return own;
  const source = await holdfast.conversation(origin.source);
  return [...(await linesOf(holdfast, source, origin.head)), ...own];
}

/** The nodes of a run on the branch as it was at its end, by hand. */
function expectedOwn(lines: readonly Line[], run: Run, branch: ReadonlySet<Entry>): readonly Entry[] {
  const window = lines.filter(
    ({ conversation, entry: { seq } }) =>
      conversation === run.conversation && seq >= run.startSeq && seq <= run.highWater,
  );
  return window.flatMap(({ entry }, at) => {
    if (!branch.has(entry)) return [];
    const isTurn = (line: Line): boolean => /^turn_(start|end)$/.test(line.entry.type);
    const before = window.slice(0, at).findLast(isTurn)?.entry;
    const after = window.slice(at).find(isTurn)?.entry;
    const turn = before?.type === "turn_start" ? before : after?.type === "turn_start" ? after : null;
    return turn === null || turn.run === run.run ? [entry] : [];
  });
}

/** From the root, as the leaf was behind the last of the lines. */
function branchOf(lines: readonly Line[], origin: string | null): readonly Entry[] {
  let leaf: string | null = origin;
  const byId = new Map<string, Entry>();
  for (const { entry } of lines) {
    if (isNode(entry)) {
      byId.set(entry.id, entry);
      leaf = entry.id;
    }
    if (entry.type === "leaf") leaf = entry.target;
    if (entry.type === "conversation" && "origin" in entry && entry.origin !== undefined)
      leaf = (entry.origin as { entry: string }).entry;
  }
  const branch: Entry[] = [];
  for (let at = leaf; at !== null; at = byId.get(at)?.parentId ?? null) {
    const node = byId.get(at);
    if (node === undefined) break;
    branch.push(node);
  }
  return branch.toReversed();
}

const messagesIn = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) => (entry.type === "message" ? [entry.id] : []));

/** What a run with seeds sends, by hand; null: the log has what this reader does not fold. */
async function expectedSent(holdfast: Holdfast, run: Run): Promise<readonly string[] | null> {
  const chat = await holdfast.conversation(run.conversation);
  const lines = await linesOf(holdfast, chat, run.highWater);
  const branch = branchOf(lines, null);
  const on = new Set(branch);
  const reset = branch.findLastIndex(({ type }) => type === "reset");
  const rows: Run[] = [];
  for await (const row of holdfast.runs()) rows.push(row);
  const sees = (row: Run): boolean =>
    lines.some(({ conversation, entry }) => conversation === row.conversation && entry.seq === row.startSeq);
  const order = (row: Run): number =>
    lines.findIndex(
      ({ conversation, entry }) => conversation === row.conversation && entry.seq === row.startSeq,
    );
  const chain: Run[] = [run];
  for (let at: Run | undefined = run; at !== undefined && at.continues !== null;) {
    const [name, bound]: [string, number] = [at.continues, order(at)];
    at = rows
      .filter((row) => row.run === name && sees(row) && order(row) < bound)
      .toSorted((a, b) => order(b) - order(a))[0];
    if (at !== undefined) chain.push(at);
  }
  const nodes = chain.toReversed().flatMap((row) => expectedOwn(lines, row, on));
  return messagesIn(nodes.filter((entry) => branch.indexOf(entry) > reset));
}

const run = fc.constantFrom("r1", "r2", "r3");
const step = fc.oneof(
  fc.record({ do: fc.constant("start"), run, continues: fc.option(run), seeded: fc.boolean() }),
  fc.record({ do: fc.constant("turn"), run: fc.option(run), steps: fc.integer({ min: 0, max: 3 }) }),
  fc.record({ do: fc.constant("note") }),
  fc.record({ do: fc.constant("end"), run }),
  fc.record({ do: fc.constant("back"), by: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ do: fc.constant("reset") }),
  fc.record({ do: fc.constant("fork"), by: fc.integer({ min: 0, max: 6 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Carries one step out, and gives the conversation that is gone on with. */
async function act(holdfast: Holdfast, chat: Conversation, done: Step, n: number): Promise<Conversation> {
  if (done.do === "start" && "seeded" in done) {
    const seed = holdfast.newId();
    const { run: id, continues, seeded } = done;
    await chat.append([
      {
        type: "run_start",
        run: id,
        trigger: "email",
        ...(continues === null ? {} : { continues }),
        ...(seeded ? { seed, seedCount: 2 } : {}),
      },
      ...(seeded
        ? [
            {
              type: "seed",
              id: seed,
              run: id,
              messages: [
                { role: "system", content: `be ${n}` },
                { role: "user", content: `seed ${n}` },
              ],
            } as const,
          ]
        : []),
    ]);
  } else if (done.do === "turn" && "steps" in done) {
    const [turn, prompt] = [holdfast.newId(), holdfast.newId()];
    const named = done.run === null ? {} : { run: done.run };
    await chat.append([said(`prompt ${n}`, prompt), { type: "turn_start", turn, prompt, ...named }]);
    for (let at = 0; at < done.steps; at++) await chat.append([answered(`answer ${n}.${at}`)]);
    if (n % 3 > 0) await chat.append({ type: "turn_end", turn, outcome: "completed" });
  } else if (done.do === "note") await chat.append(said(`note ${n}`));
  else if (done.do === "end" && "run" in done && done.run !== null)
    await chat.append({ type: "run_end", run: done.run, status: "completed" });
  else if (done.do === "reset") await chat.append({ type: "reset", reason: "test" });
  else if (done.do === "back" && "by" in done) {
    const branch = await chat.branch();
    const target = branch.at(-1 - done.by)?.id;
    if (target !== undefined) await chat.goTo(target);
  } else if (done.do === "fork" && "by" in done) {
    const branch = await chat.branch();
    const at = branch.at(-1 - done.by)?.id;
    return chat.fork(at === undefined ? {} : { at });
  }
  return chat;
}

export function hydrateCases(named: NamedSubject): void {
  test("gives of every run what the whole log says of it", async () => {
    using subject = named.make();
    await using rig = new Rig(subject);
    const store = await rig.open();
    let spaces = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 24 }), async (steps) => {
        const holdfast = new Holdfast(store, `space-${++spaces}`, rig.idsAndTime);
        let chat = await holdfast.create({});
        for (const [n, one] of steps.entries()) chat = await act(holdfast, chat, one, n);
        const rows: Run[] = [];
        for await (const row of holdfast.runs()) rows.push(row);
        for (const row of rows) {
          const same = rows.filter(
            (other) => other.run === row.run && other.conversation === row.conversation,
          );
          if (same.at(-1) !== row) continue; // of several under one id the last is meant
          const got = await holdfast.hydrate(row.run, { conversation: row.conversation });
          expect(got.run).toEqual(row);
          const log = await holdfast.conversation(row.conversation);
          const lines = await linesOf(holdfast, log, row.highWater);
          const branch = branchOf(lines, null);
          expect(got.messages.map(({ id }) => id)).toEqual(
            messagesIn(expectedOwn(lines, row, new Set(branch))),
          );
          const at = branch.at(-1)?.id ?? "";
          const { messages, ...settings } = await log.context({ at });
          if (row.seed === null) {
            expect(got.seeds).toEqual([]);
            expect(got.context).toEqual({ messages, ...settings, system: null });
            continue;
          }
          const seed = branch.findIndex(({ id }) => id === row.seed);
          const isSent = seed > branch.findLastIndex(({ type }) => type === "reset");
          expect(got.seeds).toHaveLength(2);
          if (seed !== -1)
            expect(wordsOf(got.context.messages.filter(({ entryId }) => entryId === null))).toEqual(
              isSent ? [expect.stringMatching(/^seed /)] : [],
            );
          expect(got.context.messages.flatMap(({ entryId }) => entryId ?? [])).toEqual(
            await expectedSent(holdfast, row),
          );
          expect({ ...got.context, messages: [] }).toMatchObject({ model: settings.model, leaf: at });
        }
      }),
      { numRuns: named.durable ? 12 : 100 },
    );
  });
}
