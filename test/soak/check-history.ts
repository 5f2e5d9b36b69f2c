/** Holds what was answered and sent against the logs as they are in the end. Everything it returns is a violation. */
import type { Entry } from "#log/entry";
import { isNode } from "#log/entry-types";
import {
  callsIn,
  type Ending,
  type FinalLog,
  type History,
  namesIn,
  type Operation,
  type Place,
} from "./history.ts";

type Written = Pick<History, "operations" | "tails" | "crashes" | "relaxed">;

export function checkHistory(history: Written, ending: Ending): readonly string[] {
  const byConversation = Map.groupBy(history.operations, ({ conversation }) => conversation);
  const tails = Map.groupBy(history.tails, ({ conversation }) => conversation);
  const conversations = new Set([...byConversation.keys(), ...tails.keys(), ...ending.logs.keys()]);
  return [
    ...ending.findings.map((finding) => `the store's check: ${finding}`),
    ...[...conversations].flatMap((conversation) => {
      const log = ending.logs.get(conversation) ?? null;
      const operations = byConversation.get(conversation) ?? [];
      const own = tails.get(conversation) ?? [];
      const problems = [
        ...erasure(operations, log, ending.remains.get(conversation) ?? 0),
        ...observations(history, { operations, tails: own, log }),
        ...order(operations, history.crashes),
        ...(log === null ? [] : [...writes(operations, log), ...logProblems(log)]),
      ];
      return problems.map((problem) => `${conversation}: ${problem}`);
    }),
  ];
}

/** Whether it is there follows from what was made and erased. */
function erasure(operations: readonly Operation[], log: FinalLog | null, remains: number): readonly string[] {
  const erases = operations.filter(({ kind }) => kind === "erase");
  const erasedAt = Math.min(...erases.flatMap(({ outcome, to }) => (outcome === "ok" ? [to] : [])));
  const isMade = operations.some(({ kind, outcome }) => kind === "create" && outcome === "ok");
  const mayBeErased = erases.some(({ outcome }) => outcome !== "failed");
  const late = operations.filter(
    ({ kind, from, outcome }) => from > erasedAt && kind !== "erase" && outcome === "ok",
  );
  return [
    ...(log === null && isMade && !mayBeErased ? ["was acknowledged and is lost"] : []),
    ...(log !== null && Number.isFinite(erasedAt) ? ["was erased and is there"] : []),
    ...(Number.isFinite(erasedAt) && remains > 0
      ? [`was erased, and ${remains} rows still have its text`]
      : []),
    ...late.map(({ kind, key }) => `${kind} ${key} was answered after the erase`),
  ];
}

interface Observed extends Pick<Written, "operations" | "tails"> {
  readonly log: FinalLog | null;
}

/** Every entry that was ever seen at a place is there for good, and a tail skips nothing. */
function observations(history: Written, { operations, tails, log }: Observed): readonly string[] {
  const ids = new Map<number, string>(log?.entries.map(({ seq, id }) => [seq, id]));
  const headSeq = log?.entries.length ?? Number.POSITIVE_INFINITY;
  const problems: string[] = [];
  // What a server had read before a crash may come long after it.
  const isTaken = (id: string): boolean => history.crashes.length > 0 && history.relaxed.has(id);
  /** False where a crash took it. */
  const hold = (who: string, [seq, id]: Place): boolean => {
    const known = ids.get(seq);
    if (known === undefined && log === null) ids.set(seq, id);
    else if (known !== id && isTaken(id)) return false;
    else if (known !== id) problems.push(`${who} saw ${id} at ${seq}, where there is ${known ?? "nothing"}`);
    return true;
  };
  for (const { kind, key, seen = [] } of operations) for (const place of seen) hold(`${kind} ${key}`, place);
  for (const [at, { after, seen, isWhole }] of tails.entries()) {
    const who = `tail ${at}`;
    const wrong = seen.findIndex(([seq], index) => seq !== after + 1 + index);
    if (wrong >= 0)
      problems.push(`${who} saw ${seen[wrong]?.[0] ?? ""} where ${after + 1 + wrong} comes next`);
    // What follows an entry that a crash took is of another log.
    const isSame = seen.every((place) => hold(who, place));
    const last = after + seen.length;
    if (isSame && isWhole && log !== null && last < headSeq)
      problems.push(`${who} ended at ${last} of ${headSeq}`);
  }
  return problems;
}

/** Writes follow each other as their answers did, and nobody reads a log that is shorter than what was known before. */
function order(operations: readonly Operation[], crashes: Written["crashes"]): readonly string[] {
  const answered = operations.filter(({ outcome }) => outcome === "ok").toSorted((a, b) => a.to - b.to);
  const asked = answered.toSorted((a, b) => a.from - b.from);
  const problems: string[] = [];
  let [acknowledged, read, readFrom, next] = [0, 0, 0, 0];
  for (const { kind, key, from, to, written, headSeq } of asked) {
    for (let before = answered[next]; before !== undefined && before.to < from; before = answered[++next]) {
      acknowledged = Math.max(acknowledged, before.written?.toSeq ?? 0);
      if ((before.headSeq ?? 0) > read) [read, readFrom] = [before.headSeq ?? 0, before.from];
    }
    // A crash may take what was read and not acknowledged.
    if (crashes.some((crash) => crash.from < to && crash.to > readFrom)) read = 0;
    const known = Math.max(acknowledged, read);
    if (headSeq !== undefined && headSeq < known)
      problems.push(`${kind} ${key} read up to ${headSeq}, after ${known} was known`);
    if (written !== undefined && !written.deduped && written.fromSeq <= known)
      problems.push(`${kind} ${key} was written at ${written.fromSeq}, after ${known} was known`);
  }
  return problems;
}

/** What was acknowledged is there once and where the answer says; what failed is not there. */
function writes(operations: readonly Operation[], log: FinalLog): readonly string[] {
  const places = new Map<string, number[]>();
  const calls = new Map<string, number>();
  for (const entry of log.entries) {
    for (const name of namesIn(entry)) places.set(name, [...(places.get(name) ?? []), entry.seq]);
    for (const name of callsIn(entry)) calls.set(name, (calls.get(name) ?? 0) + 1);
  }
  const acts = Map.groupBy(operations, ({ key }) => key);
  return [
    ...[...acts].flatMap(([key, tries]) => actProblems(key, tries, places)),
    ...[...calls].flatMap(([name, count]) =>
      count > 1 ? [`${name} began its tool call ${count} times`] : [],
    ),
    ...operations.flatMap((one) => answerProblems(one, log)),
  ];
}

function actProblems(
  key: string,
  tries: readonly Operation[],
  places: ReadonlyMap<string, readonly number[]>,
): readonly string[] {
  const names = tries[0]?.names ?? [];
  const counts = names.map((name) => places.get(name)?.length ?? 0);
  const isAcknowledged = tries.some(({ outcome }) => outcome === "ok");
  const isRefused = tries.every(({ outcome }) => outcome === "failed");
  const fresh = tries.filter(({ written }) => written?.deduped === false);
  const answers = new Set(tries.flatMap(({ written }) => (written === undefined ? [] : [written.fromSeq])));
  return [
    ...counts.flatMap((count, at) => (count > 1 ? [`${names[at]} is there ${count} times`] : [])),
    ...(isAcknowledged && counts.includes(0) ? [`${key} was acknowledged and is lost`] : []),
    ...(isRefused && counts.some((count) => count > 0) ? [`${key} failed and is there`] : []),
    ...(new Set(counts).size > 1 ? [`${key} is there in part`] : []),
    ...(fresh.length > 1 ? [`${key} was written anew ${fresh.length} times`] : []),
    ...(answers.size > 1 ? [`${key} was answered with ${[...answers].join(" and ")}`] : []),
  ];
}

function answerProblems({ kind, key, names, written, target }: Operation, log: FinalLog): readonly string[] {
  if (written === undefined) return [];
  const there = log.entries.slice(written.fromSeq - 1, written.toSeq);
  const said = new Set(there.flatMap(namesIn));
  const moved = there.flatMap((entry) => (entry.type === "leaf" ? [entry.target] : []));
  return [
    ...(names.every((name) => said.has(name)) ? [] : [`${kind} ${key} is not where its answer says`]),
    ...(kind === "goto" && !moved.includes(target as never) && !isAt(log, written.fromSeq, target)
      ? [`goto ${key} did not move to ${target ?? ""}`]
      : []),
  ];
}

/** To go where it is already writes nothing. */
function isAt(log: FinalLog, seq: number, target: string | undefined): boolean {
  return leafOf(log.entries.slice(0, seq)) === target;
}

function logProblems({ entries, leaf, problems }: FinalLog): readonly string[] {
  const gaps = entries.flatMap(({ seq }, at) =>
    seq === at + 1 ? [] : [`entry ${at + 1} has the seq ${seq}`],
  );
  const ids = new Set(entries.map(({ id }) => id));
  const followed = leafOf(entries);
  const started = new Set(entries.flatMap((one) => (one.type === "turn_start" ? [one.turn] : [])));
  for (const one of entries) if (one.type === "turn_end") started.delete(one.turn);
  return [
    ...gaps.slice(0, 1),
    ...(ids.size === entries.length ? [] : ["two entries have one id"]),
    ...(followed === leaf ? [] : [`the leaf is ${leaf}, and the log says ${followed}`]),
    ...[...started].map((turn) => `${turn} neither ended nor could be recovered`),
    ...problems,
  ];
}

/** The current entry as the log says it: the last node, or where somebody went after it. */
function leafOf(entries: readonly Entry[]): string {
  let leaf = "";
  for (const entry of entries) {
    if (entry.type === "leaf") leaf = entry.target;
    else if (entry.type === "conversation" && entry.origin !== undefined) leaf = entry.origin.entry;
    else if (isNode(entry)) leaf = entry.id;
  }
  return leaf;
}
