/**
 * A plan as one text. Each parameter of a call costs the server about a microsecond before anything is done, and an append has
 * some thirty of them. Nothing in it may hold the marks between its parts: ids, times, numbers and JSON never do.
 */
const BETWEEN_FIELDS = "\u001f";
const BETWEEN_ROWS = "\u001e"; // no JSON has it unescaped

/** In their order; an empty one is null. Those that begin with "each" hold a value for every entry of the batch. */
const PLAN_FIELDS = [
  "count",
  "version",
  "digest",
  "byOwner",
  "relaxed",
  "born",
  "epoch",
  "ownerSeq",
  "ownerLink",
  "unleased",
  "summarySeq",
  "headSeq",
  "newEpoch",
  "leafId",
  "leafConversation",
  "leafSegment",
  "leafDepth",
  "leafTip",
  "segments",
  "updatedAt",
  "summary",
  "knownSeq",
  "knownLink",
  "nextLink",
  "linkStart",
  "linkEnd",
  "nowMs",
  "eachId",
  "eachType",
  "eachTime",
  "eachParent",
  "eachSegment",
  "eachDepth",
  "eachKind",
  "releases", // what follows "eachKind" the first version of the function does not know
] as const;

export type PlanField = (typeof PLAN_FIELDS)[number];
type PlanValue = string | number | boolean | null | undefined;
export type PlanFields = { readonly [F in PlanField]?: PlanValue | readonly PlanValue[] };

export function packPlan(fields: PlanFields): string {
  return PLAN_FIELDS.map((name) => packed(fields[name])).join(BETWEEN_FIELDS);
}

/** Payloads, or any other column of a batch. */
export function packRows(values: readonly string[]): string {
  return values.join(BETWEEN_ROWS);
}

function packed(value: PlanFields[PlanField]): string {
  if (typeof value === "object" && value !== null) return value.map(packed).join(BETWEEN_ROWS);
  return value === null || value === undefined || value === false ? "" : String(value);
}

/** The parts of what a function answered. */
export function unpacked(answer: string): readonly string[] {
  return answer.split(BETWEEN_FIELDS);
}

/** In SQL: a plan as an array of its fields, one of them, the values of one, and an answer. */
export const planArray = (text: string): string => `string_to_array(${text}, E'\\x1f', '')`;
export const planField = (plan: string, name: PlanField): string =>
  `${plan}[${PLAN_FIELDS.indexOf(name) + 1}]`;
export const planRows = (text: string): string => `string_to_array(${text}, E'\\x1e', '')`;
export const answered = (...parts: readonly string[]): string =>
  parts.map((part) => `coalesce(${part}, '')`).join(" || E'\\x1f' || ");
