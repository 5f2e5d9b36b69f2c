import { type ScopeRow, Memory, type MemoryScope, scopesFor, scopeWord } from "#agent/memory/memory";
import { MEMORY_KINDS, normalizeKey } from "#agent/memory/memory-rules";
import type { EntryOf } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { Remembered } from "#log/projections/memories";
import { keyed } from "./acts.ts";
import { operation, type OperationContext } from "./operation.ts";
import {
  answer,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  number,
  object,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
} from "./schemas.ts";

export type MemoryView = Omit<Remembered, "seq"> & { readonly scope: "user" | "project" };

/** A scope that something was ever remembered in; its log can be read and watched like any other. */
export interface MemoryScopeView extends Omit<ScopeRow, "log"> {
  readonly scope: "user" | "project";
  readonly log: string;
}

/** One change of a memory: what it said from then on, and who said so. */
export interface MemoryChangeView {
  readonly entry: string;
  readonly seq: number;
  readonly time: string;
  readonly change: "saved" | "removed" | "restored";
  readonly by: string | null;
  readonly conversation: string | null;
  readonly kind: string | null;
  readonly title: string | null;
  readonly content: string | null;
}

/** Whose memory: the user's, or a project's by its id. */
interface Whose {
  readonly scope?: "user" | "project";
  readonly project?: string;
  /** On this machine: the user's and that of the folder's project, unless `scope` says which. */
  readonly folder?: string;
}

const CHANGES_MAX = 200;

const read = { group: "Memory and skills", access: "read", kind: "read" } as const;
const act = { group: "Memory and skills", access: "write", kind: "act", storesAnswer: true } as const;
const whose = {
  scope: optional(choice(["user", "project"], "(default: user)")),
  project: optional(text({ min: 1, max: 1_000, about: "the id of the project" })),
};
const here = { folder: optional(text({ min: 1, about: "a conversation of the project" })) };
const memoryKey = text({ min: 1, max: 200 });
const words: Schema<readonly string[]> = list(text({ max: 80 }), { max: 20 });

const memoryFields = {
  scope: choice(["user", "project"]),
  key: text(),
  entry: text({ about: "the entry that saved it" }),
  by: nullable(text()),
  conversation: nullable(text({ about: "the conversation that last saved it" })),
  kind: text(),
  title: text(),
  content: text(),
  tags: list(text()),
  createdAt: text(),
  updatedAt: text(),
  removedAt: nullable(text()),
};
const memoryView: Schema<MemoryView> = named("Memory", open<MemoryView>(memoryFields));

export const listMemoryScopes = operation({
  ...read,
  summary: "List the scopes that have memories: the user and projects",
  http: "GET /api/memory/scopes",
  input: {},
  output: answer({
    scopes: list(
      open<MemoryScopeView>({
        scope: choice(["user", "project"]),
        project: nullable(text({ about: "the id of the project" })),
        log: text({ about: "the conversation that is its log" }),
        headSeq: count(),
        updatedAt: text(),
      }),
    ),
  }),
  async run(_input, context) {
    const scopes = await memoryOf(context).scopes();
    return {
      scopes: scopes.map(({ project, log, headSeq, updatedAt }): MemoryScopeView => {
        const scope = project === null ? "user" : "project";
        return { scope, project, log, headSeq, updatedAt };
      }),
    };
  },
});

export const listMemoryChanges = operation({
  ...read,
  summary: "List the changes of a memory, newest first",
  http: "GET /api/memory/{memory}/changes",
  input: { memory: memoryKey, ...whose },
  output: answer({
    changes: list(
      open<MemoryChangeView>({
        entry: text(),
        seq: count(),
        time: text(),
        change: choice(["saved", "removed", "restored"]),
        by: nullable(text()),
        conversation: nullable(text({ about: "the conversation that saved it" })),
        kind: nullable(text()),
        title: nullable(text()),
        content: nullable(text()),
      }),
    ),
    more: flag("older changes exist"),
  }),
  async run({ memory, ...scope }, context) {
    const key = normalizeKey(memory);
    const changes: MemoryChangeView[] = [];
    let more = false;
    const log = memoryOf(context);
    for await (const entry of log.events(await scopeOf(log, scope))) {
      if (entry.key !== key || entry.change === "summarised" || entry.change === "erasing") continue;
      changes.push(changeView(entry, entry.change));
      if (changes.length <= CHANGES_MAX) continue;
      changes.shift();
      more = true;
    }
    if (changes.length === 0)
      throw new LogError("entry_not_found", `Memory "${key}" not found`, { memory: key });
    return { changes: changes.toReversed(), more };
  },
});

export const listMemory = operation({
  ...read,
  summary: "List memories, or removed ones",
  http: "GET /api/memory",
  cli: "memory ls",
  input: { ...whose, removed: optional(flag()) },
  local: here,
  output: answer({ memories: list(memoryView) }),
  async run({ removed = false, ...input }, context) {
    const memory = memoryOf(context);
    const memories: MemoryView[] = [];
    for (const scope of await scopesOf(memory, input))
      memories.push(...(await memory.list(scope, { removed })).map((one) => viewOf(scope, one)));
    return { memories };
  },
});

export const searchMemory = operation({
  ...read,
  summary: "Find memories by words, in any language",
  http: "GET /api/memory/search",
  cli: "memory search q...",
  input: { ...whose, q: text({ min: 1, max: 1_000 }), limit: optional(pageLimit) },
  local: here,
  output: answer({
    hits: list(
      open<MemoryView & { readonly score: number }>({ key: text(), content: text(), score: number() }),
    ),
  }),
  async run({ q, limit, ...input }, context) {
    const memory = memoryOf(context);
    const hits = await memory.search(await scopesOf(memory, input), q, limit === undefined ? {} : { limit });
    return {
      hits: hits.map(({ scope, memory: { seq: _, ...one }, score }) => Object.assign({ scope, score }, one)),
    };
  },
});

export const saveMemory = operation({
  ...act,
  summary: "Save a memory, or replace the one with its key",
  http: "POST /api/memory",
  cli: "memory add content...",
  input: {
    ...whose,
    memory: optional(text({ min: 1, max: 200, about: "its key (default: created from the title)" })),
    content: text({ min: 1, max: 4_000 }),
    title: optional(text({ max: 120 })),
    kind: optional(choice(MEMORY_KINDS)),
    tags: optional(words),
    keywords: optional(words),
    replaces: optional(
      nullable(
        text({
          min: 1,
          max: 128,
          about: "the entry it replaces, or null for a new memory; 409 if another entry is current",
        }),
      ),
    ),
  },
  local: here,
  output: named(
    "SavedMemory",
    open<MemoryView & { readonly replaced: string | null }>({
      ...memoryFields,
      replaced: nullable(text({ about: "the previous memory with this key" })),
    }),
  ),
  async run(input, context) {
    const { scope: _, project: __, folder: ___, memory: key, replaces, ...fields } = input;
    const memory = memoryOf(context);
    const scope = await scopeOf(memory, input);
    const before = await memory.list(scope);
    const saved = await memory.save(
      scope,
      { ...fields, ...(key === undefined ? {} : { key }) },
      { ...keyed("saveMemory", context), ...(replaces === undefined ? {} : { replaces }) },
    );
    const replaced = before.find((one) => one.key === saved.key)?.content ?? null;
    return { ...viewOf(scope, saved), replaced };
  },
});

export const removeMemory = operation({
  ...act,
  summary: "Remove a memory; you can restore it",
  http: "POST /api/memory/{memory}/removal",
  cli: "memory rm memory",
  input: { memory: memoryKey, ...whose },
  local: here,
  output: memoryView,
  run: (input, context) => changeMemory(input, "removed", context),
});

export const restoreMemory = operation({
  ...act,
  summary: "Restore a removed memory",
  http: "POST /api/memory/{memory}/restoration",
  cli: "memory restore memory",
  input: { memory: memoryKey, ...whose },
  local: here,
  output: memoryView,
  run: (input, context) => changeMemory(input, "restored", context),
});

export const eraseMemories = operation({
  ...act,
  summary: "Permanently delete memories and their earlier versions",
  cli: "memory rm memories...",
  input: {
    memories: list(memoryKey, { min: 1 }),
    ...whose,
    dryRun: optional(flag("reports where they are without erasing")),
  },
  local: here,
  output: answer({
    memories: list(object({ scope: choice(["user", "project"]), key: text(), erased: flag() })),
  }),
  async run({ memories: texts, dryRun = false, ...input }, context) {
    const memory = memoryOf(context);
    const keysByScope = new Map<MemoryScope, string[]>();
    const scopes = await scopesOf(memory, input);
    for (const key of texts.map(normalizeKey)) {
      const scope = await scopeOfKey(memory, key, scopes, ["live", "removed"]);
      if (scope === null) throw noMemory(key);
      keysByScope.set(scope, [...(keysByScope.get(scope) ?? []), key]);
    }
    if (!dryRun) for (const [scope, keys] of keysByScope) await memory.removeForever(scope, keys);
    return {
      memories: [...keysByScope].flatMap(([scope, keys]) =>
        keys.map((key) => ({ scope: scopeWord(scope), key, erased: !dryRun })),
      ),
    };
  },
});

function memoryOf({ holdfast, clock }: OperationContext): Memory {
  return new Memory(holdfast, { nowMs: () => clock.nowMs() });
}

async function scopeOf(memory: Memory, { scope = "user", project, folder }: Whose): Promise<MemoryScope> {
  if (scope === "user" && project === undefined) return "user";
  if (scope === "project" && project !== undefined) return { project };
  if (scope === "project" && folder !== undefined) return folderScope(memory, folder);
  throw new LogError(
    "invalid_request",
    "Pass `project` together with the scope project, and leave it out for the scope user",
  );
}

async function folderScope(memory: Memory, folder: string): Promise<MemoryScope> {
  const project = await memory.projectOf(folder);
  if (project === null) throw new LogError("invalid_request", `Folder ${folder} not found`);
  return { project: project.id };
}

/** One, unless a caller on this machine names a folder and no scope. */
async function scopesOf(memory: Memory, input: Whose): Promise<readonly MemoryScope[]> {
  const { scope, project, folder } = input;
  if (folder === undefined || scope !== undefined || project !== undefined)
    return [await scopeOf(memory, input)];
  return scopesFor(await memory.projectOf(folder));
}

type State = "live" | "removed";

/** The scope that has a key in one of these states, null where none has; one that is in two scopes is not guessed. */
async function scopeOfKey(
  memory: Memory,
  key: string,
  scopes: readonly MemoryScope[],
  states: readonly State[],
): Promise<MemoryScope | null> {
  const having: MemoryScope[] = [];
  for (const scope of scopes) {
    const lists = await Promise.all(
      states.map((state) => memory.list(scope, { removed: state === "removed" })),
    );
    if (lists.flat().some((one) => one.key === key)) having.push(scope);
  }
  if (having.length > 1)
    throw new LogError(
      "ambiguous_id",
      `Memory "${key}" exists for the user and for the project. Add the scope.`,
      { memory: key },
    );
  return having[0] ?? null;
}

/** What is so already is answered alike, so that asking twice is harmless. */
async function changeMemory(
  { memory: name, ...input }: Whose & { readonly memory: string },
  change: "removed" | "restored",
  context: OperationContext,
): Promise<MemoryView> {
  const memory = memoryOf(context);
  const key = normalizeKey(name);
  const [from, to]: readonly [State, State] =
    change === "removed" ? ["live", "removed"] : ["removed", "live"];
  const scopes = await scopesOf(memory, input);
  const [only] = scopes;
  const scope =
    scopes.length === 1 && only !== undefined
      ? only
      : ((await scopeOfKey(memory, key, scopes, [from])) ?? (await scopeOfKey(memory, key, scopes, [to])));
  if (scope === null) throw noMemory(key);
  try {
    const options = keyed(`${change}Memory`, context);
    const changed =
      change === "removed" ? memory.remove(scope, key, options) : memory.restore(scope, key, options);
    return viewOf(scope, await changed);
  } catch (error) {
    if (!isLogError(error, "entry_not_found")) throw error;
    const there = await memory.list(scope, { removed: to === "removed" });
    const known = there.find((one) => one.key === key);
    if (known === undefined) throw error;
    return viewOf(scope, known);
  }
}

function noMemory(key: string): LogError {
  return new LogError("entry_not_found", `Memory "${key}" not found`, {
    memory: key,
  });
}

function changeView(
  { id, seq, time, by, conversation, kind, title, content }: EntryOf<"memory">,
  change: MemoryChangeView["change"],
): MemoryChangeView {
  return {
    entry: id,
    seq,
    time,
    change,
    by: by ?? null,
    conversation: conversation ?? null,
    kind: kind ?? null,
    title: title ?? null,
    content: content ?? null,
  };
}

function viewOf(scope: MemoryScope, { seq: _, ...memory }: Remembered): MemoryView {
  return { scope: scopeWord(scope), ...memory };
}
