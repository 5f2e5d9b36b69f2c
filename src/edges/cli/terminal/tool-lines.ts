import { type Refusal, refusalText } from "#agent/tools/permissions";

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

const REFUSALS: { readonly [R in Refusal]: string } = {
  person: "not run: you said no",
  rule: "not run: a rule forbids it",
  nobody: "not run: it asks first, and nobody could be asked",
};

/** A call that was not allowed; the words for it are the model's. Null: it was. */
export function notRunLines(tool: string, output: string): readonly string[] | null {
  for (const [by, words] of Object.entries(REFUSALS) as [Refusal, string][])
    if (output === refusalText(tool, by)) return [`✗ ${tool} was ${words}`];
  return null;
}
