import type { Remembered } from "#log/projections/memories";
import type { KnownScope } from "#agent/memory/known-scopes";
import type { MemoryInput, MemoryKind } from "#agent/memory/memory-rules";
import type { RoutesOf } from "./route.ts";
import { pageLimit } from "./shared-schemas.ts";
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
  type Schema,
  text,
} from "./value-schema.ts";

/** Whose memory: the user's, or a project's by its id. */
interface ScopeGiven {
  readonly scope?: "user" | "project";
  readonly project?: string;
}

export type MemoryView = Omit<Remembered, "seq"> & { readonly scope: "user" | "project" };

/** A scope that something was ever remembered in; its log can be read and watched like any other. */
export interface MemoryScopeView extends Omit<KnownScope, "log"> {
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

interface MemoryBody extends ScopeGiven, Omit<MemoryInput, "by" | "key" | "conversation"> {
  readonly memory?: string;
  readonly replaces?: string | null;
}

interface OfMemory {
  readonly memory: string;
}

export interface MemoryApi {
  listMemoryScopes: { readonly response: { readonly scopes: readonly MemoryScopeView[] } };
  listMemoryChanges: {
    readonly params: OfMemory;
    readonly query: ScopeGiven;
    readonly response: { readonly changes: readonly MemoryChangeView[]; readonly more: boolean };
  };
  listMemory: {
    readonly query: ScopeGiven & { readonly removed?: boolean };
    readonly response: { readonly memories: readonly MemoryView[] };
  };
  searchMemory: {
    readonly query: ScopeGiven & { readonly q: string; readonly limit?: number };
    readonly response: { readonly hits: readonly (MemoryView & { readonly score: number })[] };
  };
  saveMemory: { readonly body: MemoryBody; readonly response: MemoryView };
  removeMemory: { readonly params: OfMemory; readonly body: ScopeGiven; readonly response: MemoryView };
  restoreMemory: { readonly params: OfMemory; readonly body: ScopeGiven; readonly response: MemoryView };
}

const group = "Memory and skills";
const scopeMembers = {
  scope: optional(choice(["user", "project"], "user unless told")),
  project: optional(text({ min: 1, max: 1_000, about: "the id of the project" })),
};
const memoryView: Schema<MemoryView> = named(
  "Memory",
  open<MemoryView>({
    scope: choice(["user", "project"]),
    key: text(),
    entry: text({ about: "the entry that says so" }),
    by: nullable(text()),
    conversation: nullable(text({ about: "the one that it was last saved in" })),
    kind: text(),
    title: text(),
    content: text(),
    tags: list(text()),
    createdAt: text(),
    updatedAt: text(),
    removedAt: nullable(text()),
  }),
);
const KINDS: readonly MemoryKind[] = [
  "preference",
  "profile",
  "project_fact",
  "workflow",
  "decision",
  "constraint",
  "note",
];
const words: Schema<readonly string[]> = list(text({ max: 80 }), { max: 20 });
const memoryParams: Schema<OfMemory> = object<OfMemory>({ memory: text({ min: 1, max: 200 }) });
export const MEMORY_ROUTES: RoutesOf<MemoryApi> = {
  listMemoryScopes: {
    method: "GET",
    path: "/api/memory/scopes",
    right: "read",
    group,
    summary: "Lists whose memory there is: the user's, and of which projects",
    response: answer<MemoryApi["listMemoryScopes"]["response"]>({
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
  },
  listMemoryChanges: {
    method: "GET",
    path: "/api/memory/{memory}/changes",
    right: "read",
    group,
    summary: "Tells how something that is remembered came to be what it is, the newest change first",
    params: memoryParams,
    query: object<ScopeGiven>(scopeMembers),
    response: answer<MemoryApi["listMemoryChanges"]["response"]>({
      changes: list(
        open<MemoryChangeView>({
          entry: text(),
          seq: count(),
          time: text(),
          change: choice(["saved", "removed", "restored"]),
          by: nullable(text()),
          conversation: nullable(text({ about: "the one that it was saved in" })),
          kind: nullable(text()),
          title: nullable(text()),
          content: nullable(text()),
        }),
      ),
      more: flag("there are older ones"),
    }),
  },
  listMemory: {
    method: "GET",
    path: "/api/memory",
    right: "read",
    group,
    summary: "Lists what is remembered beyond conversations, or what may be restored",
    query: object<MemoryApi["listMemory"]["query"]>({ ...scopeMembers, removed: optional(flag()) }),
    response: answer<MemoryApi["listMemory"]["response"]>({ memories: list(memoryView) }),
  },
  searchMemory: {
    method: "GET",
    path: "/api/memory/search",
    right: "read",
    group,
    summary: "Finds what has to do with the words, in any language",
    query: object<MemoryApi["searchMemory"]["query"]>({
      ...scopeMembers,
      q: text({ min: 1, max: 1_000 }),
      limit: optional(pageLimit),
    }),
    response: answer<MemoryApi["searchMemory"]["response"]>({
      hits: list(
        open<MemoryView & { readonly score: number }>({ key: text(), content: text(), score: number() }),
      ),
    }),
  },
  saveMemory: {
    method: "POST",
    path: "/api/memory",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Remembers something; what has the same key takes its place",
    body: object<MemoryBody>({
      ...scopeMembers,
      memory: optional(text({ min: 1, max: 200, about: "its key; made of the title unless given" })),
      content: text({ min: 1, max: 4_000 }),
      title: optional(text({ max: 120 })),
      kind: optional(choice(KINDS)),
      tags: optional(words),
      keywords: optional(words),
      replaces: optional(
        nullable(
          text({
            min: 1,
            max: 128,
            about:
              "the entry of what it takes the place of, null for something new: 409 where that is another",
          }),
        ),
      ),
    }),
    response: memoryView,
  },
  removeMemory: {
    method: "POST",
    path: "/api/memory/{memory}/removal",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Tells nobody of it any more; it may be restored",
    params: memoryParams,
    body: object<ScopeGiven>(scopeMembers),
    response: memoryView,
  },
  restoreMemory: {
    method: "POST",
    path: "/api/memory/{memory}/restoration",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Brings back what was removed",
    params: memoryParams,
    body: object<ScopeGiven>(scopeMembers),
    response: memoryView,
  },
};
