/** What another session, or another agent, is told of the conversation it goes on with. */
import { expect, test } from "vitest";
import type { HostEvent } from "../../src/conversation/sending/host.ts";
import { CUT_OFF_LABEL } from "../../src/log/sending/preamble.ts";
import { aRig, isText } from "./rig.ts";

const TWO = [{ agent: "claude" }, { agent: "codex" }];

test("the next agent is told how far a reply came that was cut off", async () => {
  const rig = await aRig({ agents: TWO });
  const isTwelfth = (event: HostEvent): boolean =>
    event.type === "update" && event.event.type === "text" && event.event.text.startsWith("Step 12");
  await rig.dieDuring("work 20", isTwelfth);
  await rig.send("go on", { agent: "codex" });
  const told = rig.transcripts().at(-1) ?? "";
  expect(told).toContain(`${CUT_OFF_LABEL}\n> Step 1 of 20 done.`);
});

test("a stopped reply is told to the next agent as one that was stopped", async () => {
  const rig = await aRig({ agents: TWO });
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const sent = rig.send("work 20");
  await stopped;
  expect(await sent).toMatchObject({ class: "cancelled" });
  await rig.send("go on", { agent: "codex" });
  expect(rig.transcripts().at(-1)).toContain(CUT_OFF_LABEL);
});
