import type { JSX } from "preact";
import { type WordChange, wordChanges } from "#log/diff/word-changes";
import { safeLine, safeText, shortId } from "#transfer/views/safe-text";
import { lazy } from "../../parts/lazy.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeIn } from "../../text/changes/edited-text.ts";
import { tellingArgument } from "../../text/telling-argument.ts";
import type { CallPart, DiffChange } from "./compared-rows.ts";

type Side = "a" | "b";

const AROUND = 60; // characters that are the same beside those that are not
const VALUE_MAX = 2_000;
const MEMBERS_MAX = 12;
const SAME_RESULT_MAX = 80;
const RESULT_MAX = 200;
const EDIT_MAX = 20_000;
const EDITED = /^(?:new|old)_?(?:string|text|str)$/i;

const LineDiff = lazy(async () => (await import("../../text/changes/line-diff.tsx")).LineDiff);

const valueText = (value: unknown): string =>
  (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, VALUE_MAX);

/** What is the same is shown around what is not. */
function shortened({ op, text }: WordChange, isFirst: boolean, isLast: boolean): string {
  if (op !== "same" || text.length <= AROUND * 2) return text;
  if (isFirst) return `…${text.slice(-AROUND)}`;
  return isLast ? `${text.slice(0, AROUND)}…` : `${text.slice(0, AROUND)} … ${text.slice(-AROUND)}`;
}

/** One side of two texts, with the words marked that the other does not have. */
export function ChangedWords({
  a,
  b,
  side,
}: {
  readonly a: string;
  readonly b: string;
  readonly side: Side;
}): JSX.Element {
  const skipped = side === "a" ? "added" : "removed";
  const words = wordChanges(a, b).filter(({ op }) => op !== skipped);
  return (
    <span class={`words-${side}`}>
      {words.map((word, at) => {
        const text = safeText(shortened(word, at === 0, at === words.length - 1));
        return word.op === "same" ? text : <mark key={at}>{text}</mark>;
      })}
    </span>
  );
}

function Members({
  change,
  side,
  isEdit,
}: {
  readonly change: DiffChange;
  readonly side: Side;
  /** What it takes away and puts in is shown line by line. */
  readonly isEdit: boolean;
}): JSX.Element | null {
  const members = (change.members ?? []).filter(({ path }) => !isEdit || !EDITED.test(String(path[0])));
  if (members.length === 0) return null;
  return (
    <dl class="members">
      {members.slice(0, MEMBERS_MAX).map(({ path, a, b }) => (
        <div key={path.join("/")}>
          <dt>{safeLine(path.join(".")) || "value"}</dt>
          <dd>
            {(side === "a" ? a : b) === undefined ? (
              <span class="faint">not given</span>
            ) : (
              <ChangedWords a={valueText(a ?? "")} b={valueText(b ?? "")} side={side} />
            )}
          </dd>
        </div>
      ))}
      {members.length > MEMBERS_MAX ? (
        <div class="faint">{`and ${members.length - MEMBERS_MAX} more`}</div>
      ) : null}
    </dl>
  );
}

function ResultLine({ part }: { readonly part: CallPart }): JSX.Element {
  const { result } = part;
  const words = result === null ? "no result recorded" : safeLine(result.text.slice(0, RESULT_MAX));
  return (
    <div class="out">
      <Icon name={result === null ? "dash" : result.isError ? "x" : "check"} />
      <span class="sr">{result === null ? "" : result.isError ? "failed: " : "gave: "}</span>
      <span class="cut">{words === "" ? "nothing" : words}</span>
    </div>
  );
}

interface CallProps {
  readonly change: DiffChange;
  readonly side: Side;
  readonly conversation: string;
  readonly leaf: string | null;
}

function Call({ change, side, conversation, leaf }: CallProps): JSX.Element {
  const part = change[side];
  if (part?.kind !== "call") return <div class="call none">{`not in ${side.toUpperCase()}`}</div>;
  const isChanged = change.op === "changed";
  const edited = change.op === "same" ? null : changeIn(part.input);
  return (
    <div class={`call in-${side}`}>
      <div class="call-head">
        <span class={`letter side-${side}`}>{side.toUpperCase()}</span>
        <span class="tool">{safeLine(part.name)}</span>
        <span class="arg cut">{tellingArgument(part.input)}</span>
        <span class="grow" />
        <a
          class="mono-id"
          href={conversationAddress(conversation, "", { leaf, at: part.entry })}
          aria-label={`Entry ${part.entry} in ${side.toUpperCase()}`}
        >
          {shortId(part.entry)}
        </a>
      </div>
      {isChanged ? <Members change={change} side={side} isEdit={edited !== null} /> : null}
      {edited === null ? null : (
        <LineDiff
          before={edited.before.slice(0, EDIT_MAX)}
          after={edited.after.slice(0, EDIT_MAX)}
          name={`${tellingArgument(part.input) || part.name} in ${side.toUpperCase()}`}
        />
      )}
      <ResultLine part={part} />
    </div>
  );
}

/** The sign of a change, and what it means. */
function markOf({ op, moved, resultDiffers }: DiffChange): readonly [sign: string, words: string] {
  if (op === "changed") return ["~", "args"];
  if (op === "added") return ["+", moved === true ? "only B, moved" : "only B"];
  if (op === "removed") return ["−", moved === true ? "only A, moved" : "only A"];
  return resultDiffers === true ? ["≠", "result"] : ["=", "same"];
}

interface SideAddress {
  readonly conversation: string;
  readonly entry: string | null;
}

/** A call on both sides, or on one. */
export function CallPair({
  change,
  a,
  b,
}: {
  readonly change: DiffChange;
  readonly a: SideAddress;
  readonly b: SideAddress;
}): JSX.Element {
  const [sign, words] = markOf(change);
  return (
    <div class="pair">
      <Call change={change} side="a" conversation={a.conversation} leaf={a.entry} />
      <div class="mk">
        {sign}
        <span class="w">{words}</span>
      </div>
      <Call change={change} side="b" conversation={b.conversation} leaf={b.entry} />
    </div>
  );
}

/** A call that both made, before they part. */
export function SameCall({ part }: { readonly part: CallPart }): JSX.Element {
  const { result } = part;
  return (
    <div class="same-row">
      <span class="eq">
        =<span class="sr"> same in both</span>
      </span>
      <span class="tool">{safeLine(part.name)}</span>
      <span class="arg cut">{tellingArgument(part.input)}</span>
      <span class="faint cut">
        {result === null
          ? "no result recorded"
          : `${safeLine(result.text.slice(0, SAME_RESULT_MAX))}${result.text.length > SAME_RESULT_MAX ? "…" : ""}`}
      </span>
    </div>
  );
}
