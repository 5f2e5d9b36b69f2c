import { expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { user } from "#log/message";
import { serve } from "../served.ts";

const START = { type: "turn_start", turn: "t" } as const;
const ended = (outcome: string, more: object = {}): object[] => [
  START,
  { type: "turn_end", turn: "t", outcome, ...more },
];
const CALL = {
  type: "message",
  message: {
    role: "assistant",
    content: [{ type: "toolCall", id: "c", name: "bash", input: {} }],
    model: "x/dear",
    usage: { inputTokens: 1, outputTokens: 1, costMicros: 2_000_000 },
  },
} as const;

/** How conversations stand, in lists and by filters, on a store of this kind. */
export function listCases(kind: string, open: () => Promise<Holdfast>): void {
  test(`${kind}: a list says how each conversation stands, and is narrowed by it, by model, cost and rollovers`, async () => {
    await using served = await serve({ holdfast: await open() });
    const { holdfast } = served;
    const made: Readonly<Record<string, readonly object[]>> = {
      quiet: [user("hi")],
      failed: ended("failed"),
      stopped: ended("interrupted"),
      limited: ended("failed", { resetAt: "2999-01-01T00:00:00.000Z" }),
      over: ended("failed", { resetAt: "2000-01-01T00:00:00.000Z" }),
      cut: [START],
      asks: [START, { type: "permission", request: "r", call: "c", data: { tool: "bash" } }],
      dear: [CALL],
    };
    for (const [id, entries] of Object.entries(made))
      await (await holdfast.create({ id })).append(entries as never);
    const busy = await holdfast.create({ id: "busy" });
    await using owner = await busy.own({ writer: "elsewhere", leaseMs: 600_000 });
    await owner.append([START]);
    const client = served.client(await served.token("read"));
    const { conversations } = await client.listConversations();
    expect(Object.fromEntries(conversations.map(({ conversation, state }) => [conversation, state]))).toEqual(
      {
        quiet: "quiet",
        failed: "failed",
        stopped: "stopped",
        limited: "limited",
        over: "limit_over",
        cut: "cut_off",
        asks: "waiting",
        dear: "quiet",
        busy: "working",
      },
    );
    const ids = async (query: object): Promise<readonly string[]> =>
      (await client.listConversations(query)).conversations.map((one) => one.conversation).toSorted();
    expect(await ids({ status: "working" })).toEqual(["busy"]);
    expect(await ids({ status: "waiting" })).toEqual(["asks"]);
    expect(await ids({ status: "unclean" })).toEqual(["cut", "failed"]);
    expect(await ids({ status: "limited" })).toEqual(["limited", "over"]);
    expect(await ids({ model: "x/dear" })).toEqual(["dear"]);
    expect(await ids({ costMicros: 2_000_000 })).toEqual(["dear"]);
    expect(await ids({ costMicros: 2_000_001 })).toEqual([]);
    const walked: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<typeof client.listConversations>> = await client.listConversations({
        status: "unclean",
        limit: 1,
        ...(cursor === null ? {} : { cursor }),
      });
      walked.push(...page.conversations.map((one) => one.conversation));
      cursor = page.next;
    } while (cursor !== null);
    expect(walked.toSorted()).toEqual(["cut", "failed"]);
    const counts = async (...conversation: readonly string[]): Promise<readonly (number | null)[]> =>
      (await client.countIssues({ conversation })).counts.map(({ issues }) => issues);
    const listed = async (conversation: string): Promise<number> =>
      (await client.listIssues({ conversation })).issues.length;
    const some = ["quiet", "cut", "dear"] as const;
    expect(await counts(...some)).toEqual(await Promise.all(some.map(listed)));
    expect(await counts("dear", "nobody", "quiet")).toEqual([1, null, 0]);
    const dear = await holdfast.conversation("dear");
    await dear.append([
      {
        type: "message",
        message: { role: "toolResult", toolCallId: "c", content: [{ type: "text", text: "ok" }] },
      },
    ]);
    expect(await counts("dear")).toEqual([0]);
    expect((await client.health()).importBytes).toBeGreaterThan(0);
  });
}
