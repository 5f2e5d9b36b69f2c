import { findConversation } from "#edges/cli/address";
import { LogError } from "#log/errors";
import { type Call, type Command, jsonLine } from "#edges/cli/command";
import { previewOf } from "#edges/cli/view/preview";
import { filterTree } from "#edges/cli/view/filtered-tree";
import { treeRows } from "#edges/cli/view/tree-view";
import { TREE_FILTERS, type TreeFilter, treeKind } from "#log/lineage/tree-filter";
import { costIn, kindOf } from "#transfer/views/entry-preview";

export const tree: Command = {
  name: "tree",
  summary: "Draws all branches, with the active one marked",
  usage: ["ID [--filter all|default|no-tools|user|labeled]"],
  about: `Every entry that lies on a branch, from the root down. "•" marks the branch that ends at the
leaf, "←" the leaf itself, "⑂" what a fork inherited. The id shown is as short as it may
be: ID@ENTRY takes it as it stands.

  --filter  which entries: all (unless told), default (without changes of settings), no-tools (also without
            calls and results), user (what people said), labeled. What is left out is no gap: an entry stands
            under the nearest one above it that is shown`,
  examples: ["holdfast tree ID", "holdfast tree ID --json | jq '.nodes[] | select(.active) | .id'"],
  options: { filter: { type: "string" } },
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const filter = filterOf(call);
    const { leaf, nodes: all } = await conversation.tree();
    const nodes = filterTree(all, filter);
    const { out } = call.io;
    if (!call.json) {
      for (const row of treeRows(nodes, leaf, out)) await out.write(`${row}\n`);
      return;
    }
    const listed = nodes.map(({ entry, children, active, hidden, label, inherited, shownParent }) => ({
      id: entry.id,
      seq: entry.seq,
      parentId: filter === "all" ? entry.parentId : shownParent,
      children,
      active,
      type: entry.type,
      kind: kindOf(entry),
      treeKind: treeKind(entry),
      label,
      hidden,
      inherited,
      preview: previewOf(entry),
      costMicros: costIn(entry),
    }));
    await out.write(jsonLine({ conversation: conversation.id, leaf, nodes: listed }));
  },
};

function filterOf({ flags }: Call): TreeFilter {
  const name = flags.text("filter") ?? "all";
  const filter = TREE_FILTERS.find((one) => one === name);
  if (filter !== undefined) return filter;
  throw new LogError("invalid_request", `--filter takes ${TREE_FILTERS.join(", ")}, not "${name}"`);
}
