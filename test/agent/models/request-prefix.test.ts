import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { call, request, result, said, sent, thought, user, wire } from "../../support/context-messages.ts";
import { WIRE_PROVIDERS } from "../../support/wire-bodies.ts";
import { unmark, upToReminder } from "../../support/wire-prefix.ts";

const texts = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 });
const inputs = fc.oneof(
  fc.dictionary(fc.constantFrom("path", "2", "1", "__proto__", "é"), fc.jsonValue({ maxDepth: 2 }), {
    maxKeys: 3,
  }),
  fc.constantFrom("half {", "", 7),
) as fc.Arbitrary<Json>;
interface Step {
  readonly prompt: string;
  readonly words: string;
  readonly thinks: boolean;
  readonly calls: readonly {
    readonly id: string;
    readonly input: Json;
    readonly output: string;
    readonly failed: boolean;
  }[];
}
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.record({
    prompt: texts.map((text) => `p${text}`),
    words: fc.oneof(texts, fc.constant("")),
    thinks: fc.boolean(),
    calls: fc.array(
      fc.record({
        id: fc.constantFrom("c1", "c2", "", "a b|c"),
        input: inputs,
        output: texts.map((text) => `o${text}`),
        failed: fc.boolean(),
      }),
      { maxLength: 3 },
    ),
  }),
  { minLength: 1, maxLength: 5 },
);

/** Ends where a request is made: at a prompt, or at the results of an answer. */
function conversation(given: readonly Step[], provider: string): readonly (readonly ContextMessage[])[] {
  const made: ContextMessage[] = [];
  const requests: (readonly ContextMessage[])[] = [];
  for (const { prompt, words, thinks, calls } of given) {
    made.push(user(prompt));
    requests.push([...made]);
    const content: ContentBlock[] = thinks ? [thought(provider)] : [];
    content.push({ type: "text", text: words });
    for (const { id, input } of calls) content.push(call(id, input));
    made.push(said(content, wire(provider).asked.id));
    for (const { id, output, failed } of calls) made.push(result(id, output, failed));
    if (calls.length > 0) requests.push([...made]);
  }
  return requests;
}

test.each(WIRE_PROVIDERS)(
  "of %s: the same request gives the same bytes, and a longer one begins with those of the shorter",
  async (provider) => {
    await fc.assert(
      fc.asyncProperty(steps, fc.nat(), async (given, pick) => {
        const requests = conversation(given, provider);
        const former = requests[pick % requests.length] ?? [];
        const latter = requests.at(-1) ?? [];
        const short = await wire(provider).bodyOf(request(former, { reminder: "early" }));
        expect(await wire(provider).bodyOf(request(former, { reminder: "early" }))).toBe(short);
        const long = await wire(provider).bodyOf(request(latter, { reminder: "much later" }));
        expect(unmark(long).startsWith(upToReminder(short))).toBe(true);
        const newest = former.at(-1)?.content[0];
        expect(upToReminder(short)).toContain(
          newest?.type === "text" ? JSON.stringify(newest.text).slice(1, -1) : null,
        );
      }),
      { numRuns: 60 },
    );
  },
);

const MARKED = '"cache_control"';

test("no more than four cache marks go to Anthropic", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom("", "sys"), async (given, system) => {
      for (const messages of conversation(given, "anthropic")) {
        const body = await wire("anthropic").bodyOf(request(messages, { system }));
        const marks = body.split(MARKED).length - 1;
        expect([2, 3]).toContain(marks);
      }
    }),
    { numRuns: 30 },
  );
  expect(await sent("openai", [user("a")])).not.toContain("cache_control");
});

test("marks stand behind the system prompt, at the newest message and at the newest of the request before", async () => {
  const messages = [
    user("one"),
    said([call("1")]),
    result("1", "two"),
    said([{ type: "text", text: "three" }]),
    user("four"),
  ];
  const body = await sent("anthropic", messages);
  const marked = [...body.matchAll(/"(?:text|content)":"([^"]*)","cache_control"/g)].map((match) => match[1]);
  expect(new Set(marked)).toEqual(new Set(["You are a test.", "four", "two"]));
});
