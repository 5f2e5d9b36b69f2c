/**
 * Goal: an index that was thrown away comes back as it was, from the head and the entries that a store keeps.
 * Method: logs with branches, facts from outside, hides and forks of forks; every index is made anew, and beside the one that
 * grew with the log it says the same of heads, places, pages and what is hidden.
 */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { type ConversationId, parseSpaceId } from "#log/ids";
import { findVisible, hiddenAmong, latestOnBranch, pageBack } from "#log/lineage/lineage";
import type { LogIndex } from "#log/lineage/log-index";
import { indexLog } from "#log/plans/index-lookups";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { user } from "../../support/a-log.ts";

test("an index made of the stored head and entries is the one that grew with the log", async () => {
  const backing = inMemoryBacking();
  const holdfast = new Holdfast(inMemoryStore({ backing }), "s");
  const top = await holdfast.create({ id: "top", title: "T", cwd: "/a" });
  await top.append([user("one", "u1"), { type: "model_change", id: "c1", model: "big" }, user("two", "u2")]);
  await top.goTo("u1");
  await top.append([user("other", "u3")]);
  await top.hide("u1");
  await top.label("u3", "here");
  const middle = await top.fork({ id: "middle", at: "u3" });
  await middle.append([user("three", "u4"), { type: "leaf", target: "u1" }, user("four", "u5")]);
  await middle.hide("u1", false);
  const fork = await middle.fork({ id: "fork", at: "u5" });
  await fork.goTo("u1");
  await fork.title("named from outside, last of all");
  const logs = backing.spaces.get(parseSpaceId("s"));
  const grown = new Map<ConversationId, LogIndex>();
  const made = new Map<ConversationId, LogIndex>();
  for (const conversation of [top, middle, fork]) {
    const log = logs?.get(conversation.id);
    if (log === undefined) throw new Error("not there");
    grown.set(conversation.id, log.index);
    const head = structuredClone(log.index.head);
    made.set(conversation.id, indexLog(head, log.rows.values(), made));
  }
  for (const { id } of [top, middle, fork]) {
    const seen = [grown, made].map((lineage) => {
      const index = lineage.get(id);
      if (index === undefined) throw new Error("not there");
      const { nodes } = pageBack(lineage, index.head.leaf, 99);
      return {
        head: index.head,
        entries: index.entries,
        nodes,
        hidden: [...hiddenAmong(lineage, id, nodes)],
        model: latestOnBranch(lineage, index.head.leaf, "model_change"),
        known: nodes.map((node) => findVisible(lineage, id, node.id)),
      };
    });
    expect(seen[1]).toEqual(seen[0]);
  }
  await holdfast.close();
});
