import { createHash } from "node:crypto";
import type { EntryBody } from "#log/entry";
import type { ConversationId, Digest, EntryId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import { conv, entryId, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import type { Store } from "#store/store";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { spaceOf } from "#conversation/on-space";

export const OTHER = "other";
/** Every text of the other space has it, and nothing that a thief brings. */
export const SECRET = "SECRET";

/** All that somebody may have heard of another space. */
export interface Stolen {
  readonly conversation: ConversationId;
  readonly fork: ConversationId;
  readonly entries: readonly EntryId[];
  readonly head: HeadView;
  readonly place: Place;
  readonly key: string;
  readonly blob: Digest;
  readonly label: string;
  readonly run: string;
  readonly mailbox: string;
  readonly upstream: string;
  readonly account: string;
  readonly memory: string;
  readonly listCursor: string;
  readonly runCursor: string;
}

export const BLOB: Uint8Array = new TextEncoder().encode(`${SECRET} bytes`);
const ACCOUNT = "someone@example.org";

const BODIES: readonly EntryBody[] = [
  { type: "run_start", id: "s-run", run: "run-7", trigger: "mail", mailbox: "box-7" },
  { type: "turn_start", id: "s-turn", turn: "t1", run: "run-7" },
  user(`${SECRET} question`, "s-one"),
  { type: "upstream_link", id: "s-link", upstream: "up-7", agent: "claude", account: ACCOUNT, reason: "new" },
  {
    type: "message",
    id: "s-two",
    message: { role: "assistant", content: [{ type: "text", text: `${SECRET} answer` }] },
  },
  { type: "model_change", id: "s-model", model: `${SECRET}-model` },
  { type: "label", id: "s-label", target: "s-one", label: "label-7" },
  { type: "hide", id: "s-hide", target: "s-two" },
  { type: "title", id: "s-title", title: `${SECRET} title` },
];

/** Fills the other space with something of everything, and tells all names of it. */
export async function fillOther(rig: Rig, store: Store): Promise<Stolen> {
  const holdfast = new Holdfast(store, OTHER, rig.idsAndTime);
  const space = spaceOf(holdfast);
  await rig.create(space, "shared", [], "key-create");
  await rig.append(space, "shared", BODIES, { key: "key-7" });
  const blob = await space.putBlob(conv("shared"), BLOB);
  await rig.fork(space, "shared", "shared-fork", { key: "key-fork" });
  await rig.append(space, "shared-fork", [
    { type: "run_start", run: "run-8", trigger: "mail" },
    user(`${SECRET} in the fork`, "s-fork"),
  ]);
  await new Memory(holdfast, { nowMs: () => 0 }).save("user", {
    key: "memory-7",
    content: `${SECRET} memory`,
  });
  await space.search({ query: SECRET, limit: 9 });
  const head = await space.acquire({ conversation: conv("shared"), writer: "them", leaseMs: 3_600_000 });
  const { place } = await space.entry(conv("shared"), entryId("s-two"));
  const listCursor = (await space.list({ limit: 1 })).next ?? "";
  const runCursor = (await space.runs({ limit: 1 })).next ?? "";
  return {
    conversation: conv("shared"),
    fork: conv("shared-fork"),
    entries: ["s-one", "s-label", "s-fork", "shared-root"].map(entryId),
    head,
    place: place ?? { conversation: conv("shared"), segment: 0, depth: 0 },
    key: "key-7",
    blob,
    label: "label-7",
    run: "run-7",
    mailbox: "box-7",
    upstream: "up-7",
    account: ACCOUNT,
    memory: "memory-7",
    listCursor,
    runCursor,
  };
}

/** Everything of a space that the port can say. */
export async function dumpSpace(space: SpaceStore): Promise<string> {
  const said: unknown[] = [await space.runs({ limit: 99 }), await space.search({ query: SECRET, limit: 99 })];
  for (const unlisted of [false, true]) {
    const { conversations } = await space.list({ limit: 99, unlisted });
    for (const { conversation, ...listed } of conversations)
      said.push(
        conversation,
        listed,
        await space.head(conversation),
        await space.read({ conversation, limit: 999 }),
        await space.batchEnds({ conversation, after: 0, limit: 999 }),
        await space.labelled({ conversation, label: "label-7", limit: 9 }),
        await space.findAppend(conversation, "key-7"),
      );
  }
  const blob = createHash("sha256").update(BLOB).digest("hex");
  for (const id of ["shared", "shared-fork"])
    said.push(Buffer.from(await space.getBlob(conv(id), blob)).toString());
  return JSON.stringify(said, null, 1);
}
