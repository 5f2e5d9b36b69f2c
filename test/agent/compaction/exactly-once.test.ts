/**
 * Goal: however a conversation went and however often it was compacted, the log accepts every cut that is chosen, every message was
 * summary input or is kept, exactly once, and pairs stay whole. Method: random conversations, cut again and again as they grow.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { chooseCut } from "#agent/compaction/compact";
import { readContextWindow } from "#conversation/reading";
import type { EntryBody } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { compactionInput } from "#log/projections/compaction-input";
import { aConversation } from "../../support/a-log.ts";
import { spaceOf } from "#conversation/on-space";

const WORDS = "it was said that the work goes on and nothing of it may be lost ".repeat(20);

type Step =
  | { readonly do: "say" | "model" | "compact" }
  | { readonly do: "reply"; readonly calls: number }
  | { readonly do: "answer"; readonly which: number }
  | { readonly do: "hide"; readonly which: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom("say", "compact") }) },
  { weight: 1, arbitrary: fc.constant({ do: "model" } as const) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("reply"), calls: fc.nat(3) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("answer"), which: fc.nat(3) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("hide"), which: fc.nat(30) }) },
);

async function play(steps: readonly Step[], keep: number): Promise<number> {
  const conversation = await aConversation();
  const ids: string[] = [];
  const hiddenBeforeSummary = new Set<string>();
  const summarised: string[] = [];
  let open: string[] = [];
  let calls = 0;
  let hidAnything = false;
  let compactions = 0;
  const say = async (body: Extract<EntryBody, { type: "message" }>["message"]): Promise<void> => {
    const id = `m${ids.length}`;
    ids.push(id);
    await conversation.append({ type: "message", id, message: body });
  };
  const text: ContentBlock = { type: "text", text: WORDS };
  for (const now of steps) {
    if (now.do === "say") await say({ role: "user", content: [text] });
    else if (now.do === "model") await conversation.append({ type: "model_change", model: "m" });
    else if (now.do === "reply") {
      open = Array.from({ length: now.calls }, () => `c${calls++ % 5}`); // ids come again
      const blocks = open.map((id): ContentBlock => ({ type: "toolCall", id, name: "tool", input: {} }));
      await say({ role: "assistant", content: [text, ...blocks] });
    } else if (now.do === "answer") {
      const [call] = open.splice(now.which % Math.max(1, open.length), 1);
      if (call !== undefined) await say({ role: "toolResult", toolCallId: call, content: [text] });
    } else if (now.do === "hide") {
      const id = ids[now.which];
      if (id === undefined) continue;
      await conversation.hide(id);
      hidAnything = true;
      if (!summarised.includes(id)) hiddenBeforeSummary.add(id);
    } else {
      const window = await readContextWindow(spaceOf(conversation), conversation.id, null);
      const cut = chooseCut(window, keep);
      if (cut.state !== "cut") continue;
      const { entries } = compactionInput(window, cut.firstKept);
      const input = entries.filter((entry) => entry.type === "message").map((entry) => entry.id as string);
      const turn = cut.turnFrom === null ? null : input.indexOf(cut.turnFrom);
      expect(turn).not.toBe(-1);
      summarised.push(...input);
      await conversation.append({
        type: "compaction",
        summary: `S${compactions++}`,
        firstKeptEntryId: cut.firstKept,
      });
    }
  }
  const window = await readContextWindow(spaceOf(conversation), conversation.id, null);
  const kept = window.entries.flatMap((entry) => (entry.type === "message" ? [entry.id as string] : []));
  expect([...summarised, ...kept.toReversed()]).toEqual(ids);
  const { issues, messages } = await conversation.context();
  // A result whose call was hidden is left out of the context, compacted or not.
  const stray = issues.filter((issue) => issue.kind === "orphan_result" || issue.kind === "boundary_missing");
  if (!hidAnything) expect(stray).toEqual([]);
  for (const id of hiddenBeforeSummary)
    expect(messages.some((message) => message.entryId === id)).toBe(false);
  return compactions;
}

test("scenario 13: after any number of compactions every message is in a summary's input or kept, once", async () => {
  let compactions = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60, size: "max" }), fc.nat(2_500), async (steps, keep) => {
      compactions += await play(steps, keep);
    }),
    { numRuns: 150 },
  );
  expect(compactions).toBeGreaterThan(100);
});
