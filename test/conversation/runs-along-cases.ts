/** Goal: the runs that led to a conversation are found along its forks and its causes, on every store. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { Rig } from "#store/contract/rig";
import type { NamedSubject } from "../support/subjects.ts";

async function ran(conversation: Conversation, run: string, trigger: string = "email"): Promise<void> {
  await conversation.append([
    { type: "run_start", run, trigger },
    { type: "message", id: `${run}-said`, message: { role: "user", content: [{ type: "text", text: run }] } },
    { type: "run_end", run, status: "completed" },
  ]);
}

async function along(holdfast: Holdfast, conversation: string, more = {}): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { run } of holdfast.runs({ along: conversation, ...more })) found.push(run);
  return found;
}

export function runsAlongCases(named: NamedSubject): void {
  test("are those of sources as far as they are seen, and of causes up to the one", async () => {
    using subject = named.make();
    await using rig = new Rig(subject);
    const holdfast = new Holdfast(await rig.open(), "default", rig.idsAndTime);
    const thread = await holdfast.create({ id: "thread" });
    await ran(thread, "first");
    await ran(thread, "second");
    const fork = await thread.fork({ id: "fork" });
    await ran(thread, "third");
    await ran(fork, "fourth", "chat");
    const caused = await holdfast.createFrom("caused", [
      { type: "conversation", parent: { conversation: "fork", entry: "fourth-said" } },
    ]);
    await ran(fork, "fifth");
    await ran(caused, "sixth");
    expect(await along(holdfast, "thread")).toEqual(["first", "second", "third"]);
    expect(await along(holdfast, "fork")).toEqual(["first", "second", "fourth", "fifth"]);
    expect(await along(holdfast, "caused")).toEqual(["first", "second", "fourth", "sixth"]);
    expect(await along(holdfast, "caused", { trigger: "email" })).toEqual(["first", "second", "sixth"]);
    expect(await along(holdfast, "caused", { newestFirst: true })).toEqual([
      "sixth",
      "fourth",
      "second",
      "first",
    ]);
    await thread.erase();
    expect(await along(holdfast, "caused")).toEqual(["fourth", "sixth"]);
    await expect(along(holdfast, "thread")).rejects.toMatchObject({ code: "conversation_not_found" });
  });

  test("come to an end where causes go in a circle", async () => {
    using subject = named.make();
    await using rig = new Rig(subject);
    const holdfast = new Holdfast(await rig.open(), "default", rig.idsAndTime);
    for (const [id, parent] of [
      ["a", "b"],
      ["b", "a"],
    ] as const)
      await ran(
        await holdfast.createFrom(id, [{ type: "conversation", parent: { conversation: parent } }]),
        `run-${id}`,
      );
    expect(await along(holdfast, "a")).toEqual(["run-a", "run-b"]);
  });
}
