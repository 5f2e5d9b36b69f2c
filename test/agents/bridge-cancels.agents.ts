/** A person stops a prompt in the moment it was sent: no tool runs after the answer, and every one that ran is known. */
import { setTimeout as pause } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { bridgeRig } from "./bridge-rig.ts";
import { at, textAt } from "./json.ts";

const CANCELS = 50;
const CANCEL_MS_MAX = 10;

describe.each(["codex", "claude"] as const)("%s behind the bridge", (agent) => {
  test(`of ${CANCELS} cancels within ${CANCEL_MS_MAX} ms none is lost`, async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const host = await rig.open();
    await host.prompt("remember color=blue");
    const answered: string[] = [];
    const late: string[] = [];
    for (let count = 0; count < CANCELS; count++) {
      const prompt = host.begin(`run: echo ran-${count}- >> out.txt; echo there`);
      const delayMs = count % (CANCEL_MS_MAX + 1);
      if (delayMs > 0) await pause(delayMs);
      host.host.notify("session/cancel", { sessionId: host.sessionId });
      const { result } = await host.host.answered(prompt, 20_000);
      answered.push(textAt(result, "stopReason"));
      if (!rig.linesOf("out.txt").includes(`ran-${count}-`)) late.push(`ran-${count}-`);
    }
    expect(answered).toEqual(answered.map(() => "cancelled"));
    // What was going to run has had all the time of the later ones.
    expect((await host.prompt("what is color?")).said).toContain("color is blue");
    const ran = rig.linesOf("out.txt");
    expect(late.filter((line) => ran.includes(line))).toEqual([]);
    const intents = (await rig.log(host.sessionId)).filter((entry) => at(entry, "type") === "tool_intent");
    for (const line of ran) expect(JSON.stringify(intents)).toContain(line);
  });
});
