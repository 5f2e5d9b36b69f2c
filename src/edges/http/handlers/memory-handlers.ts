import { Memory, type MemoryScope, scopeWord } from "#agent/memory/memory";
import { normalizeKey } from "#agent/memory/memory-rules";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryOf } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { Remembered } from "#log/projections/memories";
import type { MemoryApi, MemoryChangeView, MemoryView } from "#edges/http/routes/memory-api";
import { type HandlersOf, keyed } from "./asked.ts";

interface ScopeGiven {
  readonly scope?: "user" | "project";
  readonly project?: string;
}

const CHANGES_MAX = 200;

export const MEMORY_HANDLERS: HandlersOf<MemoryApi> = {
  async listMemoryScopes({ holdfast }) {
    const scopes = await new Memory(holdfast).scopes();
    return {
      scopes: scopes.map((one) =>
        Object.assign({ scope: one.project === null ? "user" : "project" } as const, one),
      ),
    };
  },

  async listMemoryChanges({ holdfast, params, query }) {
    const key = normalizeKey(params.memory);
    const changes: MemoryChangeView[] = [];
    let more = false;
    for await (const entry of new Memory(holdfast).events(scopeOf(query))) {
      if (entry.key !== key || entry.change === "summarised" || entry.change === "erasing") continue;
      changes.push(changeOf(entry, entry.change));
      if (changes.length <= CHANGES_MAX) continue;
      changes.shift();
      more = true;
    }
    if (changes.length === 0) throw notRemembered(key);
    return { changes: changes.toReversed(), more };
  },

  async listMemory({ holdfast, query }) {
    const scope = scopeOf(query);
    const listed = await new Memory(holdfast).list(scope, { removed: query.removed === true });
    return { memories: listed.map((one) => viewOf(scope, one)) };
  },

  async searchMemory({ holdfast, query }) {
    const scope = scopeOf(query);
    const limit = query.limit === undefined ? {} : { limit: query.limit };
    const hits = await new Memory(holdfast).search([scope], query.q, limit);
    return { hits: hits.map(({ memory, score }) => Object.assign(viewOf(scope, memory), { score })) };
  },

  async saveMemory({ holdfast, body, key: once }) {
    const { scope: _, project: __, memory: key, replaces, ...given } = body;
    const scope = scopeOf(body);
    const input = { ...given, ...(key === undefined ? {} : { key }) };
    const saved = await new Memory(holdfast).save(scope, input, {
      ...keyed("saveMemory", once),
      ...(replaces === undefined ? {} : { replaces }),
    });
    return viewOf(scope, saved);
  },

  removeMemory: ({ holdfast, params, body, key: once }) =>
    changeMemory(holdfast, { key: params.memory, scope: scopeOf(body), to: "removed", once }),

  restoreMemory: ({ holdfast, params, body, key: once }) =>
    changeMemory(holdfast, { key: params.memory, scope: scopeOf(body), to: "restored", once }),
};

function scopeOf({ scope = "user", project }: ScopeGiven): MemoryScope {
  if (scope === "user" && project === undefined) return "user";
  if (scope === "project" && project !== undefined) return { project };
  throw new LogError(
    "invalid_request",
    "The scope project goes with the project's id, the scope user with none",
  );
}

function changeOf(
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

function notRemembered(key: string): LogError {
  return new LogError("entry_not_found", `Nothing was ever remembered under ${key} here`, { memory: key });
}

function viewOf(scope: MemoryScope, { seq: _, ...memory }: Remembered): MemoryView {
  return { scope: scopeWord(scope), ...memory };
}

/** What is so already is answered alike, so that asking twice is harmless. */
async function changeMemory(
  holdfast: Holdfast,
  {
    key,
    scope,
    to,
    once,
  }: {
    readonly key: string;
    readonly scope: MemoryScope;
    readonly to: "removed" | "restored";
    readonly once: string | undefined;
  },
): Promise<MemoryView> {
  const memory = new Memory(holdfast);
  try {
    const options = keyed(`${to}Memory`, once);
    const changed =
      to === "removed" ? memory.remove(scope, key, options) : memory.restore(scope, key, options);
    return viewOf(scope, await changed);
  } catch (error) {
    if (!isLogError(error, "entry_not_found")) throw error;
    const there = await memory.list(scope, { removed: to === "removed" });
    const known = there.find((one) => one.key === key);
    if (known === undefined) throw error;
    return viewOf(scope, known);
  }
}
