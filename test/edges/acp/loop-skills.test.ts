import { expect, test } from "vitest";
import { Skills } from "#agent/index";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { skillFolders } from "../../agent/skills/skill-folder.ts";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { openLoop } from "./loop-editor.ts";

test("/skill in an editor activates, lists and ends; another editor that loads the conversation has it", async () => {
  await using at = await skillFolders();
  await at.skill(at.user, "bake");
  const backing = inMemoryBacking();
  const skills = new Skills({ places: [{ name: "user", folder: at.user }] });
  const model = new ScriptedModel([{ text: "one" }]);
  const open = () => openLoop(new Holdfast(inMemoryStore({ backing }), "default"), { model, skills });
  let id: string;
  {
    await using editor = await open();
    id = await editor.begin(at.project);
    for (const order of ["/skill", "/skill bake", "/skill bake", "/skill cake"])
      expect((await editor.prompt(id, order)).stopReason).toBe("end_turn");
    expect(editor.words()).toContain("bake: Shows bake.");
    expect(editor.words()).toContain("user/bake");
    expect(editor.words()).toContain('"cake"');
    expect(model.asked).toEqual([]);
    await editor.prompt(id, "go");
    expect(model.asked[0]?.prompt[0]).toMatchObject({ content: expect.stringContaining("How to bake.") });
    expect(editor.wrong).toEqual([]);
  }
  await using editor = await open();
  const restored = await editor.load(id, at.project);
  expect(restored).toMatchObject({
    restored: { skills: [{ name: "bake", source: "user/bake" }], missing: [] },
  });
});
