/** An unknown price is not a price of 0: totals say how many answers are in no cost. */
import { expect, test } from "vitest";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import type { Usage } from "#log/message";
import { DailyUsage } from "#log/projections/daily-usage";
import { isSameRun, type LastRun, readStoredRun } from "#log/runs/run-count";
import type { Json } from "#log/json/json-text";
import { readStoredSummary, storeSummary, type StoredSummary } from "#log/summary";
import { aConversation, user } from "../../support/a-log.ts";

function spent(model: string, usage: Usage): EntryBody {
  return { type: "message", message: { role: "assistant", content: [], model, usage } };
}

test("a cost that is unknown is null, what is known of it stays, and a known price of 0 is 0", async () => {
  const conversation = await aConversation(
    user("q"),
    spent("unheard-of", { inputTokens: 5 }),
    spent("unheard-of", { outputTokens: 2 }),
  );
  expect(await conversation.usage()).toMatchObject({ inputTokens: 5, costMicros: null, unpricedAnswers: 2 });
  await conversation.append([spent("free", { inputTokens: 1, costMicros: 0 }), spent("free", {})]);
  await conversation.append([
    spent("dear", { inputTokens: 1, costMicros: 7 }),
    spent("dear", { inputTokens: 1 }),
  ]);
  expect(await conversation.usage()).toMatchObject({
    costMicros: 7,
    unpricedAnswers: 3,
    byModel: {
      "unheard-of": { costMicros: null, unpricedAnswers: 2 },
      free: { costMicros: 0, unpricedAnswers: 0 },
      dear: { costMicros: 7, unpricedAnswers: 1 },
    },
  });
});

test("days and runs count the answers without a known price, as the totals do", async () => {
  const conversation = await aConversation(
    user("q", "q"),
    { type: "run_start", run: "r", trigger: "chat" },
    { type: "turn_start", turn: "t", prompt: "q", run: "r" },
    spent("m", { inputTokens: 5 }),
    spent("m", { inputTokens: 5, costMicros: 3 }),
    { type: "turn_end", turn: "t", outcome: "completed" },
    { type: "run_end", run: "r", status: "completed" },
  );
  const [run] = await conversation.runs();
  expect(run?.usage).toMatchObject({ costMicros: 3, unpricedAnswers: 1 });
  const days = new DailyUsage();
  for await (const stored of conversation.log()) days.add(decodeEntry(stored));
  expect(days.result()).toMatchObject([{ model: "m", usage: { costMicros: 3, unpricedAnswers: 1 } }]);
});

test("a summary is read as it was written down, and one of an older program as far as it says", async () => {
  const conversation = await aConversation(
    spent("unheard-of", { inputTokens: 5 }),
    spent("unheard-of", { inputTokens: 5 }),
    spent("free", { inputTokens: 1, costMicros: 0 }),
  );
  const { summary } = await conversation.head();
  const text = JSON.stringify(summary && storeSummary(summary));
  expect(readStoredSummary(JSON.parse(text) as StoredSummary)).toEqual(summary);
  const older: StoredSummary = {
    usage: {
      inputTokens: 9,
      costMicros: 4,
      byModel: { m: { inputTokens: 4, costMicros: 4 }, n: { inputTokens: 5 } },
    },
  };
  expect(readStoredSummary(older).usage).toMatchObject({
    inputTokens: 9,
    costMicros: 4,
    unpricedAnswers: 1,
    byModel: { m: { costMicros: 4, unpricedAnswers: 0 }, n: { costMicros: null, unpricedAnswers: 1 } },
  });
});

test("a run that an older program wrote down is the run that the log gives, and is gone on with", () => {
  const usage = { inputTokens: 5, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 };
  const run = (of: object): LastRun =>
    ({
      run: "r",
      trigger: "chat",
      mailbox: null,
      status: "completed",
      startedAt: "s",
      endedAt: "e",
      counted: { startSeq: 1, endSeq: 2, steps: 1, prompts: 1, prompt: null, usage: { ...usage, ...of } },
    }) as unknown as LastRun;
  const older = run({ costMicros: 0 });
  expect(isSameRun(older as unknown as Json, run({ costMicros: null, unpricedAnswers: 1 }))).toBe(true);
  expect(isSameRun(older as unknown as Json, run({ costMicros: 4, unpricedAnswers: 0 }))).toBe(false);
  expect(readStoredRun(older).counted?.usage).toMatchObject({ costMicros: 0, unpricedAnswers: 0 });
});
