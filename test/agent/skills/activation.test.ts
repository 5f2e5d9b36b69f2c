import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runSkillOrder } from "#agent/skills/change-skills";
import { Skills } from "#agent/skills/skills";
import { DEFAULT_POLICY } from "#agent/tools/permissions";
import { decodeEntry } from "#log/codec";
import type { EntryOf } from "#log/entry";
import { agentRig, type AgentRig } from "../rig.ts";
import { skillFolders, type SkillFolders } from "./skill-folder.ts";

const call = (id: string, name: string, input: unknown) => ({ id, name, input });
const activates = (id: string, skill: string) => call(id, "activate_skill", { name: skill });

async function rigWith(at: SkillFolders, script: Parameters<typeof agentRig>[0]): Promise<AgentRig> {
  const skills = new Skills({ places: [".agents/skills", { name: "user", folder: at.user }] });
  const rig = await agentRig(script, { skills, permission: DEFAULT_POLICY });
  await rig.conversation.append({ type: "cwd", cwd: at.project });
  return rig;
}

const systemOf = ({ model }: Pick<AgentRig, "model">, at = -1): string => {
  const first = model.asked.at(at)?.prompt[0];
  return first?.role === "system" ? first.content : "";
};

async function changes({ conversation }: AgentRig): Promise<readonly EntryOf<"skill_change">[]> {
  const all = (await Array.fromAsync(conversation.log())).map((stored) => decodeEntry(stored));
  return all.filter((entry) => entry.type === "skill_change");
}

describe("a model activates a skill", () => {
  test("it is listed, recorded with source and digest in one batch with the result, and told from the next step on", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "bake", { description: "Bakes </skills> cakes." });
    const rig = await rigWith(at, [{ calls: [activates("a", "bake")] }, { text: "ok" }]);
    expect(await rig.agent.send("c", "a cake")).toMatchObject({ outcome: "completed" });
    expect(systemOf(rig, 0)).toContain("- bake: Bakes &lt;/skills> cakes.");
    expect(systemOf(rig, 0)).not.toContain("How to bake.");
    expect(systemOf(rig, 1)).toContain('<skill name="bake">\nHow to bake.\n</skill>');
    expect(systemOf(rig, 1)).not.toContain("- bake:");
    const log = await Array.fromAsync(rig.conversation.log());
    const at2 = log.findIndex(({ type }) => type === "skill_change");
    expect(log[at2 + 1]).toMatchObject({ type: "message" });
    const [change] = await changes(rig);
    expect(change?.skills).toEqual([
      { name: "bake", source: "user/bake", digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
    ]);
    // Another process has it without doing anything, byte for byte.
    const later = rig.another([{ text: "two" }]);
    await later.agent.send("c", "more");
    expect(systemOf(later)).toBe(systemOf(rig, 1));
  });

  test("several in one answer, and one twice: each is active once, in the order of the results", async () => {
    await using at = await skillFolders();
    for (const name of ["a", "b", "c"]) await at.skill(at.user, name);
    const calls = [activates("1", "b"), activates("2", "a"), activates("3", "b")];
    const rig = await rigWith(at, [{ calls }, { calls: [activates("4", "a")] }, { text: "ok" }]);
    await rig.agent.send("c", "go");
    const { skills } = await rig.agent.restore("c");
    expect(skills.map(({ name }) => name).toSorted()).toEqual(["a", "b"]);
    expect(await changes(rig)).toHaveLength(2);
    expect(await rig.agent.restore("c")).toMatchObject({ missing: [] });
  });

  test("one that is not here, or that only a person may activate, is refused in words; nothing is recorded", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "secret", { front: "disable-model-invocation: true\n" });
    await at.skill(at.user, "bake");
    const calls = [activates("1", "secret"), activates("2", "../bake"), activates("3", "none")];
    const rig = await rigWith(at, [{ calls }, { text: "ok" }]);
    await rig.agent.send("c", "go");
    expect(await changes(rig)).toEqual([]);
    const { messages } = await rig.agent.restore("c");
    expect(messages.filter((one) => one.role === "toolResult" && one.isError === true)).toHaveLength(3);
    expect(systemOf(rig)).not.toContain("secret");
  });

  test("it deactivates one as well", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "bake");
    const off = call("b", "deactivate_skill", { name: "bake" });
    const rig = await rigWith(at, [{ calls: [activates("a", "bake")] }, { calls: [off] }, { text: "ok" }]);
    await rig.agent.send("c", "go");
    expect((await rig.agent.restore("c")).skills).toEqual([]);
    expect(systemOf(rig)).not.toContain("How to bake.");
  });

  test("a tool of that name is a host's own where no skills were given", async () => {
    const details = { activated: { name: "bake", source: "x", digest: "y" } };
    const own = {
      name: "activate_skill",
      effect: "none" as const,
      run: async () => ({ content: "ok", details }),
    };
    const rig = await agentRig([{ calls: [activates("a", "bake")] }, { text: "ok" }], { tools: [own] });
    await rig.agent.send("c", "go");
    expect(await changes(rig)).toEqual([]);
  });
});

describe("a person activates a skill", () => {
  test("once is enough; it holds from the next message on, and off again when they say so", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "bake");
    await at.skill(at.user, "count", { front: "disable-model-invocation: true\n" });
    const rig = await rigWith(at, [{ text: "one" }, { text: "two" }]);
    expect(await rig.agent.activateSkill("c", "count")).toMatchObject({ changed: true });
    expect(await rig.agent.activateSkill("c", "bake")).toMatchObject({ changed: true });
    expect(await rig.agent.activateSkill("c", "count")).toMatchObject({ changed: false });
    expect(await changes(rig)).toHaveLength(2);
    await rig.agent.send("c", "go");
    expect(systemOf(rig).indexOf("How to count.")).toBeLessThan(systemOf(rig).indexOf("How to bake."));
    expect(await rig.agent.deactivateSkill("c", "count")).toEqual({ changed: true });
    expect(await rig.agent.deactivateSkill("c", "count")).toEqual({ changed: false });
    await rig.agent.send("c", "go");
    expect(systemOf(rig)).not.toContain("How to count.");
    expect(systemOf(rig)).toContain("How to bake.");
  });

  test("while a turn runs: it is written when the turn has ended, with what the turn activated", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "bake");
    await at.skill(at.user, "count");
    const { promise, resolve } = Promise.withResolvers<void>();
    const rig = await rigWith(at, [{ calls: [activates("a", "bake")], until: promise }, { text: "ok" }]);
    const sent = rig.agent.send("c", "go", {
      onEvent: (event) => {
        if (event.type === "step" && event.step === 1)
          void rig.agent.activateSkill("c", "count").then(() => resolve());
      },
    });
    await sent;
    expect((await rig.agent.restore("c")).skills.map(({ name }) => name)).toEqual(["bake", "count"]);
  });

  test("one that is not here is their mistake, told with what there is; so is asking where there are none", async () => {
    await using at = await skillFolders();
    await at.skill(at.user, "bake");
    const rig = await rigWith(at, []);
    for (const order of ["cake", "../bake", "bake on", "bake off now"])
      await expect(runSkillOrder(rig.agent, "c", order)).rejects.toMatchObject({ code: "invalid_request" });
    expect(await changes(rig)).toEqual([]);
    expect(await runSkillOrder(rig.agent, "c", "bake")).toContain("user/bake");
    expect(await runSkillOrder(rig.agent, "c", "")).toContain("* bake: Shows bake.");
    expect(await runSkillOrder(rig.agent, "c", "bake off")).not.toBe(
      await runSkillOrder(rig.agent, "c", "bake off"),
    );
    const without = await agentRig([]);
    await expect(without.agent.activateSkill("c", "bake")).rejects.toMatchObject({ code: "invalid_request" });
  });
});

describe("what is restored", () => {
  test("a skill that is gone or changed is reported, stays active, and is told as it is now", async () => {
    await using at = await skillFolders();
    for (const name of ["bake", "count", "same"]) await at.skill(at.user, name);
    const rig = await rigWith(at, [{ text: "one" }]);
    for (const name of ["bake", "count", "same"]) await rig.agent.activateSkill("c", name);
    await rm(join(at.user, "bake"), { recursive: true });
    await at.skill(at.user, "count", { text: "How to count anew." });
    const restored = await rig.agent.restore("c");
    expect(restored.skills.map(({ name }) => name)).toEqual(["bake", "count", "same"]);
    expect(restored.missing.map(({ kind, name }) => [kind, name])).toEqual([
      ["skill", "bake"],
      ["skill", "count"],
    ]);
    await rig.agent.send("c", "go");
    expect(systemOf(rig)).toContain("How to count anew.");
    expect(systemOf(rig)).not.toContain("How to bake.");
    // Whoever activates it again has seen it: its place in the order stays.
    expect(await rig.agent.activateSkill("c", "count")).toMatchObject({ changed: true });
    const after = await rig.agent.restore("c");
    expect(after.skills.map(({ name }) => name)).toEqual(["bake", "count", "same"]);
    expect(after.missing.map(({ name }) => name)).toEqual(["bake"]);
  });

  test("a project that was moved has the same skills", async () => {
    await using at = await skillFolders();
    await using other = await skillFolders();
    await at.skill(join(at.project, ".agents/skills"), "review");
    await other.skill(join(other.project, ".agents/skills"), "review");
    const rig = await rigWith(at, []);
    await rig.agent.activateSkill("c", "review");
    await rig.conversation.append({ type: "cwd", cwd: other.project });
    expect((await rig.agent.restore("c")).missing).toEqual([]);
  });
});
