import type { EntryOf, Project } from "#log/entry";
import { LogError, isLogError } from "#log/errors";
import { parseEntryId, type SpaceId, type ConversationId } from "#log/ids";
import type { MemoryReader, Remembered } from "#log/projections/memories";
import type { Holdfast } from "#conversation/holdfast";
import type { ScopedMemory } from "./memory-blocks.ts";
import {
  checkReplaced,
  type MemoryInput,
  normalizeKey,
  planRestore,
  planSave,
  savedBody,
} from "./memory-rules.ts";
import { memoryQuery, rankMemories } from "./rank-memories.ts";
import { ScopeLog, scopeLogOf } from "./scope-log.ts";
import { projectDigest, folderProject } from "./project.ts";
import type { ConversationRow } from "#store/requests";

const HITS = 20;

/** Whose memory: that of the space's user, or that of a project, by its id. */
export type MemoryScope = "user" | { readonly project: string };

export interface MemoryOptions {
  readonly nowMs?: () => number;
}

export interface MemoryWriteOptions {
  /** Makes a retry safe: a change with this key is written once. */
  readonly key?: string;
}

export interface MemorySaveOptions extends MemoryWriteOptions {
  /**
   * The entry whose words it takes the place of, null for something new: refused where others stand there by now. Two that
   * are saved in the same moment are both written; the later one counts, and `events` has both.
   */
  readonly replaces?: string | null;
}

export interface MemoryHit extends ScopedMemory {
  readonly score: number;
}

let logOf: (memory: Memory, scope: MemoryScope) => ScopeLog;

/**
 * What is remembered beyond a conversation, in one space. Each scope is a log of its own: what is remembered follows from its
 * facts, and every call sees what other processes have written.
 */
export class Memory {
  readonly #holdfast: Holdfast;
  /** The current time, by which newer memories rank higher. */
  readonly nowMs: () => number;
  readonly #logs = new Map<string, ScopeLog>();

  static {
    logOf = (memory, scope) => memory.#log(scope);
  }

  constructor(holdfast: Holdfast, options: MemoryOptions = {}) {
    this.#holdfast = holdfast;
    this.nowMs = options.nowMs ?? Date.now;
  }

  /** Remembers something; what has the same key takes its place. */
  async save(scope: MemoryScope, input: MemoryInput, options: MemorySaveOptions = {}): Promise<Remembered> {
    const saved = savedBody(input);
    const { replaces, key } = options;
    const reader = await this.#log(scope).write(({ live }) => {
      if (replaces !== undefined)
        checkReplaced(live, saved, replaces === null ? null : parseEntryId(replaces));
      return planSave(live, saved);
    }, key);
    return orUnknown(reader.live.get(saved.key), saved.key);
  }

  /** Lists memories, the newest change first. With `removed`, lists those that `restore` can bring back. */
  async list(
    scope: MemoryScope,
    options: { readonly removed?: boolean } = {},
  ): Promise<readonly Remembered[]> {
    const { live, removed } = await this.#log(scope).read();
    return [...(options.removed === true ? removed : live).values()].toReversed();
  }

  /** The space it is of. */
  get spaceId(): SpaceId {
    return this.#holdfast.spaceId;
  }

  /** The same for as long as nothing is changed in these scopes, by whomever. */
  async stamp(scopes: readonly MemoryScope[]): Promise<string> {
    const stamps: string[] = [];
    for (const scope of scopes) stamps.push(await this.#log(scope).stamp());
    return stamps.join(" ");
  }

  /** Lists the memories of several scopes. */
  async memories(scopes: readonly MemoryScope[]): Promise<readonly ScopedMemory[]> {
    const all: ScopedMemory[] = [];
    for (const scope of scopes)
      for (const memory of await this.list(scope)) all.push({ scope: scopeWord(scope), memory });
    return all;
  }

  /** How often there were more in the log of a scope than are held and listed; 0: all are. */
  async leftOut(scope: MemoryScope): Promise<number> {
    return (await this.#log(scope).read()).leftOut;
  }

  /** What has to do with the words of a query, in any language: first what has all of them as they are typed. */
  async search(
    scopes: readonly MemoryScope[],
    query: string,
    options: { readonly limit?: number } = {},
  ): Promise<readonly MemoryHit[]> {
    const words = memoryQuery(query);
    if (words.literal.length === 0)
      throw new LogError("invalid_request", "The search text must contain a word");
    const all = await this.memories(scopes);
    const scopeOf = new Map(all.map(({ memory, scope }) => [memory, scope]));
    const memories = all.map(({ memory }) => memory);
    return rankMemories(memories, words, { nowMs: this.nowMs(), literal: true })
      .slice(0, options.limit ?? HITS)
      .map(({ memory, score }) => ({ scope: scopeOf.get(memory) ?? "user", memory, score }));
  }

  /** Removes a memory. `restore` brings it back. */
  remove(scope: MemoryScope, key: string, options: MemoryWriteOptions = {}): Promise<Remembered> {
    return this.#change(scope, key, { to: "removed", ...options });
  }

  restore(scope: MemoryScope, key: string, options: MemoryWriteOptions = {}): Promise<Remembered> {
    return this.#change(scope, key, { to: "restored", ...options });
  }

  async #change(
    scope: MemoryScope,
    name: string,
    { to: change, key: once }: MemoryWriteOptions & { readonly to: "removed" | "restored" },
  ): Promise<Remembered> {
    const key = normalizeKey(name);
    const before = ({ live, removed }: MemoryReader): Remembered | undefined =>
      (change === "removed" ? live : removed).get(key);
    let changed: Remembered | undefined;
    const reader = await this.#log(scope).write((now) => {
      changed = before(now) ?? changed;
      const memory = before(now);
      if (memory === undefined) return [];
      return change === "restored"
        ? planRestore(now.live, memory)
        : [{ type: "memory", change, key, by: "person" }];
    }, once);
    const after = (change === "removed" ? reader.removed : reader.live).get(key);
    if (changed === undefined) throw unknownKey(key);
    return after ?? changed;
  }

  /**
   * Takes memories out for ever, removed ones and every earlier wording included: afterwards no file of the store holds them.
   * Gives the keys that were there.
   */
  async removeForever(scope: MemoryScope, input: string | readonly string[]): Promise<readonly string[]> {
    const keys = [input].flat().map(normalizeKey);
    if (!this.#holdfast.store.facets.includes("erase"))
      throw new LogError("facet_missing", "This store does not support erasing");
    let removedKeys: readonly string[] = [];
    const log = this.#log(scope);
    const { live: liveBefore, removed: removedBefore } = await log.read();
    const rest = keys.filter((key) => !liveBefore.has(key) && !removedBefore.has(key));
    const older = rest.length === 0 ? rest : await keysInLog(log, rest);
    await log.write(({ live, removed }) => {
      // Old keys exist only in the log, and a retry would find them there again.
      const there = keys.filter(
        (key) => live.has(key) || removed.has(key) || (removedKeys.length === 0 && older.includes(key)),
      );
      if (there.length > 0) removedKeys = there;
      return there.length === 0 ? [] : [{ type: "memory", change: "erasing", keys: there, by: "person" }];
    });
    if (removedKeys.length === 0) throw unknownKey(keys.join(", "));
    await log.read(); // finishes it
    return removedKeys;
  }

  /** The project that a folder belongs to: by its id file, its repository, or its path; null: there is no such folder. */
  projectOf(folder: string): Promise<Project | null> {
    return folderProject(folder, null, (id) => this.hasProject(id));
  }

  /** Whether anything was ever remembered of a project. */
  hasProject(id: string): Promise<boolean> {
    return this.#log({ project: id }).exists();
  }

  /** The scopes that something was ever remembered in, the newest change first. */
  scopes(): Promise<readonly ScopeRow[]> {
    return listScopes(this.#holdfast);
  }

  /** Every change, in order: the facts of the log as they are. */
  events(scope: MemoryScope, options: { readonly after?: number } = {}): AsyncGenerator<EntryOf<"memory">> {
    return this.#log(scope).events(options.after ?? 0);
  }

  #log(scope: MemoryScope): ScopeLog {
    const name = scopeName(scope);
    const current = this.#logs.get(name);
    if (current !== undefined) return current;
    const project = scope === "user" ? null : { id: scope.project };
    const title = scope === "user" ? "Memory of the user" : `Memory of ${scope.project}`;
    const log = new ScopeLog(this.#holdfast, { name, title, project });
    this.#logs.set(name, log);
    return log;
  }
}

/** What counts in a conversation about a project. */
export function scopesFor(project: Project | null): readonly MemoryScope[] {
  return ["user", ...(project === null ? [] : [{ project: project.id }])];
}

/** A scope in a word. */
export function scopeWord(scope: MemoryScope): ScopedMemory["scope"] {
  return scope === "user" ? scope : "project";
}

/** The log behind a scope: for what hosts have no hand in. */
export function scopeLog(memory: Memory, scope: MemoryScope): ScopeLog {
  return logOf(memory, scope);
}

/** Those of the keys that some fact names. */
async function keysInLog(log: ScopeLog, keys: readonly string[]): Promise<readonly string[]> {
  const matches = new Set<string>();
  for await (const { key } of log.events(0)) if (key !== undefined && keys.includes(key)) matches.add(key);
  return [...matches];
}

/** What the log of a scope is called, but for its number. */
function scopeName(scope: MemoryScope): string {
  if (scope === "user") return "memory.user";
  return `memory.project.${projectDigest(scope.project)}`;
}

function orUnknown(memory: Remembered | undefined, key: string): Remembered {
  if (memory === undefined) throw unknownKey(key); // somebody removed it at the same moment
  return memory;
}

function unknownKey(key: string): LogError {
  return new LogError("entry_not_found", `Memory "${key}" not found`, {
    memory: key,
  });
}

const SCOPES_MAX = 500;

/** A scope that has a log. */
export interface ScopeRow {
  /** Its project; null: it is the user's. */
  readonly project: string | null;
  /** The log that counts, how long it is, and when it was last written to. */
  readonly log: ConversationId;
  readonly headSeq: number;
  readonly updatedAt: string;
}

/** The scopes that have a log, the newest change first; what cannot be read is left out. */
async function listScopes(holdfast: Holdfast): Promise<readonly ScopeRow[]> {
  const newest = new Map<string, { readonly number: number; readonly row: ConversationRow }>();
  for await (const row of holdfast.list({ filter: { prefix: "memory.", unlisted: true } })) {
    const log = scopeLogOf(row.conversation);
    if (log === null || row.damage !== null) continue;
    if ((newest.get(log.name)?.number ?? 0) < log.number) newest.set(log.name, { number: log.number, row });
    if (newest.size >= SCOPES_MAX) break;
  }
  const scopes: ScopeRow[] = [];
  for (const { row } of newest.values()) {
    const project = await projectOfLog(holdfast, row.conversation);
    if (project === undefined) continue;
    scopes.push({
      project,
      log: row.conversation,
      headSeq: row.headSeq,
      updatedAt: row.updatedAt,
    });
  }
  return scopes;
}

/** Returns null for the user's log; undefined if the log is gone or has no project. */
async function projectOfLog(
  holdfast: Holdfast,
  conversation: ConversationId,
): Promise<string | null | undefined> {
  if (scopeLogOf(conversation)?.name === "memory.user") return null;
  try {
    const [root] = await holdfast.handle(conversation).read({ limit: 1, types: ["conversation"] });
    return root?.project?.id;
  } catch (error) {
    if (isLogError(error) && (error.group === "missing" || error.group === "damaged")) return undefined;
    throw error;
  }
}
