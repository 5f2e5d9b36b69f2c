import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { safeLine } from "#transfer/shown/shown-text";
import { useLoaded } from "../../data/loaded.ts";
import { readTree } from "../../data/whole-tree.ts";
import { useKeys } from "../../frame/keys.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { Icon } from "../../parts/marks/icon.tsx";
import { countText } from "../../parts/numbers.ts";
import { VirtualList } from "../../parts/virtual-list.tsx";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../router/location.ts";
import { openedConversation } from "../conversation/opened-conversation.ts";
import { hasPage } from "../has-page.ts";
import type { PageProps } from "../pages.ts";
import { type Picked, TreeLanes } from "./tree-lanes.tsx";
import { type TreeFilter, type TreeLine, treeLines } from "./tree-layout.ts";

const FILTERS: readonly (readonly [TreeFilter, string])[] = [
  ["default", "Default"],
  ["no-tools", "No tools"],
  ["prompts", "Prompts"],
  ["labelled", "Labelled"],
  ["all", "All"],
];

/** Picks a node as A, then another as B; a third one takes B's place. */
function pick(id: string): void {
  const [a, b] = [query.value.get("a"), query.value.get("b")];
  if (id === a) changeQuery({ a: b, b: null });
  else if (id === b) changeQuery({ b: null });
  else if (a === null) changeQuery({ a: id });
  else changeQuery({ b: id });
}

interface LineProps {
  readonly line: TreeLine;
  readonly conversation: string;
  readonly picked: Picked;
  readonly isFocused: boolean;
  readonly open: () => void;
}

function Line({ line, conversation, picked, isFocused, open }: LineProps): JSX.Element {
  const { node, count, lane } = line;
  const kinds = [
    "tree-row",
    ...(node.kind === "user" ? ["prompt"] : []),
    ...(picked === null ? [] : [`pick-${picked}`]),
  ];
  const isFold = count > 1;
  return (
    <div
      class={kinds.join(" ")}
      role="treeitem"
      aria-level={lane + 1}
      aria-selected={picked !== null}
      aria-expanded={isFold ? false : undefined}
      tabIndex={isFocused ? 0 : -1}
      data-node={node.id}
      onClick={() => (isFold ? open() : pick(node.id))}
    >
      <TreeLanes line={line} picked={picked} />
      <span class="say">
        {isFold ? (
          <>
            <Icon name="right" />
            <span>{countText(count, "entry", "entries")}</span>
          </>
        ) : (
          <span class="cut">
            {node.kind === "user" || node.kind === "assistant" || node.kind === "result"
              ? ""
              : `${node.type.replaceAll("_", " ")} `}
            {safeLine(node.preview)}
          </span>
        )}
      </span>
      <span class="end">
        {node.label === null || isFold ? null : (
          <span class="tag">
            <Icon name="label" />
            {safeLine(node.label)}
          </span>
        )}
        {node.active && !line.goesOn ? <span class="tag ok">active</span> : null}
        {picked === null ? null : <span class={`side-${picked}`}>{picked.toUpperCase()}</span>}
        {isFold ? null : (
          <a
            class="mono-id"
            href={conversationAddress(
              conversation,
              "",
              node.active ? { at: node.id } : { leaf: node.id, at: node.id },
            )}
            tabIndex={-1}
            onClick={(event) => event.stopPropagation()}
          >
            {node.id.slice(0, 8)}
          </a>
        )}
      </span>
    </div>
  );
}

function Filters({ now }: { readonly now: TreeFilter }): JSX.Element {
  return (
    <span class="seg" role="group" aria-label="Which entries">
      {FILTERS.map(([filter, name]) => (
        <button
          key={filter}
          type="button"
          aria-pressed={filter === now}
          onClick={() => changeQuery({ filter: filter === "default" ? null : filter })}
        >
          {name}
        </button>
      ))}
    </span>
  );
}

function CompareButton({ conversation }: { readonly conversation: string }): JSX.Element | null {
  const [a, b] = [query.value.get("a"), query.value.get("b")];
  if (!hasPage("/diff")) return null;
  const address = addressOf("/diff", { a: `${conversation}@${a ?? ""}`, b: `${conversation}@${b ?? ""}` });
  return a === null || b === null ? (
    <span class="faint">Pick two to compare</span>
  ) : (
    <a class="btn primary small" href={address}>
      Compare A and B
    </a>
  );
}

/** Goes through the lines, and does at one what a press does. */
function useTreeKeys(
  lines: readonly TreeLine[],
  at: number,
  {
    conversation,
    setFocused,
    unfold,
  }: {
    readonly conversation: string;
    readonly setFocused: (place: number) => void;
    readonly unfold: (id: string) => void;
  },
): void {
  const go = (to: number): void => {
    const place = Math.max(0, Math.min(lines.length - 1, to));
    setFocused(place);
    requestAnimationFrame(() => {
      const id = lines[place]?.node.id ?? "";
      document.querySelector<HTMLElement>(`[data-node="${CSS.escape(id)}"]`)?.focus();
    });
  };
  const enter = (): void => {
    const line = lines[at];
    if (line === undefined) return;
    if (line.count > 1) unfold(line.node.id);
    else pick(line.node.id);
  };
  useKeys([
    { keys: "ArrowDown", does: "Next line", run: () => go(at + 1) },
    { keys: "ArrowUp", does: "Previous line", run: () => go(at - 1) },
    { keys: "Home", does: "First line", run: () => go(0) },
    { keys: "End", does: "Last line", run: () => go(lines.length - 1) },
    { keys: "Enter", does: "Pick for comparing, or unfold", run: enter },
    {
      keys: "o",
      does: "Open the conversation here",
      run: () =>
        navigate(conversationAddress(conversation, "", { leaf: lines[at]?.node.id, at: lines[at]?.node.id })),
    },
  ]);
}

/** Every branch, as lanes: the active one is the trunk, and what tells little is folded. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const headSeq = openedConversation(conversation)?.view.headSeq ?? 0;
  const { value, error, reload } = useLoaded(
    (signal) => readTree(conversation, signal),
    [conversation, headSeq],
  );
  const [opened, setOpened] = useState<ReadonlySet<string>>(new Set());
  const [focused, setFocused] = useState(0);
  const filter = FILTERS.find(([name]) => name === query.value.get("filter"))?.[0] ?? "default";
  const lines = value === null ? [] : treeLines(value, filter, opened);
  const at = Math.min(focused, lines.length - 1);
  const unfold = (id: string): void => setOpened(new Set([...opened, id]));
  useTreeKeys(lines, at, { conversation, setFocused, unfold });
  if (error !== null) return <Failure error={error} retry={reload} />;
  if (value === null) return <GhostRows />;
  const [a, b] = [query.value.get("a"), query.value.get("b")];
  return (
    <div class="tree">
      <div class="pane-head">
        <h2>Tree</h2>
        <span class="faint">{countText(value.length, "entry", "entries")}</span>
        <span class="grow" />
        <CompareButton conversation={conversation} />
        <Filters now={filter} />
      </div>
      <div class="tree-rows">
        <VirtualList
          count={lines.length}
          role="tree"
          rowRole="presentation"
          label="Branches"
          overscan={20}
          estimate={() => 28}
          keyOf={(index) => lines[index]?.node.id ?? index}
          render={(index) => {
            const line = lines[index];
            if (line === undefined) return <span />;
            const { id } = line.node;
            return (
              <Line
                line={line}
                conversation={conversation}
                picked={id === a ? "a" : id === b ? "b" : null}
                isFocused={index === at}
                open={() => unfold(id)}
              />
            );
          }}
        />
      </div>
    </div>
  );
}
