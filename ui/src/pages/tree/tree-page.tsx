import { branchEnd } from "#log/lineage/branch-end";
import type { JSX } from "preact";
import { useMemo, useState } from "preact/hooks";
import type { TreeNode } from "#edges/http/client/views";
import { TREE_FILTERS, type TreeFilter } from "#log/lineage/tree-filter";
import { onKey, useKeys } from "../../frame/keys.ts";
import { Failure } from "../../parts/failure.tsx";
import { GhostRows } from "../../parts/ghost-rows.tsx";
import { countText } from "../../parts/numbers.ts";
import { addressOf, conversationAddress } from "../../router/addresses.ts";
import { changeQuery, navigate, query } from "../../router/location.ts";
import { hasPage } from "../has-page.ts";
import type { PageProps } from "../pages.ts";
import { ForkPane, NodePane } from "./node-pane.tsx";
import { PicksBar } from "./picks-bar.tsx";
import { type TreeData, useTreeData } from "./tree-data.ts";
import { sinceText } from "./tree-card.tsx";
import { TreeList } from "./tree-list.tsx";
import { pickedWays, picksIn, togglePick } from "./tree-picks.ts";
import { type TreeRow, treeRows } from "./tree-rows.ts";

const FILTERS: readonly (readonly [TreeFilter, string])[] = [
  ["default", "Default"],
  ["no-tools", "No tools"],
  ["user", "Prompts"],
  ["labeled", "Labeled"],
  ["all", "All"],
];

function filterIn(given: URLSearchParams): TreeFilter {
  return TREE_FILTERS.find((one) => one === given.get("filter")) ?? "default";
}

function Filters({ now }: { readonly now: TreeFilter }): JSX.Element {
  return (
    <span class="seg" role="group" aria-label="Show">
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

/** What a row is called where two are compared; null: it is none of them. */
function addressOfRow(row: TreeRow, conversation: string): string | null {
  if (row.kind === "fork") return row.fork.conversation;
  return row.kind === "node" ? `${conversation}@${row.node.id}` : null;
}

function useRows(data: TreeData, conversation: string, open: ReadonlySet<string>) {
  const filter = filterIn(query.value);
  const [at, picks] = [query.value.get("at"), picksIn(query.value)];
  const ways = useMemo(
    () => pickedWays(data.nodes, conversation, picks, data.forks),
    [data, conversation, picks.a, picks.b],
  );
  const rows = useMemo(() => {
    const { nodes, forks, carries } = data;
    const seen = at === null ? ways.seen : [...ways.seen, at];
    return treeRows(nodes, { filter, open, seen, forks, carries, classOf: ways.classOf });
  }, [data, ways, filter, open, at]);
  return { filter, at, picks, ways, rows };
}

function Chosen({
  data,
  conversation,
  at,
  sideOf,
  byId,
}: {
  readonly byId: ReadonlyMap<string, TreeNode>;
  readonly data: TreeData;
  readonly conversation: string;
  readonly at: string | null;
  readonly sideOf: (address: string) => "a" | "b" | null;
}): JSX.Element | null {
  const fork = data.forks.find((one) => `fork ${one.conversation}` === at);
  if (fork !== undefined) return <ForkPane fork={fork} side={sideOf(fork.conversation)} />;
  const id = at ?? data.leaf;
  const node = byId.get(id);
  if (node === undefined) return <p class="node-pane faint">Entry not found in this conversation.</p>;
  return (
    <NodePane
      conversation={conversation}
      node={node}
      end={branchEnd(id, (one) => byId.get(one))}
      isLeaf={id === data.leaf}
      side={sideOf(`${conversation}@${id}`)}
      since={sinceText(byId, id)}
    />
  );
}

type Side = "a" | "b" | null;

/** What rows do: folds that open and close, and keys. */
function useTreeActs(conversation: string, active: string) {
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const toggle = (key: string, isOpen: boolean, rows: readonly TreeRow[]): void => {
    const next = new Set(
      open.has("all") ? rows.flatMap((row) => (row.kind === "fold" ? [row.key] : [])) : open,
    );
    if (isOpen) next.add(key);
    else next.delete(key);
    setOpen(next);
  };
  const compare = (): void => {
    const { a, b } = picksIn(query.value);
    if (a !== null && hasPage("/diff")) navigate(addressOf("/diff", { a, b: b ?? active }));
  };
  useKeys([
    onKey("toConversation", () => navigate(conversationAddress(conversation))),
    onKey("comparePicked", compare),
    onKey("toggleFolds", () => setOpen(new Set(open.has("all") ? [] : ["all"]))),
  ]);
  const pick = (row: TreeRow): void => {
    const address = addressOfRow(row, conversation);
    if (address !== null) togglePick(address);
  };
  return { open, toggle, pick, openAll: () => setOpen(new Set(["all"])) };
}

function TreeView({ data, conversation }: { readonly data: TreeData; readonly conversation: string }) {
  const active = `${conversation}@${data.leaf}`;
  const { open, toggle, pick, openAll } = useTreeActs(conversation, active);
  const { filter, at, picks, ways, rows } = useRows(data, conversation, open);
  const byId = useMemo(() => new Map(data.nodes.map((node) => [node.id, node])), [data]);
  const sideOf = (address: string | null): Side =>
    address === null ? null : address === picks.a ? "a" : address === picks.b ? "b" : null;
  return (
    <div class="with-compare">
      <section class="tree" aria-labelledby="tree-h">
        <div class="pane-head">
          <h2 id="tree-h">Tree</h2>
          <span class="faint">
            {data.isWhole ? "" : "the first "}
            {countText(data.nodes.length, "entry", "entries")}
          </span>
          <span class="grow" />
          <Filters now={filter} />
        </div>
        <TreeList
          conversation={conversation}
          byId={byId}
          rows={rows}
          at={at}
          leaf={data.leaf}
          ancestor={ways.ancestor}
          sideOf={(row) => sideOf(addressOfRow(row, conversation))}
          choose={(row) =>
            row.kind === "fold" ? toggle(row.key, !row.isOpen, rows) : changeQuery({ at: row.key })
          }
          toggle={(key, isOpen) => toggle(key, isOpen, rows)}
          pick={pick}
          openAll={openAll}
        />
      </section>
      <aside
        class={at === null && picks.a === null ? "tree-side" : "tree-side is-wanted"}
        aria-label="Selected entry"
      >
        <PicksBar picks={picks} active={active} />
        <Chosen data={data} conversation={conversation} at={at} sideOf={sideOf} byId={byId} />
      </aside>
    </div>
  );
}

/** All branches of a conversation, and what grew out of it. */
export function Page({ params }: PageProps): JSX.Element {
  const { conversation = "" } = params;
  const { value, error, reload } = useTreeData(conversation);
  if (value !== null) return <TreeView data={value} conversation={conversation} />;
  return error === null ? <GhostRows /> : <Failure error={error} retry={reload} />;
}
