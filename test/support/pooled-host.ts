/**
 * A host with an agent loop and what it holds of conversations: `send WORDS` on its input is a prompt, and the answer is the words
 * of every prompt it was given. One with "hold" in it is answered when the next line comes.
 */
import { createInterface } from "node:readline";
import { Agent } from "../../src/agent/index.ts";
import { isLogError } from "../../src/log/errors.ts";
import { openHoldfast } from "../../src/open.ts";
import { ScriptedModel } from "../agent/scripted-model.ts";

const [, , store = "", id = "", address = ""] = process.argv;
await using holdfast = await openHoldfast({ store });
const say = (line: unknown): void => void process.stdout.write(`${JSON.stringify(line)}\n`);
const held: { release: (() => void) | null } = { release: null };
const model = new ScriptedModel(
  Array.from({ length: 100 }, () => ({ prompt }) => {
    const texts = prompt.flatMap(({ role, content }) =>
      role === "user" && typeof content !== "string"
        ? content.flatMap((part) => (part.type === "text" ? [part.text] : []))
        : [],
    );
    const said = texts.filter((text) => text.startsWith("say "));
    const text = said.join("|");
    if (said.at(-1)?.includes("hold") !== true) return { text };
    const until = Promise.withResolvers<void>();
    held.release = until.resolve;
    say({ holding: true });
    return { text, until: until.promise };
  }),
);
// Whoever holds the lease is taken for dead, so that hosts overtake each other.
await using agent = new Agent(holdfast, {
  model,
  instructions: false,
  isDead: async () => true,
  pool: { mode: "live", address },
});
say({ ready: true });
const work = async (line: string): Promise<void> => {
  try {
    await agent.pool.with(id, async (chat) => {
      const before = chat.restored.messages.length;
      const { text, outcome } = await chat.send(line);
      say({ text, outcome, before });
    });
  } catch (error) {
    say({ code: isLogError(error) ? error.code : String(error) });
  }
};
for await (const line of createInterface({ input: process.stdin })) {
  if (held.release === null) void work(line);
  else held.release();
  if (line === "go") held.release = null;
}
