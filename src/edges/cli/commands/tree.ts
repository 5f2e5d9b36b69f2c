import { findConversation } from "#edges/cli/address";
import { type Command, jsonLine } from "#edges/cli/command";
import { previewOf } from "#edges/cli/view/preview";
import { treeRows } from "#edges/cli/view/tree-view";

export const tree: Command = {
  name: "tree",
  summary: "Draws all branches, with the active one marked",
  usage: ["ID"],
  about: `Every entry that lies on a branch, from the root down. "•" marks the branch that ends at the
leaf, "←" the leaf itself, "⑂" what a fork inherited. The id shown is as short as it may
be: ID@ENTRY takes it as it stands.`,
  examples: ["holdfast tree ID", "holdfast tree ID --json | jq '.nodes[] | select(.active) | .id'"],
  options: {},
  arity: [1, 1],
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const conversation = await findConversation(holdfast, call.args[0] ?? "");
    const { leaf, nodes } = await conversation.tree();
    const { out } = call.io;
    if (!call.json) {
      for (const row of treeRows(nodes, leaf, out)) await out.write(`${row}\n`);
      return;
    }
    const listed = nodes.map(({ entry, children, active, hidden, label, inherited }) => ({
      id: entry.id,
      parentId: entry.parentId,
      children,
      active,
      type: entry.type,
      label,
      hidden,
      inherited,
      preview: previewOf(entry),
    }));
    await out.write(jsonLine({ conversation: conversation.id, leaf, nodes: listed }));
  },
};
