import { Memory, type MemoryScope, scopeWord } from "#agent/memory/memory";
import { activateSkill, deactivateSkill, listSkills, type SkillWork } from "#agent/skills/change-skills";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { Remembered } from "#log/projections/memories";
import type { MemoryApi, MemoryView } from "#edges/http/routes/memory-api";
import { type HandlersOf, keyed, type ServerParts } from "./asked.ts";
import { conversationOf, ownAct } from "./conversation-of.ts";

interface ScopeGiven {
  readonly scope?: "user" | "project";
  readonly project?: string;
}

export const MEMORY_HANDLERS: HandlersOf<MemoryApi> = {
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
    const { scope: _, project: __, memory: key, ...given } = body;
    const scope = scopeOf(body);
    const input = { ...given, ...(key === undefined ? {} : { key }) };
    const saved = await new Memory(holdfast).save(scope, input, keyed("saveMemory", once));
    return viewOf(scope, saved);
  },

  removeMemory: ({ holdfast, params, body, key: once }) =>
    changeMemory(holdfast, { key: params.memory, scope: scopeOf(body), to: "removed", once }),

  restoreMemory: ({ holdfast, params, body, key: once }) =>
    changeMemory(holdfast, { key: params.memory, scope: scopeOf(body), to: "restored", once }),

  async listSkills(asked) {
    const conversation = await conversationOf(asked);
    const found =
      asked.server.skills === null
        ? { skills: [], issues: [], active: (await conversation.settings()).skills }
        : await listSkills(workOf(conversation, asked.server));
    const { skills, active, issues } = found;
    return {
      conversation: conversation.id,
      active,
      skills: skills.map(({ name, description, source, digest, forModel }) => ({
        name,
        description,
        source,
        digest,
        forModel,
      })),
      // Where they lie is the server's affair.
      issues: issues.map(({ problem }) => problem),
    };
  },

  async activateSkill(asked) {
    const { skill } = asked.params;
    const work = workOf(await conversationOf(asked), asked.server, keyed("activateSkill", asked.key));
    return { skill, changed: (await activateSkill(work, skill)).changed };
  },

  async deactivateSkill(asked) {
    const { skill } = asked.params;
    const work = workOf(await conversationOf(asked), asked.server, keyed("deactivateSkill", asked.key));
    return { skill, changed: (await deactivateSkill(work, skill)).changed };
  },
};

function scopeOf({ scope = "user", project }: ScopeGiven): MemoryScope {
  if (scope === "user" && project === undefined) return "user";
  if (scope === "project" && project !== undefined) return { project };
  throw new LogError(
    "invalid_request",
    "The scope project goes with the project's id, the scope user with none",
  );
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

function workOf(
  conversation: Conversation,
  { skills }: ServerParts,
  once: { readonly key?: string } = {},
): SkillWork {
  return {
    conversation,
    skills,
    note: async (note) => {
      const bodies = typeof note === "function" ? await note() : note;
      if (bodies.length > 0) await ownAct(conversation, () => conversation.append(bodies, once));
    },
  };
}
