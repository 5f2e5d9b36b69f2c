import type { Entry, EntryOf, Fidelity, PriorContextCounts } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { fieldsOf } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { type ToolCall, detailsOf } from "#log/message";
import { EffectLedger, type Effect } from "./effects.ts";
import { priorContextOf } from "./sent-context.ts";

/** A node of a branch. */
export interface ThreadNode {
  readonly entry: Entry;
  /** The conversation whose log holds it; null: its own. */
  readonly source: ConversationId | null;
  readonly hidden: boolean;
}

/** A fact, and the index of the first node after it. */
export interface ThreadFact {
  readonly fact: Entry;
  readonly source: ConversationId | null;
  readonly before: number;
}

/** A stretch of a branch with the facts between its nodes, oldest first. */
export interface ThreadStretch {
  readonly nodes: readonly ThreadNode[];
  /** Of turns of this branch. */
  readonly facts: readonly ThreadFact[];
  /** Whether the log records the start of a tool before it runs. */
  readonly recordsIntents: boolean;
  /** The turn that runs at the end of the branch: its first entry, and calls that wait for an answer. */
  readonly running: { readonly sinceSeq: number; readonly asked: ReadonlySet<string> } | null;
  /** The agent sessions that carried a message, by their places in the chain. */
  readonly carriersOf: (message: EntryId) => readonly number[];
  readonly msBetween: (from: string, to: string) => number;
  /** The place in the chain of the session that starts at an entry of a log; null: none starts there. */
  readonly linkAt: (seq: number, source: ConversationId | null) => SessionStart | null;
}

export interface SessionStart {
  readonly link: number;
  /** No session of the same log came before it. */
  readonly isFirst: boolean;
}

export type CallState = Effect["state"] | "running" | "asked";

/** A tool call of a message that has no result, or the call that a result belongs to. */
export interface ThreadCall {
  readonly call: string;
  readonly name: string;
  readonly input: Json;
  readonly state: CallState;
  /** How it ended, where that is more than that it failed. */
  readonly how: "refused" | "stopped" | null;
  readonly hasResult: boolean;
  /** From its start to its result; null where not both are known. */
  readonly tookMs: number | null;
}

/** Something that happened to the session or the turn between two entries. */
export type ThreadChange = { readonly seq: number; readonly time: string } & (
  | {
      readonly kind: "session";
      readonly reason: string;
      /** Its place in the chain. */
      readonly link: number | null;
      /** Why the session before it ended. */
      readonly ended: string | null;
      readonly fidelity: Fidelity | null;
      readonly priorContext: PriorContextCounts | null;
    }
  /** The same session was sent the prompt again before it answered. */
  | { readonly kind: "again"; readonly isRestarted: boolean }
  | { readonly kind: "parked"; readonly until: string }
  | { readonly kind: "broken"; readonly outcome: string; readonly class: string | null }
);

/** Why you should not fork at an entry. */
export type ForkProblem = "failed_answer" | "cut_off_answer" | "calls_open" | "other_calls_open";

/** A node as a thread shows it. */
export interface ThreadRow {
  readonly source: ConversationId | null;
  readonly hidden: boolean;
  /** The sessions that carried it, in turn, and the last one of the node before it. */
  readonly carriers: readonly number[];
  readonly carrierBefore: number | null;
  /** How long nothing happened before it, where that was long. */
  readonly idleMs: number | null;
  readonly noFork: ForkProblem | null;
  readonly calls: readonly ThreadCall[];
  /** What happened between the node before and this one. */
  readonly changes: readonly ThreadChange[];
}

const IDLE_MS_MIN = 5 * 60_000;
/** Calls and their results are looked for so far apart. */
export const CALL_REACH = 200;

/** Makes rows of a stretch; what surrounds a row is taken from the nodes around it. */
export class ThreadRows {
  readonly #stretch: ThreadStretch;
  readonly #changes: ReadonlyMap<number, readonly ThreadChange[]>;
  readonly #effects: EffectIndex;

  constructor(stretch: ThreadStretch) {
    this.#stretch = stretch;
    this.#changes = changesOf(stretch);
    this.#effects = effectsIn(stretch);
  }

  /** The row of a node by its index in the stretch. */
  row(index: number): ThreadRow {
    const { nodes, msBetween } = this.#stretch;
    const node = nodes[index];
    if (node === undefined) throw new TypeError(`Entry ${index} is not in this part of the branch`);
    const before = nodes[index - 1]?.entry;
    const idleMs = before === undefined ? 0 : msBetween(before.time, node.entry.time);
    return {
      source: node.source,
      hidden: node.hidden,
      carriers: this.#carriersAt(index),
      carrierBefore: this.#carriersAt(index - 1).at(-1) ?? null,
      idleMs: idleMs >= IDLE_MS_MIN ? idleMs : null,
      noFork: forkProblem(nodes, index),
      calls: this.#callsAt(index, node),
      changes: this.changesBefore(index),
    };
  }

  /** What happened before the node of an index; after the last one, with the number of nodes. */
  changesBefore(index: number): readonly ThreadChange[] {
    return this.#changes.get(index) ?? [];
  }

  /** A node that is not a message goes with the message before it. */
  #carriersAt(index: number): readonly number[] {
    const { nodes, carriersOf } = this.#stretch;
    const message = nodes.slice(0, index + 1).findLastIndex(({ entry }) => entry.type === "message");
    const node = nodes[message];
    if (node === undefined) return [];
    const carriers = carriersOf(node.entry.id);
    return message === index ? carriers : carriers.slice(-1);
  }

  #callsAt(index: number, { entry, source }: ThreadNode): readonly ThreadCall[] {
    if (entry.type !== "message") return [];
    if (entry.message.role === "toolResult") return [this.#answeredCall(index, entry)];
    const { running } = this.#stretch;
    const isRunning = running !== null && source === null && entry.seq > running.sinceSeq;
    return callsIn(entry).flatMap((call) => {
      const effect = this.#effects.called.get(`${entry.id}/${call.id}`);
      return effect === undefined || effect.outcome === null ? [this.#openCall(call, effect, isRunning)] : [];
    });
  }

  #openCall({ id, name, input }: ToolCall, effect: Effect | undefined, isRunning: boolean): ThreadCall {
    const open = this.#stretch.running?.asked.has(id) === true ? "asked" : "running";
    const state = isRunning ? open : (effect?.state ?? "unknown");
    return { call: id, name, input, state, how: null, hasResult: false, tookMs: null };
  }

  #answeredCall(index: number, entry: EntryOf<"message">): ThreadCall {
    const { toolCallId = "", toolName = "tool", isError = false } = entry.message as Result;
    const { nodes } = this.#stretch;
    const made = nodes
      .slice(0, index)
      .toReversed()
      .flatMap((node) => callsIn(node.entry).find(({ id }) => id === toolCallId) ?? [])[0];
    const effect = this.#effects.outcomes.get(entry.id);
    const { refusedBy, stopped } = fieldsOf(detailsOf(entry));
    return {
      call: toolCallId,
      name: made?.name ?? toolName,
      input: made?.input ?? null,
      state: isError || effect?.state === "not_started" ? "failed" : "done",
      how: typeof refusedBy === "string" ? "refused" : stopped === true ? "stopped" : null,
      hasResult: true,
      tookMs: this.#tookMs(index, toolCallId, entry.time),
    };
  }

  #tookMs(index: number, call: string, until: string): number | null {
    const begun = this.#stretch.facts.findLast(
      ({ fact, before }) => before <= index && fact.type === "tool_intent" && fact.call === call,
    );
    const ms = begun === undefined ? -1 : this.#stretch.msBetween(begun.fact.time, until);
    return ms >= 0 ? ms : null;
  }
}

interface Result {
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly isError?: boolean;
}

interface EffectIndex {
  /** By the entry that made the call and the call's id. */
  readonly called: ReadonlyMap<string, Effect>;
  readonly outcomes: ReadonlyMap<EntryId, Effect>;
}

function effectsIn({ nodes, facts, recordsIntents }: ThreadStretch): EffectIndex {
  const ledger = new EffectLedger(recordsIntents);
  let next = 0;
  for (let index = 0; index <= nodes.length; index++) {
    for (let one = facts[next]; one !== undefined && one.before <= index; one = facts[++next])
      ledger.add(one.fact);
    const node = nodes[index];
    if (node !== undefined) ledger.add(node.entry);
  }
  const effects = ledger.result();
  return {
    called: new Map(effects.flatMap((one) => (one.calledBy ? [[`${one.calledBy}/${one.call}`, one]] : []))),
    outcomes: new Map(effects.flatMap((one) => (one.outcome ? [[one.outcome, one]] : []))),
  };
}

export function callsIn(entry: Entry): readonly ToolCall[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
}

function changesOf({ facts, linkAt }: ThreadStretch): ReadonlyMap<number, readonly ThreadChange[]> {
  const gaps = Map.groupBy(facts, ({ before }) => before);
  return new Map([...gaps].map(([before, inGap]) => [before, changesIn(inGap, linkAt)]));
}

/** What facts between two nodes changed. The first session of a log replaces none. */
function changesIn(
  facts: readonly Omit<ThreadFact, "before">[],
  linkAt: ThreadStretch["linkAt"],
): readonly ThreadChange[] {
  return facts.flatMap(({ fact, source }, index): readonly ThreadChange[] => {
    const { seq, time } = fact;
    if (fact.type === "upstream_link") {
      const start = linkAt(seq, source);
      return start?.isFirst === true ? [] : [sessionChange(facts, index, fact, start?.link ?? null)];
    }
    if (fact.type === "attempt") {
      const before = attemptBefore(facts, index, fact);
      return before === null
        ? []
        : [{ kind: "again", seq, time, isRestarted: before.process !== fact.process }];
    }
    if (fact.type !== "turn_end") return [];
    if (fact.resetAt !== undefined) return [{ kind: "parked", seq, time, until: fact.resetAt }];
    if (fact.outcome === "completed") return [];
    return [{ kind: "broken", seq, time, outcome: fact.outcome, class: fact.class ?? null }];
  });
}

type Facts = readonly { readonly fact: Entry }[];

function sessionChange(
  facts: Facts,
  index: number,
  { seq, time, reason, upstream }: EntryOf<"upstream_link">,
  link: number | null,
): ThreadChange {
  const ended = facts.slice(0, index).findLast(({ fact }) => fact.type === "upstream_end")?.fact;
  const first = facts
    .slice(index)
    .find(({ fact }) => fact.type === "attempt" && fact.upstream === upstream)?.fact;
  const attempt = first?.type === "attempt" ? first : null;
  return {
    kind: "session",
    seq,
    time,
    reason,
    link,
    ended: ended?.type === "upstream_end" ? ended.reason : null,
    fidelity: attempt?.fidelity ?? null,
    priorContext: attempt === null ? null : (priorContextOf(attempt) ?? null),
  };
}

/** The attempt before one, where the same session was sent the prompt of the same turn. */
function attemptBefore(facts: Facts, index: number, now: EntryOf<"attempt">): EntryOf<"attempt"> | null {
  const before = facts.slice(0, index).findLast(({ fact }) => fact.type === "attempt")?.fact;
  if (before?.type !== "attempt" || now.upstream === undefined) return null;
  return before.turn === now.turn && before.upstream === now.upstream ? before : null;
}

/** A fork at a prompt ends before it, so that one is always safe. */
function forkProblem(nodes: readonly Pick<ThreadNode, "entry">[], place: number): ForkProblem | null {
  const entry = nodes[place]?.entry;
  if (entry?.type !== "message" || entry.message.role === "user") return null;
  const { message } = entry;
  const stop = message.role === "assistant" ? message.stopReason : undefined;
  if (stop === "failed" || stop === "error") return "failed_answer";
  if (stop === "interrupted" || stop === "aborted" || stop === "cancelled") return "cut_off_answer";
  const { calls, index } = openCalls(nodes, place);
  if (calls === 0) return null;
  return index === place ? "calls_open" : "other_calls_open";
}

/** The calls at or before a node without a result up to it, and where they were made. */
function openCalls(
  nodes: readonly Pick<ThreadNode, "entry">[],
  place: number,
): { readonly calls: number; readonly index: number } {
  const answered = new Set<string>();
  for (let index = place; index >= Math.max(0, place - CALL_REACH); index--) {
    const entry = nodes[index]?.entry;
    if (entry?.type !== "message") continue;
    const { message } = entry;
    if (message.role === "user") break;
    if (message.role === "toolResult") answered.add(message.toolCallId);
    else return { calls: callsIn(entry).filter(({ id }) => !answered.has(id)).length, index };
  }
  return { calls: 0, index: place };
}
