import type { Entry } from "#log/entry";
import { isNode } from "#log/entry-types";
import type { EntryId } from "#log/ids";
import { type Context, ContextReader, isBlank } from "./context.ts";
import type { Issue } from "./issues.ts";
import type { ContextMessage } from "./pairs.ts";
import { type LatestReply, type LatestSettings, modelRepliedWith, settingsOf } from "./settings.ts";
import { EMPTY_WINDOW, type WindowBounds } from "./window.ts";

/** Where the branch of a context ends. */
interface BranchEnd {
  readonly id: EntryId;
  readonly depth: number;
}

/** The entries read besides those of the window. */
export interface WindowFacts {
  readonly bounds: WindowBounds;
  readonly settings: LatestSettings;
  readonly leaf: BranchEnd;
  readonly replied: LatestReply | null;
}

/** Entries that say nothing of a context: neither nodes, nor do they hide one or move the branch's end. */
function concernsContext(entry: Pick<Entry, "type">): boolean {
  return entry.type === "hide" || entry.type === "leaf" || isNode(entry);
}

/**
 * A context that grows with its branch: what is appended is added at its end, at the cost of the turn it belongs to. It is
 * read newest first, like every context; the part before the newest prompt whose calls and results are all behind it is made
 * once, and only the rest is made again.
 */
export class GrowingContext {
  /** Newest first while it is read, oldest first from `begin` on. */
  #tail: Entry[] = [];
  readonly #hidden = new Set<EntryId>();
  /** Takes entries older than the tail; null until there are some. */
  #older: ContextReader | null = null;
  #messages: readonly ContextMessage[] = [];
  #issues: readonly Issue[] = [];
  #facts: WindowFacts | null = null;
  #context: Context | null = null;

  add(entries: Iterable<Entry>, hidden: ReadonlySet<EntryId>): void {
    if (this.#older !== null) return this.#older.add(entries, hidden);
    const read = [...entries];
    for (const [index, entry] of read.entries()) {
      this.#tail.push(entry);
      if (hidden.has(entry.id)) this.#hidden.add(entry.id);
      if (startsAnew(entry, this.#hidden) && hasItsCalls(this.#tail.toReversed(), this.#hidden))
        return this.#beginOlder().add(read.slice(index + 1), hidden);
    }
  }

  /** Entries before a compaction are marked as such, whichever part they are in. */
  #beginOlder(): ContextReader {
    this.#older = new ContextReader();
    this.#older.add(
      this.#tail.filter(({ type }) => type === "compaction"),
      this.#hidden,
    );
    return this.#older;
  }

  /** Nothing older is added after this. */
  begin(facts: WindowFacts): this {
    this.#facts = facts;
    // No prompt to begin with: all of it is made as one, and a result that comes for it is not found in a tail.
    if (this.#older === null) {
      this.#older = new ContextReader();
      this.#older.add(this.#tail, this.#hidden);
      this.#tail = [];
    }
    const { messages, issues } = this.#older.result(facts.bounds, NO_SETTINGS, facts.leaf.id);
    [this.#messages, this.#issues] = [messages, issues];
    this.#tail = this.#tail.toReversed();
    return this;
  }

  /** Adds the next entry of the log; false: its effect cannot be derived from here, and the context is read again. */
  extend(entry: Entry): boolean {
    const facts = this.#facts;
    if (facts === null || !concernsContext(entry)) return facts !== null;
    if (entry.type === "leaf") return entry.target === facts.leaf.id;
    if (entry.type === "hide" || entry.parentId !== facts.leaf.id) return false;
    if (entry.type === "compaction" || entry.type === "reset") return false;
    // What opens a context depends on all that stands before it.
    if (isAnswer(entry) && this.context().messages.length === 0) return false;
    if (startsAnew(entry, this.#hidden)) this.#fold();
    this.#tail.push(entry);
    if (isResult(entry) && !hasItsCalls(this.#tail, this.#hidden)) return false;
    this.#facts = grown(facts, entry);
    this.#context = null;
    return true;
  }

  /** The tail is as it will stay: its messages join those before it. */
  #fold(): void {
    const { messages, issues } = this.#tailContext();
    this.#messages = [...this.#messages, ...messages];
    this.#issues = inOrder(this.#issues, issues);
    this.#tail = [];
  }

  #tailContext(): Pick<Context, "messages" | "issues"> {
    const reader = new ContextReader();
    reader.add(this.#tail.toReversed(), this.#hidden);
    return reader.result(EMPTY_WINDOW, NO_SETTINGS, "");
  }

  /** The same object until something is added. */
  context(): Context {
    if (this.#context !== null) return this.#context;
    if (this.#facts === null) throw new TypeError("Read all entries of the window first");
    const { bounds, settings, leaf, replied } = this.#facts;
    const tail = this.#tailContext();
    this.#context = {
      ...settingsOf(settings, modelRepliedWith(replied, leaf.depth)),
      leaf: leaf.id,
      messages: [...this.#messages, ...tail.messages],
      compaction: bounds.compaction?.id ?? null,
      issues: inOrder(this.#issues, tail.issues),
    };
    return this.#context;
  }

  /** The node its branch ends with; null before it has begun. */
  get leaf(): EntryId | null {
    return this.#facts?.leaf.id ?? null;
  }

  /** How many messages it holds, about. */
  get size(): number {
    return this.#messages.length + this.#tail.length;
  }
}

const NO_SETTINGS = { model: null, config: {}, skills: [], state: null } as const;

function startsAnew(entry: Entry, hidden: ReadonlySet<EntryId>): boolean {
  if (entry.type !== "message" || entry.message.role !== "user" || hidden.has(entry.id)) return false;
  return !entry.message.content.every(isBlank);
}

function isAnswer(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}

function isResult(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "toolResult";
}

/** Whether every result among entries, oldest first, follows a call of its own among them that is not hidden. */
function hasItsCalls(entries: readonly Entry[], hidden: ReadonlySet<EntryId>): boolean {
  const calls = new Set<string>();
  for (const entry of entries) {
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "toolResult" && !calls.has(message.toolCallId)) return false;
    if (message.role === "assistant" && !hidden.has(entry.id))
      for (const block of message.content) if (block.type === "toolCall") calls.add(block.id);
  }
  return true;
}

function grown(facts: WindowFacts, entry: Entry): WindowFacts {
  const depth = facts.leaf.depth + 1;
  const summary =
    entry.type === "message" && entry.message.role === "assistant" ? entry.message.model : undefined;
  const isSet = SET_BY.has(entry.type);
  return {
    ...facts,
    leaf: { id: entry.id, depth },
    replied: summary === undefined ? facts.replied : { model: summary, depth },
    settings: isSet ? { ...facts.settings, [entry.type]: Object.assign(entry, { depth }) } : facts.settings,
  };
}

const SET_BY: ReadonlySet<Entry["type"]> = new Set([
  "model_change",
  "config_change",
  "skill_change",
  "state_change",
]);

/** As one reader gives them: results that were left out, then calls without one, each in the order of the log. */
function inOrder(older: readonly Issue[], newer: readonly Issue[]): readonly Issue[] {
  if (newer.length === 0) return older;
  const isOrphan = ({ kind }: Issue): boolean => kind === "orphan_call";
  const all = [...older, ...newer];
  return [...all.filter((issue) => !isOrphan(issue)), ...all.filter(isOrphan)];
}
