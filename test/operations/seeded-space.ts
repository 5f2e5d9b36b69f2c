import { Memory } from "#agent/memory/memory";
import type { Holdfast } from "#conversation/holdfast";
import { idForKey } from "#conversation/id-for-key";
import type { EntryBody } from "#log/entry";
import { endBody, plannedBody, REPLAY_PREFIX } from "#operations/views/replay-log";
import { nameOfProcess } from "#turn/running-process";
import type { Case } from "./case.ts";

/** Who has the conversation `a` before the act: a process of this machine that has died, or one that runs. */
export type Lease = "dead" | "alive";

const said = (id: string, role: "user" | "assistant", text: string): EntryBody => ({
  type: "message",
  id,
  message: { role, content: [{ type: "text", text }] },
});

const CALL: EntryBody = {
  type: "message",
  id: "call",
  message: {
    role: "assistant",
    content: [{ type: "toolCall", id: "c1", name: "refund", input: { order: 17 } }],
    stopReason: "tool_use",
  },
};
const QUESTION: EntryBody = {
  type: "permission",
  request: "r1",
  call: "c1",
  data: { tool: "refund", input: { order: 17 } },
};

const RUN: readonly EntryBody[] = [
  { type: "run_start", run: "r1", trigger: "email", triggerId: "m-7", mailbox: "billing" },
  said("mail", "user", "Where is order 17?"),
  { type: "turn_start", turn: "t1", prompt: "mail", run: "r1" },
  said("answer", "assistant", "It left on Monday."),
  { type: "turn_end", turn: "t1", outcome: "completed" },
  { type: "run_end", run: "r1", status: "completed" },
];

/** A replay of `a`, which was begun under the key `k`. */
export const REPLAY: string = `${REPLAY_PREFIX}${idForKey("replay", "k")}`;

/** The bytes of a blob of `a`. */
export const BLOB = "numbers";

/** `a`: a question and its answer; `failed`: a turn that failed; `open`: a turn that no process runs; `asks`: one that waits for a person; `job`: a run. */
export async function seed(
  holdfast: Holdfast,
  { lease, conversation, memories = {} }: Pick<Case, "lease" | "conversation" | "memories">,
): Promise<void> {
  if (conversation !== undefined) await holdfast.create({ id: conversation });
  const memory = new Memory(holdfast);
  for (const [key, content] of Object.entries(memories)) await memory.save("user", { key, content });
  if (memories["removed"] !== undefined) await memory.remove("user", "removed");
  const a = await holdfast.create({
    id: "a",
    title: "First",
    entries: [said("ask", "user", "Where is order 17?"), said("reply", "assistant", "On its way.")],
  });
  const turn: readonly EntryBody[] = [
    said("ask", "user", "Hello?"),
    { type: "turn_start", turn: "t1", prompt: "ask" },
  ];
  const end: EntryBody = { type: "turn_end", turn: "t1", outcome: "failed", class: "failed" };
  await holdfast.create({ id: "failed", entries: [...turn, end] });
  await holdfast.create({ id: "open", entries: turn });
  await holdfast.create({ id: "asks", entries: [...turn, CALL, QUESTION] });
  await holdfast.create({ id: "job", entries: RUN });
  await a.putBlob(Buffer.from(BLOB));
  const [replay, { leaf }] = [await holdfast.create({ id: REPLAY, unlisted: true }), await a.head()];
  const plan = { source: { conversation: "a", entry: leaf.id, run: null }, keptTo: leaf.id, models: ["sim"] };
  await replay.append([
    plannedBody({ ...plan, tools: "dry-run", prompts: 1, absent: [], added: [] }),
    endBody({ status: "completed", message: "", results: [] }),
  ]);
  if (lease === undefined) return;
  const running = await nameOfProcess("a test");
  const writer = lease === "alive" ? running : running.replace(/begun .*?, on/, "begun 1, on");
  await a.own({ writer, leaseMs: 60_000 });
}
