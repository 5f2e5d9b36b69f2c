import type { JSX } from "preact";
import { safeText } from "#transfer/views/safe-text";
import { type ChangedLine, changedLines } from "./file-change.ts";

function Line({ line }: { readonly line: ChangedLine }): JSX.Element {
  const { sign, oldLine, newLine, parts } = line;
  return (
    <tr class={sign === "+" ? "a" : sign === "-" ? "d" : ""}>
      <td class="ln">{oldLine}</td>
      <td class="ln">{newLine}</td>
      <td class="sg">{sign === "-" ? "−" : sign}</td>
      <td class="tx">
        {parts.map(({ text, isChanged }, at) =>
          isChanged ? <mark key={at}>{safeText(text)}</mark> : safeText(text),
        )}
      </td>
    </tr>
  );
}

/** What a change takes away and puts in its place, line by line. */
export function LineDiff({
  before,
  after,
  name,
}: {
  readonly before: string;
  readonly after: string;
  readonly name: string;
}): JSX.Element {
  const lines = changedLines(before, after);
  if (lines === null)
    return (
      <pre class="code term" tabIndex={0} role="group" aria-label={`New text of ${name}`}>
        {safeText(after)}
      </pre>
    );
  return (
    <div class="code" tabIndex={0} role="group" aria-label={`Change to ${name}`}>
      <table class="diff">
        <caption class="sr">Change to {name}: lines removed and added</caption>
        <tbody>
          {lines.map((line, at) => (
            <Line key={at} line={line} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
