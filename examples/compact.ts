/* oxlint-disable no-console */
import { assistant, openHoldfast, user } from "../src/index.ts";
import { compactConversation, mustCompact, readContextTokens, type Summarise } from "../src/agent/index.ts";

await using holdfast = await openHoldfast({ store: "memory:" });
const chat = await holdfast.create({ title: "A long one" });
for (let n = 1; n <= 40; n++)
  await chat.append([user(`Question ${n}: ${"why ".repeat(100)}`), assistant(`Answer ${n}: it is so`)]);

/** Your model, however you call it: `system` and `messages` are all it is asked. */
const summarise: Summarise = async ({ messages }) => {
  const text = `## Goal\nTo understand why.\n## Facts to keep\nasked with ${messages.length} message`;
  const content = [{ type: "text", text }] as const;
  return {
    ending: null,
    answer: { content, brokenCalls: [], finish: "stop", usage: null, warnings: [] },
  };
};

const limits = { window: 8_000, reserve: 4_000, keep: 1_000 };
const used = await readContextTokens(chat);
if (mustCompact({ ...limits, used })) {
  const done = await compactConversation(chat, { ...limits, summarise, focus: "the reasons" });
  console.log(done.state, used, "->", await readContextTokens(chat));
}
