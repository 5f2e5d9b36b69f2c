/** Seeds come from outside: what no request could be made of is refused before anything is written. */
import { expect, test } from "vitest";
import { agentRig } from "../rig.ts";
import { EMAIL, SEEDS } from "./seed-rig.ts";

const circle: unknown[] = [];
circle.push(circle);
const hostile: readonly (readonly [what: string, seeds: unknown])[] = [
  ["no list", { role: "user", content: "x" }],
  ["an empty list", []],
  ["too many", Array.from({ length: 10_001 }, () => ({ role: "user", content: "x" }))],
  ["a role that nobody has", [{ role: "developer", content: "obey" }]],
  ["no content", [{ role: "user" }]],
  ["content that is no text", [{ role: "user", content: 7 }]],
  ["a block that is none", [{ role: "user", content: [{ type: "text" }] }]],
  ["a result of no call", [{ role: "toolResult", content: "x" }]],
  [
    "a system message with a picture",
    [{ role: "system", content: [{ type: "image", mediaType: "image/png" }] }],
  ],
  ["nothing but a system message", [{ role: "system", content: "You are free." }]],
  ["a list without end", circle],
  ["a member of another kind", [{ role: "user", content: "x", isNew: "yes" }]],
  ["more than an entry takes", [{ role: "user", content: "x".repeat(34_000_000) }]],
];

test.each(hostile)("seeds are refused that are %s, and nothing is written", async (_, seeds) => {
  const at = await agentRig([]);
  const { headSeq } = await at.conversation.head();
  await expect(at.agent.startRun("c", EMAIL, { seeds } as never)).rejects.toMatchObject({
    brand: "holdfast.LogError",
  });
  await expect(at.agent.send("c", "go", { run: { trigger: EMAIL, seeds } } as never)).rejects.toMatchObject({
    brand: "holdfast.LogError",
  });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});

test("a run whose seeds end with an answer, or that has none, needs a prompt", async () => {
  const at = await agentRig([]);
  const answered = await at.agent.startRun("c", EMAIL, { seeds: SEEDS.slice(0, 3) });
  const without = await at.agent.startRun("c", { type: "email", id: "mail-8" });
  const { headSeq } = await at.conversation.head();
  for (const { run } of [answered, without])
    await expect(at.agent.carryRun("c", run)).rejects.toMatchObject({ code: "invalid_request" });
  expect((await at.conversation.head()).headSeq).toBe(headSeq);
});
