import type { JSX } from "preact";
import { safeLine, shortId } from "#transfer/views/safe-text";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText, spentText, tokensText } from "../../parts/numbers.ts";
import { conversationAddress } from "../../router/addresses.ts";
import type { Compared, DiffChange, SideTotals } from "./compared-rows.ts";

const COMMON = {
  ancestor: "from the last shared entry",
  copy: "from the end of the copied part",
  seeds: "from the shared run inputs",
  starts: "from the start: they share no entries",
} as const;

/** Where they part, in one line. */
export function partingText({ divergence, same }: Pick<Compared, "divergence" | "same">): string {
  if (same || divergence === null) return "Both sides are the same.";
  const { kind, a, b, sameBefore } = divergence;
  const turn = a === null || b === null || a.turn === b.turn ? (a ?? b)?.turn : null;
  const where = turn == null ? `turn ${a?.turn ?? 1} of A and ${b?.turn ?? 1} of B` : `turn ${turn}`;
  const what = {
    text: "Only the text differs from",
    result: "A call returned a different result in",
    call: "They differ from",
    prompt: "They differ from",
  };
  const after = sameBefore === 0 ? "" : `, after ${countText(sameBefore, "equal call")}`;
  return `${what[kind]} ${where}${after}.`;
}

/** How many calls and prompts are other, and beside them texts, of which two models never have the same. */
function countsText(changes: Compared["changes"]): string {
  const of = (op: DiffChange["op"], isText: boolean): number =>
    changes.filter((change) => change.op === op && (change.kind === "text") === isText).length;
  const text = (count: number): string => count.toLocaleString("en-US");
  const texts = of("changed", true) + of("removed", true) + of("added", true);
  const acts = `${text(of("changed", false))} changed, ${text(of("removed", false))} only in A, ${text(of("added", false))} only in B`;
  return texts === 0 ? `${acts}.` : `${acts}; texts differ in ${countText(texts, "place")}.`;
}

export function Verdict({ compared }: { readonly compared: Compared }): JSX.Element {
  const { same, common, changes, a } = compared;
  return (
    <div class={same ? "verdict is-same" : "verdict"} role="status">
      <Icon name={same ? "check" : "x"} />
      <span class="grow">
        <strong class="strong" data-testid="parting">
          {partingText(compared)}
        </strong>{" "}
        <span class="muted">
          {same ? "" : `${countsText(changes)} `}Compared {COMMON[common.kind]}
          {common.a === null ? null : (
            <>
              {" "}
              <a class="mono" href={conversationAddress(a.conversation, "", { leaf: a.entry, at: common.a })}>
                {shortId(common.a)}
              </a>
            </>
          )}
          .
        </span>
      </span>
    </div>
  );
}

function wallText(ms: number): string {
  const seconds = Math.round(ms / 1_000);
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** By how much B is more or less than A, in percent where that says something. */
function changeText(a: number | null, b: number | null): string {
  if (a === null || b === null) return "–";
  if (a === b) return "0";
  if (a === 0) return "new";
  const percent = Math.round(((b - a) / a) * 100);
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent)} %`;
}

/** Which tools one side called more often than the other. */
function toolsText(a: SideTotals["tools"], b: SideTotals["tools"]): string {
  const names = [...new Set([...Object.keys(a), ...Object.keys(b)])].toSorted();
  const parts = names.flatMap((name) => {
    const more = (b[name] ?? 0) - (a[name] ?? 0);
    return more === 0
      ? []
      : [`${more > 0 ? "+" : "−"}${safeLine(name)}${Math.abs(more) > 1 ? ` ×${Math.abs(more)}` : ""}`];
  });
  return parts.length === 0 ? "the same tools" : parts.slice(0, 12).join(", ");
}

const tokensIn = ({ inputTokens, outputTokens }: SideTotals): number => inputTokens + outputTokens;

/** A, B and the change from one to the other. */
export function Figures({ compared: { a, b } }: { readonly compared: Compared }): JSX.Element {
  const [one, other] = [a.totals, b.totals];
  const rows: readonly (readonly [string, string, string, string])[] = [
    [
      "Turns",
      countText(one.turns, "turn"),
      countText(other.turns, "turn"),
      changeText(one.turns, other.turns),
    ],
    ["Tool calls", String(one.calls), String(other.calls), toolsText(one.tools, other.tools)],
    [
      "Tokens",
      tokensText(tokensIn(one)),
      tokensText(tokensIn(other)),
      changeText(tokensIn(one), tokensIn(other)),
    ],
    ["Cost", spentText(one), spentText(other), changeText(one.costMicros, other.costMicros)],
    ["Wall time", wallText(one.wallMs), wallText(other.wallMs), changeText(one.wallMs, other.wallMs)],
  ];
  return (
    <table class="compare-figures">
      <caption class="sr">What each side took, from where they are compared</caption>
      <thead>
        <tr>
          <td />
          <th scope="col">
            <span class="side-a">A</span>
          </th>
          <th scope="col">
            <span class="side-b">B</span>
          </th>
          <th scope="col">
            <span aria-hidden="true">Δ</span>
            <span class="sr">Change</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(([name, ...cells]) => (
          <tr key={name}>
            <th scope="row">{name}</th>
            {cells.map((cell, at) => (
              <td key={at}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
