/** A load shows a long history as it is read: counted in pages and updates, not in time. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { Replay, HistoryStream, replayOf } from "#edges/acp/host/history";
import { HostWire } from "#edges/acp/host/host-wire";
import type { EntryBody } from "#log/entry";
import type { SpaceStore } from "#store/facets";
import { inMemoryStore } from "#stores/in-memory/index";
import { assistant, result, user } from "../../../support/a-log.ts";
import { eventually } from "../eventually.ts";

const TURNS = 3_000;
const NODES_A_TURN = 4;

function* turns(): Generator<EntryBody> {
  for (let n = 0; n < TURNS; n++) {
    yield user(`prompt ${n}`, `p${n}`);
    yield assistant("let me see", `a${n}`, "call_0");
    yield result("call_0", `output ${n}`);
    yield assistant(`answer ${n}`, `z${n}`);
  }
}

interface Rig {
  readonly conversation: Conversation;
  readonly history: HistoryStream;
  readonly wire: HostWire;
  /** The updates that were written. */
  readonly updates: object[];
  /** How many pages had been read when each was written. */
  readonly pagesAt: number[];
  readonly pages: () => number;
}

async function openRig(onWrite: (count: number, wire: HostWire) => void = () => undefined): Promise<Rig> {
  const store = inMemoryStore();
  let pages = 0;
  const counted = (inner: SpaceStore): SpaceStore => ({
    ...inner,
    page: (request) => {
      pages++;
      return inner.page(request);
    },
  });
  const holdfast = new Holdfast({ ...store, space: (id) => counted(store.space(id)) }, "default");
  const conversation = await holdfast.create();
  const bodies = [...turns()];
  for (let from = 0; from < bodies.length; from += 6_000)
    await conversation.append(bodies.slice(from, from + 6_000));
  const [updates, pagesAt]: [object[], number[]] = [[], []];
  const wire: HostWire = new HostWire((line) => {
    const { params } = JSON.parse(new TextDecoder().decode(line)) as { params: { update: object } };
    updates.push(params.update);
    pagesAt.push(pages);
    onWrite(updates.length, wire);
  });
  const conversations = { isClosed: false };
  const history = new HistoryStream({ holdfast, wire, conversations }, conversation.id);
  return { conversation, history, wire, updates, pagesAt, pages: () => pages };
}

test("the first update is written when one page was read, and none is held for the end", async () => {
  const { conversation, history, updates, pagesAt, pages } = await openRig();
  const { headSeq } = await conversation.head();
  expect(await history.show()).toBe(headSeq);
  const read = pages();
  expect(read).toBe(Math.ceil((TURNS * NODES_A_TURN + 1) / 512));
  expect(pagesAt[0]).toBe(1);
  // A page is read, and what it holds is written before the next but one.
  for (let page = 2; page <= read; page++)
    expect(pagesAt.filter((at) => at < page).length).toBeGreaterThan((page - 2) * 300);
  expect(updates).toEqual([...replayOf(await conversation.branch())]);
  expect(updates).toHaveLength(TURNS * NODES_A_TURN);
});

test("each call is shown with its own result, also where ids are used again", async () => {
  const { history, updates } = await openRig();
  await history.show();
  const tools = updates.filter((update) => "toolCallId" in update);
  const outputs = tools.map(
    (tool) => (tool as unknown as { content: [{ content: { text: string } }] }).content[0].content.text,
  );
  expect(outputs).toEqual(Array.from({ length: TURNS }, (_, n) => `output ${n}`));
});

test("a host that does not read is waited for: no further page is read, and nothing is lost", async () => {
  const [stopAt, total] = [700, TURNS * NODES_A_TURN];
  const { history, wire, updates, pages } = await openRig((count, held) => {
    if (count === stopAt) held.pause(true);
  });
  const shown = history.show();
  await eventually("the point where it stops", () => updates.length === stopAt);
  const read = pages();
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect([updates.length, pages()]).toEqual([stopAt, read]);
  expect(read).toBeLessThan(4);
  wire.pause(false);
  await shown;
  expect(updates).toHaveLength(total);
});

test("what came since is shown once, whether the branch went on or another was taken", async () => {
  const { conversation, history, updates, pages } = await openRig();
  await history.show();
  const texts = (from: number): readonly string[] =>
    updates.slice(from).map((update) => (update as { content: { text: string } }).content.text);
  let from = updates.length;
  await conversation.append(user("one more"));
  let read = pages();
  await history.show();
  expect(texts(from)).toEqual(["one more"]);
  expect(pages() - read).toBeLessThanOrEqual(4);
  from = updates.length;
  await conversation.append({ ...user("another way"), parentId: "p1500" });
  read = pages();
  await history.show();
  expect(texts(from)).toEqual(["another way"]);
  expect(pages() - read).toBeLessThanOrEqual(2 * 16);
  from = updates.length;
  await conversation.goTo("p1500");
  await history.show();
  expect(texts(from)).toEqual([]);
});

test("a result that is far from its call is shown when it comes", async () => {
  const conversation = await new Holdfast(inMemoryStore(), "default").create();
  await conversation.append([
    assistant("", undefined, "far", "never"),
    ...Array.from({ length: 300 }, (_, n) => user(`word ${n}`)),
    result("far", "here it is"),
    user("last"),
  ]);
  const branch = await conversation.branch();
  const replay = new Replay();
  const updates: object[] = [];
  for (let from = 0; from < branch.length; from += 50)
    updates.push(...replay.add(branch.slice(from, from + 50)));
  updates.push(...replay.end());
  const unknown = { _meta: { holdfast: { outcome: "unknown" } } };
  expect(updates.slice(0, 2)).toMatchObject([
    { sessionUpdate: "tool_call", toolCallId: "far", status: "failed", ...unknown },
    { sessionUpdate: "tool_call", toolCallId: "never", status: "failed", ...unknown },
  ]);
  expect(updates.slice(-2)).toMatchObject([
    { sessionUpdate: "tool_call_update", toolCallId: "far", status: "completed" },
    { sessionUpdate: "user_message_chunk" },
  ]);
  expect(updates).toHaveLength(2 + 300 + 2);
});
