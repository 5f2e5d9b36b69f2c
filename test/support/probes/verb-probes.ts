import type { EntryBody } from "#log/entry";
import { conv, readTail, type Rig, user } from "#store/contract/rig";
import type { SpaceStore, Verb } from "#store/facets";
import { BLOB, SECRET, type Stolen } from "./stolen-ids.ts";

interface Thief {
  readonly rig: Rig;
  readonly space: SpaceStore;
  readonly stolen: Stolen;
}

type Attempts = (thief: Thief) => readonly (() => Promise<unknown>)[];

/** Bodies that name an entry of the other space, each in its own way. */
function naming(target: string): readonly EntryBody[] {
  return [
    { type: "label", target, label: "mine" },
    { type: "hide", target },
    { type: "leaf", target },
    { ...user("below it"), parentId: target },
    { type: "compaction", summary: "short", firstKeptEntryId: target, tokensBefore: 1 },
    user("under its id", target),
  ];
}

/** Every verb of the port, with whatever was stolen in every place that takes it. */
export const VERB_PROBES: { readonly [V in Verb]: Attempts } = {
  create: ({ rig, space, stolen }) => [
    () => rig.create(space, "fresh", [user("own", stolen.entries[0])], stolen.key),
    () => rig.create(space, stolen.conversation, [user("own")], "key-create"),
    () => rig.create(space, stolen.fork, [], "key-fork"),
  ],
  fork: ({ rig, space, stolen }) => [
    () => rig.fork(space, stolen.conversation, "f1"),
    () => rig.fork(space, stolen.conversation, "f2", { head: stolen.head.headSeq }),
    () => rig.fork(space, stolen.conversation, stolen.fork, { key: "key-fork" }),
    () => rig.fork(space, "mine", "f3", { key: stolen.key }),
    ...stolen.entries.flatMap((entry) => [
      () => rig.fork(space, stolen.conversation, `f-${entry}`, { entry }),
      () => rig.fork(space, "mine", `g-${entry}`, { entry }),
    ]),
  ],
  append: ({ rig, space, stolen }) => {
    const { epoch, headSeq: expected, ownerLink: link } = stolen.head;
    const author = { kind: "owner", epoch, expected, ...(link === null ? {} : { link }) } as const;
    const outside = { author: { kind: "outside" } } as const;
    const acts: readonly (readonly [body: EntryBody, how: Parameters<Rig["append"]>[3]])[] = [
      [user("as owner"), { author }],
      [user("under the key"), { key: stolen.key }],
      [{ type: "title", title: "x" }, outside],
      ...naming(stolen.entries[1] ?? "").map((body) => [body, outside] as const),
      ...naming(stolen.entries[0] ?? "").map((body) => [body, {}] as const),
    ];
    return [stolen.conversation, stolen.fork, "mine"].flatMap((id) =>
      acts.map(
        ([body, how]) =>
          () =>
            rig.append(space, id, [body], how),
      ),
    );
  },
  findAppend: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].flatMap((id) =>
      [stolen.key, "key-create", "key-fork"].map((key) => () => space.findAppend(id, key)),
    ),
  acquire: ({ space, stolen }) => [
    () => space.acquire({ conversation: stolen.conversation, writer: "them", leaseMs: 1_000 }),
    () => space.acquire({ conversation: stolen.fork, writer: "thief", leaseMs: 0 }),
  ],
  renew: ({ space, stolen }) => [
    () => space.renew({ conversation: stolen.conversation, epoch: stolen.head.epoch, leaseMs: 0 }),
    () => space.renew({ conversation: stolen.fork, epoch: 1, leaseMs: 9, writer: "them" }),
  ],
  head: ({ space, stolen }) => [() => space.head(stolen.conversation), () => space.head(stolen.fork)],
  entry: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].flatMap((id) =>
      stolen.entries.map((entry) => () => space.entry(id, entry)),
    ),
  window: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].flatMap((conversation) => [
      () => space.window({ conversation, limit: 99, settings: ["model_change", "reset"] }),
      () => space.window({ conversation, from: stolen.place, limit: 99, settings: ["model_change"] }),
    ]),
  page: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].flatMap((conversation) => [
      () => space.page({ conversation, limit: 99 }),
      () => space.page({ conversation, from: stolen.place, limit: 99 }),
      () => space.page({ conversation, from: stolen.place, depth: 1, limit: 99 }),
    ]),
  read: ({ space, stolen }) => [
    () => space.read({ conversation: stolen.conversation, limit: 99 }),
    () => space.read({ conversation: stolen.fork, limit: 99, types: ["message", "label"] }),
    () => space.read({ conversation: stolen.conversation, limit: 99, newestFirst: true, scan: true }),
  ],
  batchEnds: ({ space, stolen }) => [
    () => space.batchEnds({ conversation: stolen.conversation, after: 0, limit: 99 }),
  ],
  list: ({ space, stolen }) =>
    [false, true].flatMap((unlisted) => [
      () => space.list({ limit: 99, unlisted }),
      () => space.list({ limit: 1, unlisted }),
      () => space.list({ limit: 99, unlisted, prefix: "shared" }),
      () => space.list({ limit: 99, unlisted, after: stolen.listCursor }),
    ]),
  ids: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].map(
      (conversation) => () => space.ids({ conversation, prefix: "s-", limit: 99 }),
    ),
  labelled: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].map(
      (conversation) => () => space.labelled({ conversation, label: stolen.label, limit: 9 }),
    ),
  tail: ({ space, stolen }) => [
    () => readTail(space, stolen.conversation, 0, 1),
    () => readTail(space, stolen.fork, 0, 1),
  ],
  runs: ({ space, stolen }) => [
    () => space.runs({ limit: 99 }),
    () => space.runs({ limit: 99, run: stolen.run }),
    () => space.runs({ limit: 99, conversation: stolen.conversation }),
    () => space.runs({ limit: 99, mailbox: stolen.mailbox, newestFirst: true }),
    () => space.runs({ limit: 99, after: stolen.runCursor }),
    () => space.runs({ limit: 99, after: stolen.runCursor, newestFirst: true }),
  ],
  search: ({ space, stolen }) => [
    () => space.search({ query: SECRET, limit: 99 }),
    () => space.search({ query: "SE", limit: 99 }),
    () => space.search({ query: SECRET, limit: 99, conversation: stolen.conversation }),
    () => space.search({ query: "question", limit: 99, conversation: stolen.fork }),
  ],
  putBlob: ({ space, stolen }) => [
    () => space.putBlob(stolen.fork, new Uint8Array([7])),
    () => space.putBlob(conv("f1"), BLOB),
  ],
  getBlob: ({ space, stolen }) =>
    [stolen.conversation, stolen.fork, conv("mine")].map((id) => () => space.getBlob(id, stolen.blob)),
  erase: ({ space, stolen }) => [() => space.erase(stolen.conversation), () => space.erase(stolen.fork)],
  check: ({ space }) =>
    [false, true].map((repair) => async () => {
      const looked: number[] = [];
      const findings = await space.check({ repair, onProgress: (done, total) => looked.push(done, total) });
      return [findings, looked];
    }),
};
