import type { Entry } from "#log/entry";
import type { ToolCall } from "#log/message";
import { carriersAt } from "../rules/carriers.ts";
import { whyNoFork } from "../rules/fork-points.ts";
import { idleText } from "../rules/idle-gap.ts";
import { type BranchNodes, firstSent, rangeBehind, sourceAt } from "./branch-nodes.ts";
import { factsBetween, type ThreadState } from "./thread-state.ts";
import { factsOnBranch, type Ribbon, ribbonsOf } from "./turn-facts.ts";

/** A call as it is shown: with what it was given and what came of it. */
export interface ShownCall {
  readonly call: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "done" | "failed" | "unknown" | "running" | "asked" | "not_started";
  readonly result: Entry | null;
  /** From its intent to its result; null where not both are known. */
  readonly tookMs: number | null;
}

/** One place of the branch, with what happened before it. */
export interface ThreadRow {
  readonly place: number;
  readonly entry: Entry;
  readonly ribbons: readonly Ribbon[];
  /** The first session that carried it, and all of them in turn, by their places in the chain. */
  readonly carrier: number | null;
  readonly carriers: readonly number[];
  /** The last of the place before. */
  readonly carrierBefore: number | null;
  readonly isSent: boolean;
  readonly isHidden: boolean;
  readonly isInherited: boolean;
  /** How long nothing happened before it, where that was long. */
  readonly idle: string | null;
  /** Why nothing should go on behind it. */
  readonly noFork: string | null;
  readonly label: string | null;
  readonly siblings: readonly string[];
  /** Calls of a message that nothing answered, and the call that a result answers. */
  readonly calls: readonly ShownCall[];
  readonly cutChars: number | null;
}

function callsIn(entry: Entry): readonly ToolCall[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
}

const CALL_REACH = 200; // a result stands near its call

function callOf({ nodes }: BranchNodes, place: number, call: string): ToolCall | null {
  for (let at = place - 1; at >= Math.max(0, place - CALL_REACH); at--) {
    const entry = nodes.get(at);
    const found = entry === undefined ? undefined : callsIn(entry).find(({ id }) => id === call);
    if (found !== undefined) return found;
  }
  return null;
}

function isAnswered({ nodes, length }: BranchNodes, place: number, call: string): boolean {
  for (let at = place + 1; at < Math.min(length, place + CALL_REACH); at++) {
    const entry = nodes.get(at);
    if (entry === undefined) return true; // not read yet: nothing is claimed of it
    if (entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolCallId === call)
      return true;
  }
  return false;
}

function tookBetween(since: string | undefined, until: string): number | null {
  const ms = since === undefined ? Number.NaN : Date.parse(until) - Date.parse(since);
  return ms >= 0 ? ms : null;
}

/** Where a call was last begun in a log before a seq. */
function begunBefore(
  state: ThreadState,
  source: string | null,
  until: number,
  call: string,
): Entry | undefined {
  return factsBetween(state, { source, after: 0, until }).findLast(
    (fact) => fact.type === "tool_intent" && fact.call === call,
  );
}

function shownCalls(
  state: ThreadState,
  branch: BranchNodes,
  place: number,
  entry: Entry,
): readonly ShownCall[] {
  if (entry.type === "message" && entry.message.role === "toolResult") {
    const { toolCallId, toolName, isError } = entry.message;
    const made = callOf(branch, place, toolCallId);
    const name = made?.name ?? toolName ?? "tool";
    const done = isError === true ? "failed" : "done";
    const begun = begunBefore(state, sourceAt(branch, place), entry.seq, toolCallId);
    const tookMs = tookBetween(begun?.time, entry.time);
    return [{ call: toolCallId, name, input: made?.input ?? null, state: done, result: entry, tookMs }];
  }
  const isRunning = state.live.turn !== null && place >= branch.length - 1;
  const { asked } = derive(state, branch);
  const [source, behind] = [sourceAt(branch, place), rangeBehind(branch, place)];
  const until = behind?.source === source ? behind.until : entry.seq;
  return callsIn(entry)
    .filter(({ id }) => !isAnswered(branch, place, id))
    .map(({ id, name, input }) => {
      const open =
        asked.has(id) && isRunning
          ? "asked"
          : isRunning
            ? "running"
            : begunBefore(state, source, until, id) !== undefined
              ? "unknown"
              : "not_started";
      return { call: id, name, input, state: open, result: null, tookMs: null };
    });
}

/** What many rows need of a state. */
interface Derived {
  readonly firstSent: number;
  /** The first session of each log. */
  readonly firstLinks: ReadonlySet<Entry>;
  readonly ids: ReadonlySet<string>;
  /** Calls that wait for a person. */
  readonly asked: ReadonlySet<string>;
}

function askedCalls(facts: readonly Entry[]): ReadonlySet<string> {
  const answered = new Set(
    facts.flatMap((fact) => (fact.type === "permission_answer" ? [fact.request] : [])),
  );
  return new Set(
    facts.flatMap((fact) =>
      fact.type === "permission" && fact.call !== undefined && !answered.has(fact.request ?? "")
        ? [fact.call]
        : [],
    ),
  );
}

/** The first session of a log by its chain; while the chain says nothing of that log, no session is known to be a later one. */
function firstLink(
  links: ThreadState["links"],
  log: string | null,
  facts: readonly Entry[],
): readonly Entry[] {
  const first = links.find(({ source }) => source === log);
  return facts.filter(
    (fact) =>
      fact.type === "upstream_link" &&
      (first === undefined || (fact.time === first.since && fact.upstream === first.id)),
  );
}

const derivedOf = new WeakMap<ThreadState, Derived>();

function derive(state: ThreadState, branch: BranchNodes): Derived {
  const known = derivedOf.get(state);
  if (known !== undefined) return known;
  const logs = [...state.facts].map(([source, facts]) => [source, [...facts.values()]] as const);
  const made: Derived = {
    firstSent: firstSent(branch),
    firstLinks: new Set(logs.flatMap(([source, facts]) => firstLink(state.links, source, facts))),
    asked: askedCalls(logs.flatMap(([source, facts]) => (source === null ? facts : []))),
    ids: new Set([...branch.nodes.values()].map(({ id }) => id)),
  };
  derivedOf.set(state, made);
  return made;
}

/** What lies behind a place, up to the next node. */
export function ribbonsBehind(state: ThreadState, branch: BranchNodes, place: number): readonly Ribbon[] {
  const range = rangeBehind(branch, place);
  const between = range === null ? [] : factsBetween(state, range);
  if (between.length === 0) return [];
  const { ids, firstLinks } = derive(state, branch);
  return ribbonsOf(
    factsOnBranch(between, (node) => ids.has(node)),
    firstLinks,
  );
}

/** A place as it is shown; null: it is not there yet. */
export function rowAt(state: ThreadState, place: number): ThreadRow | null {
  const { branch, labels, siblings } = state;
  const entry = branch?.nodes.get(place);
  if (branch === null || entry === undefined) return null;
  const before = branch.nodes.get(place - 1);
  const carriers = carriersAt(state, place);
  return {
    place,
    entry,
    ribbons: ribbonsBehind(state, branch, place - 1),
    carrier: carriers[0] ?? null,
    carriers,
    carrierBefore: carriersAt(state, place - 1).at(-1) ?? null,
    isSent: place >= derive(state, branch).firstSent,
    isHidden: branch.hidden.has(entry.id),
    isInherited: sourceAt(branch, place) !== null,
    idle: before === undefined ? null : idleText(before.time, entry.time),
    noFork: whyNoFork(branch, place),
    label: labels.get(entry.id) ?? null,
    siblings: siblings.beside(entry.parentId),
    calls: shownCalls(state, branch, place, entry),
    cutChars: branch.cut.get(entry.id) ?? null,
  };
}
