import { type Fields, fieldsIn, listIn, textIn } from "#log/json/json-fields";

/** The id of the answer that an assistant's record is a part of. */
export function answerId(record: Fields): string | null {
  return record["type"] === "assistant" ? textIn(fieldsIn(record["message"])?.["id"]) : null;
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
export function withSiblings(branch: readonly Fields[], off: readonly Fields[]): readonly Fields[] {
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
