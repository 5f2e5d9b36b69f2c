/** A host that is told to stop lets its turns end where there is time, and begins nothing meanwhile. */
import { expect, test } from "vitest";
import { agentRig } from "../agent/rig.ts";

test("a turn that ends in time is completed, whoever asks meanwhile is told busy, and no lease is left", async () => {
  const gate = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const answer = { text: "done", until: gate.promise };
  const at = await agentRig([() => (begun.resolve(), answer)]);
  await at.holdfast.create({ id: "d" });
  const turn = at.agent.send("c", "go");
  await begun.promise;
  const closed = at.agent.close({ graceMs: 60_000 });
  await expect(at.agent.send("d", "me too")).rejects.toMatchObject({ code: "busy" });
  gate.resolve();
  expect(await turn).toMatchObject({ outcome: "completed", text: "done" });
  await closed;
  expect((await at.conversation.head()).lease).toBeNull();
});

test("a turn that does not end in time is stopped and kept, and another host goes on with it at once", async () => {
  const begun = Promise.withResolvers<void>();
  const hold = (): { readonly until: Promise<never> } => {
    begun.resolve();
    return { until: new Promise(() => undefined) };
  };
  const at = await agentRig([hold], { isDead: async () => false });
  const turn = at.agent.send("c", "go");
  await begun.promise;
  await at.agent.close({ graceMs: 1 });
  expect(await turn).toMatchObject({ outcome: "interrupted" });
  const next = at.another([{ text: "done" }]);
  expect(await next.agent.continue("c")).toMatchObject({ outcome: "completed", text: "done" });
});
