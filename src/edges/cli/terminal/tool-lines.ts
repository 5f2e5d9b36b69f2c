import type { Refusal } from "#agent/tools/permissions";
import { fieldsIn, textIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

const [HEAD_LINES, TAIL_LINES, LINE_CHARS] = [4, 4, 400];
const END = /^\[(exit code \d+|ended by \w+|stopped: .*)\]$/;

/** What a tool gave, for a person: how it ended first, then its beginning and its end as they are. The log has all of it. */
export function toolLines(isFailure: boolean, output: string): readonly string[] {
  const lines = output.trimEnd().split("\n");
  const [, end] = END.exec(lines.at(-1) ?? "") ?? [];
  const said = end === undefined ? lines : lines.slice(0, -1);
  const shown = headAndTail(said.join("\n").trim() === "" ? [] : said);
  const mark = isFailure ? "✗" : "✓";
  // A command that went well says so by its mark alone.
  const ending = end === undefined || (end === "exit code 0" && shown.length > 0) ? "" : end;
  const [first = "", ...rest] = shown;
  if (shown.length === 0) return [`${mark} ${ending === "" ? "(nothing)" : ending}`];
  if (ending !== "" || rest.length > 0 || /^\s/.test(first))
    return [`${mark} ${ending}`.trimEnd(), ...shown.map((line) => `  ${line}`)];
  return [`${mark} ${first}`];
}

function headAndTail(lines: readonly string[]): readonly string[] {
  const cut = lines.map((line) => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS)}…` : line));
  if (lines.length <= HEAD_LINES + TAIL_LINES + 1) return cut;
  const left = lines.length - HEAD_LINES - TAIL_LINES;
  return [...cut.slice(0, HEAD_LINES), `… ${left} more lines …`, ...cut.slice(-TAIL_LINES)];
}

const DENIALS: { readonly [R in Refusal]: string } = {
  person: "not run: you said no",
  rule: "not run: a rule forbids it",
  nobody: "not run: it asks first, and nobody could be asked",
};

/** Who denied a call, by the details of its result; null: it was not denied. */
export function deniedBy(details: Json = null): Refusal | null {
  const by = textIn(fieldsIn(details)?.["refusedBy"]);
  return by !== null && Object.hasOwn(DENIALS, by) ? (by as Refusal) : null;
}

/** A call that was denied: the text of its result is for the model. */
export function deniedLine(tool: string, by: Refusal): string {
  return `✗ ${tool} was ${DENIALS[by]}`;
}
