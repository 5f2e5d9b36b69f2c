import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { Memory } from "#agent/memory/memory";
import { Skills } from "#agent/skills/skills";
import type { Client } from "#edges/http/client/index";
import { tempDir } from "../../../support/temp-dir.ts";
import { posted } from "../raw-requests.ts";
import { serve, type Served } from "../served.ts";

/** Memory and skills, on one kind of store. */
export function memoryCases(kind: string, open: () => Promise<Holdfast>): void {
  describe(`on ${kind}`, () => {
    const folder = tempDir();
    let served: Served;
    let client: Client;

    beforeAll(async () => {
      const skill = join(folder.path, "skills", "tidy");
      mkdirSync(skill, { recursive: true });
      writeFileSync(join(skill, "SKILL.md"), "---\nname: tidy\ndescription: Tidies up.\n---\nTidy up.\n");
      const skills = new Skills({ places: [{ name: "here", folder: join(folder.path, "skills") }] });
      served = await serve({ holdfast: await open(), skills });
      client = served.client(await served.token("write"));
    });

    afterAll(async () => {
      await served[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    });

    test(`${kind}: memory is saved, found, removed and restored, each harmless to ask for twice`, async () => {
      const saved = await client.saveMemory({ content: "Answers are in German", kind: "preference" });
      expect((await client.listMemory()).memories).toEqual([expect.objectContaining({ key: saved.key })]);
      expect((await client.searchMemory({ q: "german" })).hits.map(({ key }) => key)).toEqual([saved.key]);
      const removed = await client.removeMemory({ memory: saved.key });
      expect(await client.removeMemory({ memory: saved.key })).toEqual(removed);
      expect((await client.listMemory()).memories).toEqual([]);
      expect((await client.listMemory({ removed: true })).memories).toHaveLength(1);
      const restored = await client.restoreMemory({ memory: saved.key });
      expect(await client.restoreMemory({ memory: saved.key })).toEqual(restored);
      await client.saveMemory({ content: "Tests run with npm test", scope: "project", project: "p-1" });
      expect((await client.listMemory({ scope: "project", project: "p-1" })).memories).toHaveLength(1);
      await expect(client.listMemory({ scope: "project" })).rejects.toMatchObject({ status: 400 });
      await expect(client.removeMemory({ memory: "nothing" })).rejects.toMatchObject({ status: 404 });
    });

    test(`${kind}: a late repetition under its key is answered as the first was, by any process, and undoes nothing`, async () => {
      const elsewhere = await serve({ holdfast: served.holdfast });
      const token = await served.token("write");
      const [here, there] = [served.client(token), elsewhere.client(token)];
      const save = { memory: "tone", content: "Be brief" };
      const first = await here.saveMemory(save, { key: "k" });
      await here.saveMemory({ memory: "tone", content: "Be thorough" }, { key: "l" });
      expect(await there.saveMemory(save, { key: "k" })).toEqual(first);
      const told = async (): Promise<string | undefined> =>
        (await here.listMemory()).memories.find(({ key }) => key === "tone")?.content;
      expect(await told()).toBe("Be thorough");
      const removed = await here.removeMemory({ memory: "tone" }, { key: "k" });
      await here.restoreMemory({ memory: "tone" }, { key: "k" });
      expect(await there.removeMemory({ memory: "tone" }, { key: "k" })).toEqual(removed);
      expect(await told()).toBe("Be thorough");
      const other = await elsewhere.ask("/api/memory", {
        ...posted(token, { ...save, content: "Be silent" }, { "idempotency-key": "k" }),
      });
      expect([other.status, other.headers.get("holdfast-repeated")]).toEqual([200, "differs"]);
      expect(await told()).toBe("Be thorough");
      // Where nothing was kept, because a server died in between, the log itself knows the key.
      const memory = new Memory(served.holdfast);
      await memory.save("user", { key: "x", content: "one" }, { key: "m" });
      await memory.save("user", { key: "x", content: "two" });
      expect(await memory.save("user", { key: "x", content: "one" }, { key: "m" })).toMatchObject({
        content: "two",
      });
      const { conversation } = await here.createConversation({ id: "late" });
      const skill = { conversation, skill: "tidy" };
      expect(await here.activateSkill(skill, { key: "k" })).toMatchObject({ changed: true });
      await here.deactivateSkill(skill, { key: "k" });
      expect(await here.activateSkill(skill, { key: "k" })).toMatchObject({ changed: true });
      expect((await here.listSkills({ conversation })).active).toEqual([]);
      const twice = await Promise.all([1, 2].map(() => here.saveMemory({ content: "Once" }, { key: "n" })));
      expect(twice[0]).toEqual(twice[1]);
    });

    test(`${kind}: what is remembered says whose it is, how it came to be, and is not written over unseen`, async () => {
      const of = { scope: "project", project: "git:example.org/app" } as const;
      const first = await client.saveMemory({ ...of, memory: "runner", content: "vitest", replaces: null });
      const { scopes } = await client.listMemoryScopes();
      expect(scopes).toContainEqual(expect.objectContaining({ ...of, headSeq: 3 }));
      const log = scopes.find(({ project }) => project === of.project)?.log ?? "";
      expect((await client.listRecords({ conversation: log })).headSeq).toBe(3);
      const words = { ...of, memory: "runner" };
      const other = await client.saveMemory({ ...words, content: "node:test", replaces: first.entry });
      for (const replaces of [first.entry, null])
        await expect(client.saveMemory({ ...words, content: "mocha", replaces })).rejects.toMatchObject({
          status: 409,
          code: "head_moved",
        });
      await client.saveMemory({ ...words, content: "node:test", replaces: first.entry }); // it says so already
      await client.removeMemory({ ...of, memory: "runner" });
      await expect(
        client.saveMemory({ ...words, content: "mocha", replaces: other.entry }),
      ).rejects.toMatchObject({ status: 409 });
      const { changes, more } = await client.listMemoryChanges({ ...of, memory: "Runner" });
      expect(changes.map(({ change, content, by }) => [change, content, by])).toEqual([
        ["removed", null, "person"],
        ["saved", "node:test", "person"],
        ["saved", "node:test", "person"],
        ["saved", "vitest", "person"],
      ]);
      expect([more, changes.at(-1)?.entry]).toEqual([false, first.entry]);
      await expect(client.listMemoryChanges({ ...of, memory: "nothing" })).rejects.toMatchObject({
        status: 404,
      });
      const inChat = { content: "Saved in a conversation", by: "model", conversation: "chat" } as const;
      await new Memory(served.holdfast).save("user", inChat);
      expect((await client.searchMemory({ q: "conversation" })).hits[0]).toMatchObject({
        conversation: "chat",
        by: "model",
      });
    });

    test(`${kind}: a skill is read with its text, and the conversations that used it are told`, async () => {
      await client.createConversation({ id: "used", title: "Uses it" });
      await client.createConversation({ id: "unused" });
      await client.activateSkill({ conversation: "used", skill: "tidy" });
      await client.deactivateSkill({ conversation: "used", skill: "tidy" });
      const uses = async (): Promise<unknown> =>
        (await client.listSkillUses({ limit: 2 })).uses.map(({ conversation, title, skills }) => [
          conversation,
          title,
          skills.map(({ name, source, active }) => [name, source, active]),
        ]);
      expect(await uses()).toEqual([["used", "Uses it", [["tidy", "here/tidy", false]]]]);
      await client.activateSkill({ conversation: "used", skill: "tidy" });
      expect(await uses()).toEqual([["used", "Uses it", [["tidy", "here/tidy", true]]]]);
      expect((await client.listServedSkills()).skills).toMatchObject([{ name: "tidy", source: "here/tidy" }]);
      for (const of of [{}, { conversation: "used" }])
        expect(await client.getSkill({ skill: "tidy", ...of })).toMatchObject({
          text: "Tidy up.",
          files: [],
        });
      await expect(client.getSkill({ skill: "other" })).rejects.toMatchObject({ status: 404 });
      expect(JSON.stringify(await client.getSkill({ skill: "tidy" }))).not.toContain(folder.path);
    });

    test(`${kind}: skills are listed, activated and deactivated`, async () => {
      await client.createConversation({ id: "s" });
      expect((await client.listSkills({ conversation: "s" })).skills.map(({ name }) => name)).toEqual([
        "tidy",
      ]);
      expect(await client.activateSkill({ conversation: "s", skill: "tidy" })).toMatchObject({
        changed: true,
      });
      expect(await client.activateSkill({ conversation: "s", skill: "tidy" })).toMatchObject({
        changed: false,
      });
      expect((await client.listSkills({ conversation: "s" })).active.map(({ name }) => name)).toEqual([
        "tidy",
      ]);
      expect(await client.deactivateSkill({ conversation: "s", skill: "tidy" })).toMatchObject({
        changed: true,
      });
      await expect(client.activateSkill({ conversation: "s", skill: "other" })).rejects.toMatchObject({
        status: 400,
      });
      expect(JSON.stringify(await client.listSkills({ conversation: "s" }))).not.toContain(folder.path);
    });
  });
}
