import { Memory } from "#agent/memory/memory";
import type { Holdfast } from "#conversation/holdfast";
import { SECRET, type Stolen } from "./stolen-ids.ts";

type Attempts = (holdfast: Holdfast, stolen: Stolen) => readonly (() => Promise<unknown>)[];

async function all(items: AsyncIterable<unknown>): Promise<readonly unknown[]> {
  const found: unknown[] = [];
  for await (const item of items) found.push(item);
  return found;
}

/** What a conversation is, as something that can be compared. */
async function seen(
  opening: Promise<{ readonly id: string; log(): AsyncIterable<unknown> }>,
): Promise<unknown> {
  const conversation = await opening;
  return [conversation.id, await all(conversation.log())];
}

/** Is about no space, or about all of them by design: whoever holds the store may open each. */
const OF_THE_STORE: Attempts = () => [];

/** Every verb of `Holdfast`, with whatever was stolen in every place that takes it. */
export const HOLDFAST_PROBES: { readonly [V in MethodOf<Holdfast>]: Attempts } = {
  newId: OF_THE_STORE,
  inSpace: OF_THE_STORE,
  backup: OF_THE_STORE,
  close: OF_THE_STORE,
  create: (holdfast, { key }) => [() => seen(holdfast.create({ id: "made", key, title: "mine" }))],
  createFrom: (holdfast, { entries, key }) => [
    () => seen(holdfast.createFrom("from", [{ type: "conversation", id: entries[0] ?? "" }], key)),
  ],
  conversation: (holdfast, { conversation, fork }) =>
    [conversation, fork].map((id) => () => seen(holdfast.conversation(id))),
  handle: (holdfast, { conversation, entries, upstream, blob, head }) => {
    const opened = holdfast.handle(conversation);
    const [entry = ""] = entries;
    return [
      () => opened.context(),
      () => opened.context({ at: entry }),
      () => opened.chain(),
      () => opened.effects(),
      () => opened.issues(),
      () => opened.getBlob(blob),
      () => opened.branch({ at: entry }),
      () => opened.label(entry, "mine"),
      () => opened.hide(entry),
      () => opened.goTo(entry),
      () => opened.endUpstream(upstream, "stolen"),
      () => seen(opened.fork({ at: entry, id: "handle-fork" })),
      () => all(holdfast.handle(conversation).log({ after: head.headSeq - 1 })),
    ];
  },
  find: (holdfast, { conversation }) =>
    [conversation, "shar", "fork", "red-fork"].map((part) => () => seen(holdfast.find(part))),
  list: (holdfast) => [
    () => all(holdfast.list({ prefix: "shared" })),
    () => all(holdfast.list({ filter: { unlisted: true } })),
  ],
  listAll: (holdfast) => [() => all(holdfast.listAll())],
  listPage: (holdfast, { listCursor }) => [
    () => holdfast.listPage({ limit: 9 }),
    () => holdfast.listPage({ limit: 9, cursor: listCursor }),
    () => holdfast.listPage({ limit: 9, filter: { suffix: "fork" } }),
  ],
  openTurns: (holdfast) => [() => all(holdfast.openTurns())],
  runs: (holdfast, { conversation, fork, mailbox }) => [
    () => all(holdfast.runs({ mailbox })),
    () => all(holdfast.runs({ conversation })),
    () => all(holdfast.runs({ along: fork })),
  ],
  runPage: (holdfast, { conversation, mailbox }) => [
    () => holdfast.runPage({ limit: 9, mailbox }),
    () => holdfast.runPage({ limit: 9, conversation }),
  ],
  run: (holdfast, { run, conversation }) => [
    () => holdfast.run(run),
    () => holdfast.run(run, { conversation }),
  ],
  exactRun: (holdfast, { run, fork }) => [
    () => holdfast.exactRun(run),
    () => holdfast.exactRun(run, { conversation: fork }),
  ],
  hydrate: (holdfast, { run, fork }) => [
    () => holdfast.hydrate(run),
    () => holdfast.hydrate(run, { conversation: fork }),
  ],
  forkRun: (holdfast, { run, conversation, entries, key }) => [
    () => holdfast.forkRun(run, { id: "run-fork" }),
    () => holdfast.forkRun(run, { id: "run-fork-2", conversation, at: entries[0] ?? "", key }),
  ],
  search: (holdfast, { conversation }) => [
    () => holdfast.search(SECRET),
    () => holdfast.search(SECRET, { conversation }),
  ],
  compare: (holdfast, { conversation, fork, entries }) => [
    () => holdfast.compare({ conversation: "mine" }, [{ conversation }]),
    () => holdfast.compare({ conversation, at: entries[0] ?? "" }, [{ conversation: fork }]),
  ],
  signOut: (holdfast, { account }) => [() => holdfast.signOut(account)],
  check: (holdfast) => [() => holdfast.check({ repair: false })],
};

/** Every verb of `Memory`. */
export const MEMORY_PROBES: { readonly [V in MethodOf<Memory>]: Attempts } = {
  nowMs: OF_THE_STORE,
  projectOf: OF_THE_STORE, // about folders of this machine
  list: (holdfast) => [
    () => memoryOf(holdfast).list("user"),
    () => memoryOf(holdfast).list("user", { removed: true }),
  ],
  scopes: (holdfast) => [() => memoryOf(holdfast).scopes()],
  stamp: (holdfast) => [() => memoryOf(holdfast).stamp(["user"])],
  memories: (holdfast) => [() => memoryOf(holdfast).memories(["user"])],
  leftOut: (holdfast) => [() => memoryOf(holdfast).leftOut("user")],
  search: (holdfast) => [() => memoryOf(holdfast).search(["user"], SECRET)],
  remove: (holdfast, { memory }) => [() => memoryOf(holdfast).remove("user", memory)],
  restore: (holdfast, { memory }) => [() => memoryOf(holdfast).restore("user", memory)],
  removeForever: (holdfast, { memory }) => [() => memoryOf(holdfast).removeForever("user", memory)],
  hasProject: (holdfast, { memory }) => [() => memoryOf(holdfast).hasProject(memory)],
  events: (holdfast) => [() => all(memoryOf(holdfast).events("user"))],
  save: (holdfast, { memory }) => [
    () => memoryOf(holdfast).save("user", { key: memory, content: "mine" }),
    () => memoryOf(holdfast).list("user"),
  ],
};

function memoryOf(holdfast: Holdfast): Memory {
  return new Memory(holdfast, { nowMs: () => 0 });
}

type MethodOf<T> = {
  [K in keyof T]: T[K] extends (...given: never[]) => unknown ? (K extends string ? K : never) : never;
}[keyof T];

/** The methods that a class has when it runs. */
export function methodsOf(type: { readonly prototype: object }): readonly string[] {
  const members = Object.entries(Object.getOwnPropertyDescriptors(type.prototype));
  return members.flatMap(([name, { value }]) =>
    name !== "constructor" && typeof value === "function" ? [name] : [],
  );
}
