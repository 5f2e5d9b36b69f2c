import type { Skill } from "#log/entry";
import type { Remembered } from "#log/projections/memories";
import type { FoundSkill } from "#agent/skills/skill-places";
import type { MemoryInput, MemoryKind } from "#agent/memory/memory-rules";
import type { RoutesOf } from "./route.ts";
import { ofConversation, type OfConversation, pageLimit } from "./shared-schemas.ts";
import {
  answer,
  choice,
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

interface MemoryBody extends ScopeGiven, Omit<MemoryInput, "by" | "key"> {
  readonly memory?: string;
}

/** A skill that may be activated; where it lies is the server's affair. */
export type SkillView = Pick<FoundSkill, "name" | "description" | "source" | "digest" | "forModel">;

interface SkillsView extends OfConversation {
  readonly skills: readonly SkillView[];
  readonly active: readonly Skill[];
  readonly issues: readonly string[];
}

interface OfMemory {
  readonly memory: string;
}

interface OfSkill extends OfConversation {
  readonly skill: string;
}

export interface MemoryApi {
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
  listSkills: { readonly params: OfConversation; readonly response: SkillsView };
  activateSkill: {
    readonly params: OfSkill;
    readonly body: object;
    readonly response: { readonly skill: string; readonly changed: boolean };
  };
  deactivateSkill: {
    readonly params: OfSkill;
    readonly body: object;
    readonly response: { readonly skill: string; readonly changed: boolean };
  };
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
const changed: Schema<MemoryApi["activateSkill"]["response"]> = answer<
  MemoryApi["activateSkill"]["response"]
>({
  skill: text(),
  changed: flag(),
});
const memoryParams: Schema<OfMemory> = object<OfMemory>({ memory: text({ min: 1, max: 200 }) });
const skillParams: Schema<OfSkill> = object<OfSkill>({
  ...(ofConversation.members as { readonly conversation: Schema<string> }),
  skill: text({ min: 1, max: 64, pattern: /^[a-z0-9][a-z0-9-]*$/, about: "the name of a skill" }),
});

export const MEMORY_ROUTES: RoutesOf<MemoryApi> = {
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
  listSkills: {
    method: "GET",
    path: "/api/conversations/{conversation}/skills",
    right: "read",
    group,
    summary: "Lists the skills that may be activated in it, and those that are",
    params: ofConversation,
    response: answer<SkillsView>({
      conversation: text(),
      skills: list(
        open<SkillView>({
          name: text(),
          description: text(),
          source: text(),
          digest: text(),
          forModel: flag(),
        }),
      ),
      active: list(open<Skill>({ name: text() })),
      issues: list(text()),
    }),
  },
  activateSkill: {
    method: "POST",
    path: "/api/conversations/{conversation}/skills/{skill}/activation",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "From here on its instructions are part of every prompt",
    params: skillParams,
    body: object<object>({}),
    response: changed,
  },
  deactivateSkill: {
    method: "POST",
    path: "/api/conversations/{conversation}/skills/{skill}/deactivation",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Takes its instructions out again",
    params: skillParams,
    body: object<object>({}),
    response: changed,
  },
};
