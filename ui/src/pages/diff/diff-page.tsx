import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { safeLine, shortId } from "#transfer/views/safe-text";
import { client } from "../../data/api-client.ts";
import { useLoaded } from "../../data/loaded.ts";
import { onKey, useKeys } from "../../frame/keys.ts";
import { say } from "../../frame/said.tsx";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { VirtualList, type WindowList } from "../../parts/virtual-list.tsx";
import { conversationAddress } from "../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../router/location.ts";
import { AskForTwo } from "./ask-for-two.tsx";
import { CallPair, SameCall } from "./call-pair.tsx";
import { type Compared, type ComparedRow, comparedOf, comparedRows, differs } from "./compared-rows.ts";
import { PromptPair, SaidRow, TurnLine } from "./said-rows.tsx";
import { Figures, partingText, Verdict } from "./verdict.tsx";

const ROW_HEIGHT = 44;

function Side({ side, compared }: { readonly side: "a" | "b"; readonly compared: Compared }): JSX.Element {
  const { address, conversation, entry, totals } = compared[side];
  const { value } = useLoaded(
    (signal) => client.getConversation({ conversation }, { signal }),
    [conversation],
  );
  const [, at] = address.split("@");
  return (
    <div class="pick">
      <span class={`side-${side}`}>{side.toUpperCase()}</span>
      <a class="strong cut" href={conversationAddress(conversation, "", { leaf: entry })} title={address}>
        {safeLine(value?.title ?? "") || shortId(conversation)}
        {at === undefined ? null : <span class="mono"> @{shortId(at)}</span>}
      </a>
      <span class="sub cut">
        {totals.models.map((model) => safeLine(model)).join(", ") || "no model answered"}
      </span>
    </div>
  );
}

function Sides({ compared }: { readonly compared: Compared }): JSX.Element {
  return (
    <div class="picks">
      <Side side="a" compared={compared} />
      <button
        class="btn quiet icon small swap"
        type="button"
        aria-label="Swap sides"
        onClick={() => changeQuery({ a: compared.b.address, b: compared.a.address })}
      >
        <Icon name="swap" />
      </button>
      <Side side="b" compared={compared} />
    </div>
  );
}

/** Where they part, drawn: one line becomes two. */
function SplitMark({ words }: { readonly words: string }): JSX.Element {
  return (
    <div class="split-mark">
      <svg viewBox="0 0 100 52" preserveAspectRatio="none" aria-hidden="true">
        <line class="trunk" x1="50" y1="0" x2="50" y2="26" vector-effect="non-scaling-stroke" />
        <path class="a" d="M50 26H25V52" vector-effect="non-scaling-stroke" />
        <path class="b" d="M50 26H75V52" vector-effect="non-scaling-stroke" />
      </svg>
      <span class="words">
        <Icon name="x" />
        {words}
      </span>
    </div>
  );
}

function Row({
  rows,
  index,
  compared,
}: {
  readonly rows: readonly ComparedRow[];
  readonly index: number;
  readonly compared: Compared;
}): JSX.Element | null {
  const row = rows[index];
  if (row === undefined) return null;
  if (row.kind === "fork") {
    const turn = (compared.divergence?.a ?? compared.divergence?.b)?.turn ?? 1;
    // Where they part at a prompt, its line stands above the fork: the lines lead to what differs.
    const next = rows[index + 1];
    return (
      <>
        {next?.kind === "turn" ? <TurnLine change={next.change} /> : null}
        <SplitMark words={`First divergence: turn ${turn}`} />
      </>
    );
  }
  const { change, isBefore } = row;
  if (row.kind === "turn")
    return (
      <>
        {rows[index - 1]?.kind === "fork" ? null : <TurnLine change={change} />}
        <PromptPair change={change} />
      </>
    );
  if (row.kind === "text") return <SaidRow change={change} />;
  if (isBefore && change.op === "same" && change.resultDiffers !== true && change.a?.kind === "call")
    return <SameCall part={change.a} />;
  return <CallPair change={change} a={compared.a} b={compared.b} />;
}

/** Goes from one difference to the next. */
function useDifferences(rows: readonly ComparedRow[], list: { readonly current: WindowList | null }) {
  const places = useMemo(() => rows.flatMap((row, at) => (differs(row) ? [at] : [])), [rows]);
  const [now, setNow] = useState(-1);
  useEffect(() => setNow(-1), [rows]);
  const go = (step: number): void => {
    const next = Math.max(0, Math.min(places.length - 1, now + step));
    const place = places[next];
    if (place === undefined) return say("No differences");
    setNow(next);
    list.current?.scrollToIndex(place, { align: "center" });
    say(`Difference ${next + 1} of ${places.length}`);
  };
  useKeys([
    onKey("nextDifference", () => go(1)),
    onKey("previousDifference", () => go(-1)),
    onKey("outOfDiff", () => navigate("/")),
  ]);
  return { go, current: places[now] ?? -1 };
}

function Rows({ hasAll }: { readonly hasAll: boolean }): JSX.Element {
  const choices = [
    [false, "Tool calls", null],
    [true, "Everything", "all"],
  ] as const;
  return (
    <span class="seg" role="group" aria-label="Rows">
      {choices.map(([all, name, view]) => (
        <button key={name} type="button" aria-pressed={all === hasAll} onClick={() => changeQuery({ view })}>
          {name}
        </button>
      ))}
    </span>
  );
}

function Comparison({ compared }: { readonly compared: Compared }): JSX.Element {
  const hasAll = query.value.get("view") === "all";
  const rows = useMemo(() => comparedRows(compared, hasAll), [compared, hasAll]);
  const list = useRef<WindowList | null>(null);
  const { go, current } = useDifferences(rows, list);
  return (
    <section class="compare" aria-labelledby="cmp-h">
      <div class="pane-head">
        <h1 id="cmp-h">Compare</h1>
        {compared.a.conversation === compared.b.conversation ? (
          <a
            class="btn small"
            href={conversationAddress(compared.a.conversation, "tree", {
              a: compared.a.address,
              b: compared.b.address,
            })}
          >
            <Icon name="fork" />
            In the tree
          </a>
        ) : null}
        <span class="grow" />
        <Rows hasAll={hasAll} />
        <button
          class="btn small icon"
          type="button"
          aria-label="Previous difference (p)"
          onClick={() => go(-1)}
        >
          <Icon name="left" />
        </button>
        <button class="btn small icon" type="button" aria-label="Next difference (n)" onClick={() => go(1)}>
          <Icon name="right" />
        </button>
      </div>
      <Sides compared={compared} />
      <Verdict compared={compared} />
      <Figures compared={compared} />
      <div class="calls">
        {rows.length === 0 ? <p class="faint">{partingText(compared)} No calls.</p> : null}
        <VirtualList
          count={rows.length}
          estimate={() => ROW_HEIGHT}
          keyOf={(index) => index}
          role="list"
          rowRole="listitem"
          label="What each side did"
          onReady={(made) => void (list.current = made)}
          render={(index) => (
            <div class={index === current ? "compared-row is-current" : "compared-row"}>
              <Row rows={rows} index={index} compared={compared} />
            </div>
          )}
        />
      </div>
    </section>
  );
}

function Loading({ a, b }: { readonly a: string; readonly b: string }): JSX.Element {
  const { value, error, reload } = useLoaded(
    async (signal) => comparedOf(await client.diff({ a, b, all: true }, { signal })),
    [a, b],
  );
  if (error !== null) return <Failure error={error} retry={reload} />;
  return value === null ? <GhostRows /> : <Comparison compared={value} />;
}

/** Two branches, forks or replays side by side, from where they part. */
export function Page(): JSX.Element {
  const [a, b] = [query.value.get("a") ?? "", query.value.get("b") ?? ""];
  return a === "" || b === "" ? <AskForTwo a={a} b={b} /> : <Loading a={a} b={b} />;
}
