/** A loop in a conversation that an agent of another kind carries, too. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { user } from "#log/message";
import { Runtime } from "#upstream/runtime";
import { simUpstream, SimWorld } from "#testing/index";
import { identityText } from "#turn/effects/process-group";
import { machineName, startOf } from "#turn/running-process";
import { expect, test } from "vitest";
import { agentRig, counter, said } from "../rig.ts";

test("a call that an agent of another kind was at when it died is not run, and the model is told that nobody knows", async () => {
  const act = counter("act");
  const at = await agentRig([{ text: "I will check." }], { tools: [act] });
  const upstream = "s1";
  await at.conversation.append([
    { type: "message", id: "p1", message: { role: "user", content: [{ type: "text", text: "go" }] } },
    { type: "turn_start", turn: "t1", prompt: "p1" },
    { type: "upstream_link", upstream, agent: "claude", reason: "first" },
    { type: "attempt", turn: "t1", upstream, fidelity: "native", process: "1" },
    { type: "tool_intent", turn: "t1", call: "1", name: "act", input: {}, replay: "never" },
    {
      type: "message",
      id: "a1",
      message: {
        role: "assistant",
        content: [{ type: "toolCall", id: "1", name: "act", input: {} }],
        stopReason: "interrupted",
      },
    },
    { type: "turn_end", turn: "t1", outcome: "interrupted", class: "crashed", upstream, node: "a1" },
  ]);
  expect(await at.agent.continue("c")).toMatchObject({ outcome: "completed", text: "I will check." });
  expect(act.runs).toEqual([]);
  expect((await said(at.conversation)).join("\n")).not.toContain("act 1");
  expect(await at.conversation.effects()).toMatchObject([{ name: "act", state: "unknown" }]);
});

test.each(["send", "continue"] as const)(
  "an agent of another kind that may be at work still is ended before the loop goes on: %s",
  async (verb) => {
    const left = spawn("sleep", ["600"], { detached: true, stdio: "ignore" });
    const ended = once(left, "exit");
    const pid = left.pid ?? 0;
    const [start, machine] = [(await startOf(pid)) ?? "", await machineName()];
    const at = await agentRig([{ text: "mine" }]);
    await at.conversation.append([
      { ...user("go"), id: "prompt" },
      { type: "turn_start", turn: "t", prompt: "prompt" },
      { type: "upstream_link", upstream: "u", agent: "other", reason: "first" },
      {
        type: "attempt",
        turn: "t",
        upstream: "u",
        process: identityText({ pid, start, machine, token: "left" }),
      },
    ]);
    await (verb === "send" ? at.agent.send("c", "and now?") : at.agent.continue("c"));
    expect((await ended)[1]).toBe("SIGTERM");
  },
);

test("neither takes the other's word for a model: an agent is not told of ours and does not answer by it, nor we by theirs", async () => {
  const at = await agentRig([{ text: "one" }, { text: "two" }]);
  const world = new SimWorld();
  const theirs = simUpstream(world, { agent: "claude" });
  await using runtime = new Runtime(at.holdfast, { upstreams: [theirs], clock: world.clock });
  const models = async (): Promise<readonly unknown[]> =>
    (await at.conversation.branch()).flatMap((entry) =>
      entry.type === "message" && entry.message.role === "assistant" ? [entry.message.model] : [],
    );
  await at.agent.send("c", "first");
  expect(await runtime.send("c", "remember a=1")).toMatchObject({ outcome: "completed" });
  expect(await models()).toEqual(["scripted/one", undefined]);
  await at.agent.send("c", "second");
  await runtime.note("c", [{ type: "model_change", model: "vendor/opus", provider: "claude" }]);
  expect((await at.agent.restore("c")).missing).toEqual([]);
  await at.agent.send("c", "third");
  await runtime.note("c", [{ type: "model_change", model: "opus", provider: "claude" }]);
  await runtime.send("c", "remember b=2");
  expect(await models()).toEqual(["scripted/one", undefined, "scripted/one", "scripted/one", "opus"]);
  expect(theirs.requests.flatMap(({ settings }) => settings?.model ?? [])).not.toContain("scripted/one");
});
