/** Goal: a run is gone on with elsewhere from any of its messages, with what was chosen to be other, and stays as it is. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { Rig } from "#store/contract/rig";
import type { NamedSubject } from "../support/subjects.ts";

const text = (words: string) => [{ type: "text", text: words }] as const;

async function thread(rig: Rig): Promise<{ readonly holdfast: Holdfast; readonly chat: Conversation }> {
  const holdfast = new Holdfast(await rig.open(), "default", rig.idsAndTime);
  const chat = await holdfast.create({ id: "thread" });
  await chat.append([
    { type: "message", id: "earlier", message: { role: "user", content: text("of no run") } },
    { type: "seed", id: "seed", run: "r", messages: [{ role: "user", content: "An email" }] },
    {
      type: "run_start",
      run: "r",
      trigger: "email",
      mailbox: "billing",
      seed: "seed",
      seedCount: 1,
      model: "p/one",
      window: 1_000,
      tools: ["read", "write"],
      policy: { ask: true },
      promptPatch: { environment: null, system: "Be brief." },
    },
    { type: "message", id: "prompt", message: { role: "user", content: text("Is it paid?") } },
    { type: "turn_start", turn: "t", prompt: "prompt", run: "r" },
    { type: "message", id: "answer", message: { role: "assistant", model: "p/one", content: text("Yes.") } },
    { type: "turn_end", turn: "t", outcome: "completed" },
    { type: "run_end", run: "r", status: "completed" },
    { type: "message", id: "later", message: { role: "user", content: text("of no run either") } },
  ]);
  return { holdfast, chat };
}

async function sent(holdfast: Holdfast, run: string): Promise<readonly unknown[]> {
  const { context } = await holdfast.hydrate(run);
  return context.messages.map(({ content }) => (content[0] as { readonly text?: string } | undefined)?.text);
}

export function forkRunCases(named: NamedSubject): void {
  test("shares the seeds and what was said so far, and says what is other", async () => {
    using subject = named.make();
    await using rig = new Rig(subject);
    const { holdfast, chat } = await thread(rig);
    const before = await chat.head();
    const { conversation: fork, run } = await holdfast.forkRun("r", {
      at: "prompt",
      id: "fork",
      model: "p/two",
      tools: ["read"],
      promptPatch: { system: "Be long." },
    });
    expect(fork.id).toBe("fork");
    expect(await holdfast.run(run)).toMatchObject({
      conversation: "fork",
      trigger: { type: "fork", id: "r" },
      mailbox: "billing",
      model: "p/two",
      window: null,
      tools: ["read"],
      policy: { ask: true },
      promptPatch: { environment: null, system: "Be long." },
      seed: "seed",
      seedCount: 1,
      continues: "r",
      status: "running",
      usage: { inputTokens: 0, costMicros: 0 },
    });
    expect(await fork.facts(["seed"])).toEqual([]);
    expect((await fork.settings()).model).toBe("p/two");
    expect(await sent(holdfast, run)).toEqual(["An email", "Is it paid?"]);
    const whole = await holdfast.forkRun("r");
    expect(await sent(holdfast, whole.run)).toEqual(["An email", "Is it paid?", "Yes."]);
    expect(await holdfast.run(whole.run)).toMatchObject({
      model: "p/one",
      window: 1_000,
      tools: ["read", "write"],
    });
    const bare = await holdfast.forkRun("r", { at: "seed" });
    expect(await sent(holdfast, bare.run)).toEqual(["An email"]);
    // A fork of what was begun in a fork still shares them.
    const again = await holdfast.forkRun(run);
    expect(await sent(holdfast, again.run)).toEqual(["An email", "Is it paid?"]);
    const inherited = await holdfast.forkRun("r", { conversation: "fork" });
    expect(await sent(holdfast, inherited.run)).toEqual(["An email", "Is it paid?"]);
    expect(await chat.head()).toEqual(before);
  });

  test("is made once under a key, and never from elsewhere than the run", async () => {
    using subject = named.make();
    await using rig = new Rig(subject);
    const { holdfast } = await thread(rig);
    const [one, two] = [
      await holdfast.forkRun("r", { key: "k", model: "p/two" }),
      await holdfast.forkRun("r", { key: "k", model: "p/two" }),
    ];
    expect([two.conversation.id, two.run]).toEqual([one.conversation.id, one.run]);
    expect(await one.conversation.runs()).toHaveLength(1);
    for (const at of ["earlier", "later"])
      await expect(holdfast.forkRun("r", { at, id: "x" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(holdfast.forkRun("r", { at: "nowhere" })).rejects.toMatchObject({ code: "entry_not_found" });
    await expect(holdfast.forkRun("gone")).rejects.toMatchObject({ code: "run_not_found" });
    await expect(holdfast.conversation("x")).rejects.toMatchObject({ code: "conversation_not_found" });
  });
}
