import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { DailyUsage } from "#log/projections/daily-usage";
import { usageOf } from "#log/projections/summary-of";
import type { Entry, EntryBody } from "#log/entry";
import { decodeEntry } from "#log/codec";
import { inMemoryStore } from "#stores/in-memory/index";

const spent = (id: string, time: string, inputTokens: number): EntryBody => ({
  type: "message",
  id,
  time,
  message: { role: "assistant", content: [{ type: "text", text: id }], model: "m", usage: { inputTokens } },
});

test("what was spent is told by its day, what an import inherited is not, and the sum is that of the totals", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const forkedFrom = { conversation: "source", entry: "old", head: 9 };
  const conversation = await holdfast.createFrom("c", [
    { type: "conversation", forkedFrom },
    spent("old", "2026-01-01T10:00:00.000Z", 100),
    spent("one", "2026-01-01T23:59:59.999Z", 10),
    spent("two", "2026-01-02T00:00:00.000Z", 1),
  ]);
  const entries: Entry[] = [];
  for await (const stored of conversation.log()) entries.push(decodeEntry(stored));
  const days = new DailyUsage();
  for (const entry of entries) days.add(entry);
  expect(days.result()).toMatchObject([
    { day: "2026-01-01", model: "m", usage: { inputTokens: 10 } },
    { day: "2026-01-02", model: "m", usage: { inputTokens: 1 } },
  ]);
  expect(usageOf(entries).inputTokens).toBe(11);
});
