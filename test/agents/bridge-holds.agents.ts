/** What a session of a real agent holds, and that it is neither asked nor told anything twice. */
import { expect, test } from "vitest";
import type { Talk } from "./agent-rig.ts";
import { bridgeRig } from "./bridge-rig.ts";
import type { FakeModel } from "./fake-model.ts";
import type { AgentName } from "./install.ts";
import { until } from "./until.ts";

const BOTH: readonly AgentName[] = ["claude", "codex"];

/** Stops a turn in the middle of its reply. */
async function stopped(host: Talk, model: FakeModel, words: string): Promise<void> {
  model.next("hang");
  const asked = model.requests().length;
  const since = host.host.lines.length;
  const id = host.begin(words);
  await until("the request", () => (model.requests().length > asked ? true : undefined));
  await until("some words", () => (host.host.updates(since).length > 0 ? true : undefined));
  host.host.notify("session/cancel", { sessionId: host.sessionId });
  await host.host.answered(id);
  model.release();
}

test.each(BOTH)(
  "%s: an answer whose words were read from the cache is asked and shown once, after a stop and when it comes again",
  async (name) => {
    await using rig = await bridgeRig({ agents: [name] });
    const { model } = rig;
    const host = await rig.open();
    model.say(() => ({ text: "Done." }));
    for (const words of ["first", "second"]) expect((await host.prompt(words)).said).toContain("Done.");
    await stopped(host, model, "third");
    const after = model.requests().length;
    const { said } = await host.prompt("a prompt after the stop that is longer than fifty characters");
    expect(said.split("Done.")).toHaveLength(2);
    expect(model.requests()).toHaveLength(after + 1);
    expect(await rig.chain(host.sessionId)).toHaveLength(1);
  },
);
