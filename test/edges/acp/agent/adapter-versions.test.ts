/** Agents of another time: one that sends no message ids answers like any other, and one that is too old is refused. */
import { expect, test } from "vitest";
import { Bridge, openBridge } from "../bridge.ts";

test("an agent that sends no message ids is asked once, and its answer is in the log", async () => {
  await using bridge = await openBridge({ like: "claude", release: "0.25.3" });
  const { host } = bridge;
  const id = await host.newSession();
  expect((await host.prompt(id, "remember color=blue")).text).toBe("Noted color=blue.");
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(bridge.agent.prompts()).toEqual(["remember color=blue", "what is color?"]);
  const ends = await bridge.entries(id, "turn_end");
  expect(ends.map((end) => [end["outcome"], end["class"]])).toEqual(
    [1, 2].map(() => ["completed", "completed"]),
  );
  expect((await bridge.context(id)).at(-1)).toBe("assistant: color is blue");
});

test("an agent that is too old says so instead of answering nothing", async () => {
  await using bridge = new Bridge({ like: "claude", release: "0.24.2" });
  const { error } = await bridge.host.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  expect(JSON.stringify(error)).toContain("0.24.2");
  expect(JSON.stringify(error)).toContain("0.25.0");
  expect(bridge.agent.calls()).toEqual(["initialize"]);
});
