/**
 * Goal: pages of effects, put together, are the effects.
 * Method: fast-check makes up calls with and without intents, in parallel and one after the other, some without an end;
 * ids are not used twice. The log also grows while pages are read.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { Holdfast } from "#conversation/holdfast";
import type { Effect } from "#log/projections/effects";
import { inMemoryStore } from "#stores/in-memory/index";

interface Made {
  readonly intent: boolean;
  readonly together: number;
  readonly lateReply: boolean;
  readonly results: readonly boolean[];
  readonly late: boolean;
}

const made: fc.Arbitrary<Made> = fc.record({
  intent: fc.boolean(),
  together: fc.integer({ min: 1, max: 4 }),
  lateReply: fc.boolean(),
  results: fc.array(fc.boolean(), { minLength: 4, maxLength: 4 }),
  late: fc.boolean(),
});

function bodiesOf(all: readonly Made[]): readonly EntryBody[] {
  const bodies: EntryBody[] = [];
  const late: EntryBody[] = [];
  for (const [nth, { intent, together, lateReply, results, late: isLate }] of all.entries()) {
    const ids = Array.from({ length: together }, (_, at) => `c${nth}.${at}`);
    const content = ids.map((id) => ({ type: "toolCall", id, name: "look", input: {} }) as const);
    const reply: EntryBody = { type: "message", message: { role: "assistant", content } };
    const intents = intent ? ids.map((call): EntryBody => ({ type: "tool_intent", call, name: "look" })) : [];
    const ends = ids
      .filter((_, at) => results[at])
      .map((toolCallId): EntryBody => ({
        type: "message",
        message: { role: "toolResult", toolCallId, content: [] },
      }));
    bodies.push(...(lateReply ? [...intents, reply] : [reply, ...intents]));
    if (isLate) late.push(...ends);
    else bodies.push(...ends, ...late.splice(0));
    bodies.push({ type: "message", message: { role: "user", content: [{ type: "text", text: "on" }] } });
  }
  return [...bodies, ...late];
}

test("pages of effects, put together, are the effects", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(made, { maxLength: 12 }),
      fc.integer({ min: 1, max: 7 }),
      async (all, limit) => {
        const conversation = await new Holdfast(inMemoryStore(), "default").create();
        for (const body of bodiesOf(all)) await conversation.append([body]);
        const whole = await conversation.effects();
        const found: Effect[] = [];
        let cursor: string | undefined;
        do {
          const page = await conversation.effectsPage({
            limit,
            ...(cursor === undefined ? {} : { cursor }),
          });
          expect(page.effects.length).toBeLessThanOrEqual(limit);
          found.push(...page.effects);
          cursor = page.cursor ?? undefined;
          await conversation.append([
            {
              type: "message",
              message: {
                role: "assistant",
                content: [{ type: "toolCall", id: `new${found.length}`, name: "look", input: {} }],
              },
            },
          ]);
        } while (cursor !== undefined);
        expect(found).toEqual(whole);
      },
    ),
    { numRuns: 150 },
  );
});
