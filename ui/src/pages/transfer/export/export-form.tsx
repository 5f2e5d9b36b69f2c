import type { ComponentChildren, JSX } from "preact";
import { changeQuery } from "../../../router/location.ts";
import { BranchChoice } from "./branch-choice.tsx";
import { type ExportChoice, type ExportFormat, FORMATS, type LeftOut } from "./export-choice.ts";

const NAMES: Readonly<Record<ExportFormat, readonly [string, string]>> = {
  html: ["Web page", "One branch as a single self-contained HTML file"],
  markdown: ["Markdown", "One branch as text, with messages in code fences"],
  json: ["JSON", "One branch for programs that display it"],
  bundle: ["Bundle", "Every branch, exact and verifiable. Import it into any store"],
};
const PARTS: readonly (readonly [LeftOut, string])[] = [
  ["thinking", "Thinking"],
  ["tools", "Tool calls and results"],
  ["seeds", "Run inputs (including the system prompt)"],
];

function Setting({
  name,
  children,
}: {
  readonly name: string;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <div class="setting">
      <span>{name}</span>
      <div class="export-choices">{children}</div>
    </div>
  );
}

function Check({
  is,
  children,
  change,
}: {
  readonly is: boolean;
  readonly children: ComponentChildren;
  readonly change: (is: boolean) => void;
}): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={is} onChange={(event) => change(event.currentTarget.checked)} />
      {children}
    </label>
  );
}

function Formats({ format }: { readonly format: ExportFormat }): JSX.Element {
  return (
    <Setting name="Format">
      <span class="seg" role="group" aria-label="Format">
        {FORMATS.map((one) => (
          <button
            key={one}
            type="button"
            aria-pressed={one === format}
            onClick={() => changeQuery({ format: one === "html" ? null : one, read: null })}
          >
            {NAMES[one][0]}
          </button>
        ))}
      </span>
      <span class="faint">{NAMES[format][1]}</span>
    </Setting>
  );
}

function Parts({ leaveOut }: { readonly leaveOut: readonly LeftOut[] }): JSX.Element {
  const change = (part: LeftOut, is: boolean): void => {
    const without = is ? leaveOut.filter((one) => one !== part) : [...leaveOut, part];
    changeQuery({ without: without.join(",") });
  };
  return (
    <Setting name="With">
      {PARTS.map(([part, words]) => (
        <Check key={part} is={!leaveOut.includes(part)} change={(is) => change(part, is)}>
          {words}
        </Check>
      ))}
    </Setting>
  );
}

function Redact({ choice }: { readonly choice: ExportChoice }): JSX.Element {
  const { redact, emails, format, isToBeRead } = choice;
  return (
    <Setting name="Redaction">
      <Check is={redact} change={(is) => changeQuery({ redact: is ? null : "0", read: null })}>
        Remove text that looks like a password, key or token
      </Check>
      {redact ? (
        <Check is={emails} change={(is) => changeQuery({ emails: is ? "1" : null })}>
          Also redact email addresses
        </Check>
      ) : (
        <span class="tag bad export-warning" data-testid="secrets-kept">
          The file contains everything, including secrets
        </span>
      )}
      {redact && format === "bundle" ? (
        <Check is={isToBeRead} change={(is) => changeQuery({ read: is ? "1" : null })}>
          Export as read-only: you can import and view it, but not continue the conversation
        </Check>
      ) : null}
    </Setting>
  );
}

/** What, and how; all of it is in the address. */
export function ExportForm({
  choice,
  branches,
}: {
  readonly choice: ExportChoice;
  readonly branches: number;
}): JSX.Element {
  const { conversation, format, at, leaveOut, withForks } = choice;
  return (
    <section aria-label="Contents">
      <Formats format={format} />
      <Setting name="Branches">
        {format === "bundle" ? (
          <>
            <span>all of them</span>
            <Check is={withForks} change={(is) => changeQuery({ forks: is ? "1" : null })}>
              Include forks, and their forks
            </Check>
          </>
        ) : (
          <BranchChoice conversation={conversation} branches={branches} at={at} />
        )}
      </Setting>
      {format === "bundle" ? null : <Parts leaveOut={leaveOut} />}
      <Redact choice={choice} />
    </section>
  );
}
