import { type Fields, fieldsIn, listIn, textIn } from "#log/json/json-fields";
import type { RecordReader } from "#vendors/vendor";
import { answerId, messagesIn } from "./transcript-messages.ts";

/** Gathers the messages of a transcript: those of the branch that Claude takes up. */
export function transcriptReader(): RecordReader {
  const links: Link[] = [];
  return {
    add: (record) => {
      const link = parseLink(record);
      if (link !== null) links.push(link);
    },
    messages: () => messagesIn(lastBranch(links)),
  };
}

/** A record in the tree that a transcript is. */
interface Link {
  readonly uuid: string;
  readonly parent: string | null;
  /** Only passed through on the way to the root: it neither ends a branch nor keeps another from ending one. */
  readonly passing: boolean;
  /** Null when the record holds no message; it still joins what comes before it with what comes after. */
  readonly record: Fields | null;
}

const LINKED: ReadonlySet<string> = new Set(["user", "assistant", "system", "attachment", "progress"]);

/** The place of a record in the tree; null for records outside of the conversation, such as those of sub-agents. */
function parseLink(record: Fields): Link | null {
  const type = textIn(record["type"]) ?? "";
  const uuid = textIn(record["uuid"]);
  if (
    uuid === null ||
    !LINKED.has(type) ||
    record["isSidechain"] === true ||
    record["teamName"] !== undefined
  ) {
    return null;
  }
  // A compaction starts a new root; the messages it summarizes are still part of the conversation.
  const parent = textIn(record["parentUuid"]) ?? textIn(record["logicalParentUuid"]);
  const attachment = textIn(fieldsIn(record["attachment"])?.["type"]);
  const holds = type === "user" || type === "assistant" || attachment === "queued_command";
  const passing = type === "progress" || attachment === "fork_briefing";
  return { uuid, parent, passing, record: holds ? record : null };
}

/**
 * The records of the branch that Claude takes up: from the last leaf of the file to its root. Where a parent is missing,
 * because its line is damaged, Claude goes on with the line before it, and so does this: the gap shows in what is given.
 */
function lastBranch(links: readonly Link[]): readonly Fields[] {
  const path = lastPath(links);
  const onPath = new Set(path.map((link) => link.uuid));
  const off = links.filter((link) => !onPath.has(link.uuid));
  return withSiblings(recordsOf(path), recordsOf(off));
}

function recordsOf(links: readonly Link[]): readonly Fields[] {
  return links.map((link) => link.record).filter((record) => record !== null);
}

function lastPath(links: readonly Link[]): readonly Link[] {
  const places = new Map(links.map((link, place) => [link.uuid, place]));
  const above = ({ uuid, parent }: Link): Link | undefined =>
    parent === null ? undefined : links[places.get(parent) ?? (places.get(uuid) ?? 0) - 1];
  const parents = new Set(links.filter((link) => !link.passing).map((link) => link.parent));
  const empty = new Set<string>();
  for (const leaf of links.toReversed()) {
    if (leaf.passing || parents.has(leaf.uuid)) continue;
    const path: Link[] = [];
    const seen = new Set<string>();
    for (let link: Link | undefined = leaf; link !== undefined; link = above(link)) {
      if (seen.has(link.uuid) || empty.has(link.uuid)) break;
      seen.add(link.uuid);
      path.push(link);
    }
    if (path.some(({ record }) => record !== null)) return path.toReversed();
    for (const { uuid } of path) empty.add(uuid);
  }
  return [];
}

interface Answer {
  /** The last of its records on the branch. */
  last: Fields;
  readonly calls: string[];
  readonly siblings: Fields[];
}

/**
 * Calls made side by side are records of one answer, each with its result below it, and only one of them is an ancestor
 * of what follows. The others belong to the branch as well: they are put behind the part of the answer that is on it.
 */
function withSiblings(branch: readonly Fields[], off: readonly Fields[]): readonly Fields[] {
  const answers = answersOn(branch);
  const answered = new Set(branch.flatMap(callsAnsweredBy));
  const results = new Map<string, Fields>();
  for (const record of off) {
    const answer = answers.get(answerId(record) ?? "");
    answer?.siblings.push(record);
    answer?.calls.push(...callsIn(record));
    for (const call of callsAnsweredBy(record)) results.set(call, record);
  }
  return branch.flatMap((record) => {
    const answer = answers.get(answerId(record) ?? "");
    if (answer === undefined || answer.last !== record) return [record];
    const late = answer.calls.filter((call) => !answered.has(call)).map((call) => results.get(call));
    return [record, ...answer.siblings, ...new Set(late.filter((result) => result !== undefined))];
  });
}

function answersOn(branch: readonly Fields[]): ReadonlyMap<string, Answer> {
  const answers = new Map<string, Answer>();
  for (const record of branch) {
    const id = answerId(record);
    if (id === null) continue;
    const answer = answers.get(id) ?? { last: record, calls: [], siblings: [] };
    answer.last = record;
    answer.calls.push(...callsIn(record));
    answers.set(id, answer);
  }
  return answers;
}

function callsIn(record: Fields): readonly string[] {
  return named(record, "tool_use", "id");
}

function callsAnsweredBy(record: Fields): readonly string[] {
  return named(record, "tool_result", "tool_use_id");
}

function named(record: Fields, type: string, name: string): readonly string[] {
  return listIn(fieldsIn(record["message"])?.["content"])
    .filter((block) => block["type"] === type)
    .map((block) => textIn(block[name]))
    .filter((id) => id !== null);
}
