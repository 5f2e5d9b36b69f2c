import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { Holdfast } from "#conversation/holdfast";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import type { Entry } from "#log/entry";
import { Metrics } from "#telemetry/index";
import type { Tool } from "#turn/effects/tool";
import { ScriptedModel } from "../../../agent/scripted-model.ts";
import { serve } from "../served.ts";

const last = async (entries: AsyncIterable<Entry>): Promise<Entry | undefined> =>
  (await Array.fromAsync(entries)).at(-1);

/** Turns and what else a server says of itself, each route once and to its end, on one kind of store. */
export function turnCases(kind: string, open: () => Promise<Holdfast>): void {
  test(`${kind}: a turn is begun, asked about, steered, cancelled, gone on with and edited, and told by every stream`, async () => {
    const [never, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const tool: Tool = { name: "post", description: "Posts a letter.", run: async () => "posted" };
    const model = new ScriptedModel([
      { calls: [{ id: "c1", name: "post", input: {} }] },
      { text: "On its way" },
      { text: "Begun", until: never.promise },
      { text: "Gone on with", until: gate.promise },
      { text: "Edited" },
    ]);
    const agent = (holdfast: Holdfast): Agent =>
      new Agent(holdfast, { model, tools: [tool], instructions: false, permission: () => "ask" });
    await using served = await serve({ holdfast: await open(), agents: { loop: { open: agent } } });
    const client = served.client(await served.token("write"), "patient");
    const { conversation } = await client.createConversation({ id: "t" });
    const turn = await client.send({ conversation, content: "Post it" }, { key: "k1" });
    for await (const entry of client.turnEvents(turn)) {
      if (entry.type !== "permission") continue;
      const { asked } = await client.listWaiting({ conversation });
      expect(asked).toMatchObject([{ request: entry.request, tool: "post" }]);
      await client.answerRequest({ conversation, request: entry.request ?? "", outcome: "allowed" });
    }
    expect((await client.listEffects({ conversation })).effects).toMatchObject([{ state: "done" }]);
    const second = await client.send({ conversation, content: "And now?" }, { key: "k2" });
    for await (const entry of client.turnEvents(second)) if (entry.type === "attempt") break;
    // Once more while it runs: the same turn, from its beginning, as soon as it is over.
    const joined = client.send({ conversation, content: "And now?" }, { key: "k2" });
    const steer = { conversation, content: "Faster", when: "run" as const };
    for (const _ of [1, 2])
      expect(await client.steer(steer, { key: "s" })).toMatchObject({ conversation, steer: "s" });
    expect((await client.listWaiting({ conversation })).queue).toHaveLength(1);
    expect(await client.cancel({ conversation }, { key: "stop" })).toMatchObject({ cancelled: true });
    expect(await last(client.turnEvents(second))).toMatchObject({ outcome: "interrupted" });
    expect(await joined).toMatchObject({ turn: second.turn, repeated: true, after: expect.any(Number) });
    const from = (await joined).after;
    expect((await client.listEntries({ conversation, after: from, limit: 1 })).entries[0]?.id).toBe(
      second.prompt,
    );
    const third = await client.continueTurn({ conversation }, { key: "k3" });
    // Late, and about the turn before: this one goes on.
    expect(await client.cancel({ conversation }, { key: "stop" })).toMatchObject({ cancelled: true });
    gate.resolve();
    expect(await last(client.turnEvents(third))).toMatchObject({ type: "turn_end", outcome: "completed" });
    const edit = { conversation, entry: second.prompt, content: "And then?" };
    const edited = await client.edit(edit, { key: "k4" });
    expect(await last(client.turnEvents(edited))).toMatchObject({ outcome: "completed" });
    expect(await client.edit(edit, { key: "k4" })).toMatchObject({ turn: edited.turn, repeated: true });
    // Both streams tell the whole of it, as it is in the log.
    const { entries, headSeq } = await client.listEntries({ conversation, limit: 500 });
    const told: Entry[] = [];
    for await (const entry of client.tail({ conversation })) if (told.push(entry) === headSeq) break;
    expect(told).toEqual(entries);
    const watched: Entry[] = [];
    for await (const { entry } of client.watch({ watch: [`${conversation}@0`] }))
      if (watched.push(entry) === headSeq) break;
    expect(watched).toEqual(entries);
  });

  test(`${kind}: a prompt that nothing answered is sent once more; agents, figures, health and the audit log are told`, async () => {
    const metrics = new Metrics();
    const source = simulatedSource(1_000);
    await using served = await serve({ holdfast: await open(), agents: { simulated: source }, metrics });
    const client = served.client(await served.token("admin"), "patient");
    expect((await client.listAgents()).agents.map(({ agent }) => agent)).toEqual(["simulated"]);
    const { conversation } = await client.createConversation({ id: "s" });
    await client.strikeAgent({ agent: "simulated", kind: "crash" });
    expect((await client.listTroubles({ agent: "simulated" })).waiting).toHaveLength(1);
    expect((await client.callOffTroubles({ agent: "simulated" })).calledOff).toHaveLength(1);
    await client.strikeAgent({ agent: "simulated", kind: "auth" });
    const failed = await client.send({ conversation, content: "remember x=17" });
    expect(await last(client.turnEvents(failed))).toMatchObject({ outcome: "failed", class: "auth" });
    const again = await client.retry({ conversation }, { key: "r" });
    expect(await last(client.turnEvents(again))).toMatchObject({ type: "turn_end", outcome: "completed" });
    expect(await client.retry({ conversation }, { key: "r" })).toMatchObject({ turn: again.turn });
    const { messages } = await client.getContext({ conversation });
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(1);
    expect(await client.health()).toMatchObject({ ok: true, rights: "admin" });
    expect(await client.openApi()).toMatchObject({ openapi: "3.1.0" });
    expect(new TextDecoder().decode(await client.getMetrics())).toContain("# TYPE");
    const { lines } = await client.listAudit();
    expect(lines.map(({ operation }) => operation)).toEqual(
      expect.arrayContaining(["createConversation", "strikeAgent", "send", "retry"]),
    );
  });
}
