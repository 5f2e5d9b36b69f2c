import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine, safeText } from "#transfer/views/safe-text";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { ChangedWords } from "./call-pair.tsx";
import type { DiffChange, DiffPart } from "./compared-rows.ts";

const SHOWN_MAX = 8_000;
const PROMPT_MAX = 200;

const textOf = (part: DiffPart | undefined): string | null =>
  part === undefined || part.kind === "call" ? null : part.text;

const COUNTED_MAX = 100_000;

/** How many words, and of a very long text how many at least. */
function wordsText(text: string): string {
  const count = text.slice(0, COUNTED_MAX).match(/\S+/g)?.length ?? 0;
  return `${text.length > COUNTED_MAX ? "over " : ""}${countText(count, "word")}`;
}

function foldText(change: DiffChange): string {
  const [a, b] = [textOf(change.a), textOf(change.b)];
  if (change.op === "same") return `Same text: ${wordsText(a ?? "")}`;
  if (a === null) return `Text only in B: ${wordsText(b ?? "")}`;
  if (b === null) return `Text only in A: ${wordsText(a)}`;
  return `Text differs: ${wordsText(a)} in A, ${wordsText(b)} in B`;
}

function SaidSide({ change, side }: { readonly change: DiffChange; readonly side: "a" | "b" }): JSX.Element {
  const [a, b] = [textOf(change.a), textOf(change.b)];
  const own = side === "a" ? a : b;
  if (own === null) return <div class="call none">{`not in ${side.toUpperCase()}`}</div>;
  return (
    <div class={`call said in-${side}`}>
      <span class={`letter side-${side}`}>{side.toUpperCase()}</span>
      {a === null || b === null || change.op === "same" ? (
        safeText(own.slice(0, SHOWN_MAX))
      ) : (
        <ChangedWords a={a} b={b} side={side} />
      )}
    </div>
  );
}

/** What was said: folded, for two models never word an answer alike. */
export function SaidRow({ change }: { readonly change: DiffChange }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  return (
    <div class="pair">
      <button class="prose-fold" type="button" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name={isOpen ? "down" : "right"} />
        {foldText(change)}
      </button>
      {isOpen ? (
        <>
          <SaidSide change={change} side="a" />
          <span />
          <SaidSide change={change} side="b" />
        </>
      ) : null}
    </div>
  );
}

/** A prompt begins a turn. */
export function TurnLine({ change }: { readonly change: DiffChange }): JSX.Element {
  const part = change.a ?? change.b;
  const words = safeLine((textOf(part) ?? "").slice(0, PROMPT_MAX));
  const note = {
    same: "same prompt",
    changed: "different prompt in B",
    removed: "only in A",
    added: "only in B",
  }[change.op];
  return (
    <div class="turn-line">
      <span class="turn-number">{`Turn ${part?.turn ?? 1}`}</span>
      <b class="cut">{`“${words}”`}</b>
      <span class="faint">{note}</span>
    </div>
  );
}

/** What each side was asked, where they were not asked the same. */
export function PromptPair({ change }: { readonly change: DiffChange }): JSX.Element | null {
  if (change.op !== "changed") return null;
  return (
    <div class="pair">
      <SaidSide change={change} side="a" />
      <div class="mk">
        ~<span class="w">prompt</span>
      </div>
      <SaidSide change={change} side="b" />
    </div>
  );
}
