/** A change of agent in a long conversation: the next one still knows what was said first. */
import { expect, test } from "vitest";
import { bridgeRig } from "./bridge-rig.ts";
import { recalls } from "./bridge-story.ts";

test.each([40, 120])("codex takes over from claude after %i turns and knows the first", async (turns) => {
  await using rig = await bridgeRig({ agents: ["claude", "codex"] });
  const host = await rig.open();
  await host.prompt("remember color=blue");
  for (let turn = 1; turn < turns; turn++) await host.prompt(`remember k${turn}=v${turn}`);
  expect((await host.prompt("/agent codex")).said).toContain(`all ${2 * turns} messages`);
  await recalls(host, rig.models.codex, "codex");
  expect(rig.models.codex.requests().at(-1)?.said.join("\n")).toContain("k1=v1");
});
