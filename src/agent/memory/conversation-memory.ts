import type { EntryBody, Project } from "#log/entry";
import type { ContextMessage } from "#log/projections/pairs";
import type { Conversation } from "#conversation/conversation";
import { conversationProject } from "#agent/project/conversation-project";
import type { Tool } from "#turn/effects/tool";
import { type Memory, type MemoryScope, scopesFor } from "./memory.ts";
import {
  recallBlock,
  type ScopedMemory,
  type StableBlock,
  stableBlock,
  summariesBlock,
} from "./memory-blocks.ts";
import { memoryTools } from "./memory-tools.ts";
import { otherSummaries } from "./other-summaries.ts";
import { memoryQuery, rankMemories } from "./rank-memories.ts";

const QUERY_CHARS_MAX = 4_000; // what is asked stands in the first pages of a prompt

/** What memory has for one turn of a conversation. */
export class ConversationMemory {
  /** What the conversation belongs to. */
  readonly project: Project | null;
  /** What is to be written where the conversation does not say so yet. */
  readonly bodies: readonly EntryBody[];
  readonly tools: readonly Tool[];
  readonly #memory: Memory;
  readonly #conversation: Conversation;
  readonly #scopes: readonly MemoryScope[];
  #block: Promise<StableBlock> | null = null;
  #recalled: { readonly query: string; readonly texts: Promise<readonly string[]> } | null = null;

  private constructor(
    memory: Memory,
    conversation: Conversation,
    owner: { readonly project: Project | null; readonly bodies: readonly EntryBody[] },
  ) {
    this.#memory = memory;
    this.#conversation = conversation;
    this.project = owner.project;
    this.bodies = owner.bodies;
    this.#scopes = scopesFor(owner.project);
    this.tools = memoryTools(memory, { project: owner.project, conversation: conversation.id });
  }

  static async open(
    memory: Memory,
    conversation: Conversation,
    cwd: string | null,
  ): Promise<ConversationMemory> {
    const owner = await conversationProject(conversation, cwd, (id) => memory.hasProject(id));
    return new ConversationMemory(memory, conversation, owner);
  }

  /** All that is remembered for this conversation. */
  memories(): Promise<readonly ScopedMemory[]> {
    return this.#memory.memories(this.#scopes);
  }

  /** What the system prompt says of memory: the same for every call of a turn, whatever is saved in it. */
  async block(): Promise<string | null> {
    return (await this.#stable()).text;
  }

  #stable(): Promise<StableBlock> {
    this.#block ??= this.memories().then((all) => stableBlock(all));
    return this.#block;
  }

  /** What is recalled for the newest words of a person. */
  async recall(messages: readonly ContextMessage[]): Promise<readonly string[]> {
    const query = queryIn(messages);
    if (this.#recalled?.query !== query) this.#recalled = { query, texts: this.#find(query) };
    return this.#recalled.texts;
  }

  async #find(text: string): Promise<readonly string[]> {
    const query = memoryQuery(text);
    if (query.words.size === 0 && query.paths.length === 0) return [];
    const { whole } = await this.#stable();
    const all = (await this.memories()).filter(({ memory }) => !whole.has(memory.entry));
    const scopeOf = new Map(all.map(({ memory, scope }) => [memory, scope]));
    const nowMs = this.#memory.nowMs();
    const hits = rankMemories([...scopeOf.keys()], query, { nowMs }).map(({ memory }) => ({
      memory,
      scope: scopeOf.get(memory) ?? "user",
    }));
    const { project } = this;
    const place = { conversation: this.#conversation, nowMs };
    const summaries =
      project === null ? [] : await otherSummaries(this.#memory, { ...place, project }, query);
    return [recallBlock(hits, query), summariesBlock(summaries, query)].filter((block) => block !== null);
  }
}

/** What memory has for a conversation in this folder; null where the host has none. */
export async function memoryOf(
  { memory }: { readonly memory: Memory | null },
  conversation: Conversation,
  cwd: string | null,
): Promise<ConversationMemory | null> {
  return memory === null ? null : ConversationMemory.open(memory, conversation, cwd);
}

/** A tool of the host's own that has the same name comes before ours. */
export function withMemoryTools(
  tools: readonly Tool[],
  memory: Pick<ConversationMemory, "tools"> | null,
): readonly Tool[] {
  const names = new Set(tools.map(({ name }) => name));
  return [...tools, ...(memory?.tools ?? []).filter(({ name }) => !names.has(name))];
}

/** The newest words of a person, as far as a query takes them. */
function queryIn(messages: readonly ContextMessage[]): string {
  const prompt = messages.findLast(({ role }) => role === "user");
  const texts = (prompt?.content ?? []).flatMap((block) => (block.type === "text" ? [block.text] : []));
  return texts.join("\n").slice(0, QUERY_CHARS_MAX);
}
