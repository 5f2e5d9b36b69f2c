import { findConversation, shortIds } from "#edges/cli/address";
import { LogError } from "#log/errors";
import { type Call, type Command, jsonLine, type Sink } from "#edges/cli/command";
import { previewOf } from "#edges/cli/terminal/preview";
import { TREE_FILTERS, type TreeFilter, treeKind, nestNodes } from "#log/lineage/tree-filter";
import { costIn, kindOf } from "#transfer/views/entry-preview";
import type { EntryId } from "#log/ids";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";
import type { ConversationNode } from "#conversation/read-tree";

export const tree: Command = {
  name: "tree",
  summary: "Draw all branches of a conversation",
  forms: ["ID"],
  about: `Prints every entry from the root down. "•" marks the active branch, "←" the current entry, and "⑂"
entries that a fork inherited. Use a printed id as ENTRY in ID@ENTRY.`,
  examples: ["holdfast tree ID", "holdfast tree ID --json | jq '.nodes[] | select(.active) | .id'"],
  options: {
    "--filter all|default|no-tools|user|labeled":
      "which entries: all (default), default (without settings), no-tools (also without calls and results), user (your prompts) or labeled",
  },
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
    const jsonNodes = nodes.map(({ entry, children, active, hidden, label, inherited, visibleParent }) => ({
      id: entry.id,
      seq: entry.seq,
      parentId: filter === "all" ? entry.parentId : visibleParent,
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
    await out.write(jsonLine({ conversation: conversation.id, leaf, nodes: jsonNodes }));
  },
};

function filterOf({ flags }: Call): TreeFilter {
  const name = flags.text("filter") ?? "all";
  const filter = TREE_FILTERS.find((one) => one === name);
  if (filter !== undefined) return filter;
  throw new LogError("invalid_request", `--filter takes ${TREE_FILTERS.join(", ")}, not "${name}"`);
}

interface Step {
  readonly node: FilteredNode;
  /** What stands before this row, and before the rows that follow it on the same line of descent. */
  readonly lead: string;
  readonly indent: string;
}

/** The rows of a tree: a chain runs straight down, only a branching point indents. */
export function* treeRows(nodes: readonly FilteredNode[], leaf: EntryId, sink: Sink): Generator<string> {
  const byId = new Map(nodes.map((node) => [node.entry.id, node]));
  const short = shortIds(nodes.map(({ entry }) => entry.id));
  const idWidth = Math.min(Math.max(...[...short.values()].map((id) => id.length), 4), 24);
  const roots = nodes.filter(({ visibleParent }) => visibleParent === null);
  const stack: Step[] = roots.toReversed().map((node) => ({ node, lead: "", indent: "" }));
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    yield nodeLine(step, { short, idWidth, leaf, sink });
    const children = step.node.children.flatMap((id) => byId.get(id) ?? []);
    const { indent } = step;
    if (children.length === 1) stack.push(...children.map((node) => ({ node, lead: indent, indent })));
    else {
      const steps = children.map((node, index): Step => {
        const last = index === children.length - 1;
        return { node, lead: `${indent}${last ? "└─ " : "├─ "}`, indent: `${indent}${last ? "   " : "│  "}` };
      });
      stack.push(...steps.toReversed());
    }
  }
}

interface View {
  readonly short: ReadonlyMap<string, string>;
  readonly idWidth: number;
  readonly leaf: EntryId;
  readonly sink: Sink;
}

function nodeLine({ node, lead }: Step, { short, idWidth, leaf, sink }: View): string {
  const { entry, active, hidden, label, inherited } = node;
  const { style, columns } = sink;
  const notes = [
    hidden ? "(hidden)" : "",
    label === null ? "" : `[${safeLine(label)}]`,
    entry.id === leaf ? "← active" : "",
  ]
    .filter(Boolean)
    .join(" ");
  const id = pad(safeLine(short.get(entry.id) ?? entry.id), idWidth);
  const [mark, fork] = [active ? "•" : "·", inherited ? "⑂" : ""];
  const start = `${lead}${mark}${fork} ${id}  ${pad(kindOf(entry), 12)} `;
  const width = Math.max(12, columns - start.length - (notes === "" ? 0 : notes.length + 1));
  const text = fit(previewOf(entry), width);
  const line = `${lead}${active ? style.green(mark) : mark}${fork} ${style.cyan(id)}  ${pad(kindOf(entry), 12)} `;
  return `${line}${active ? text : style.dim(text)}${notes === "" ? "" : ` ${style.yellow(notes)}`}`.trimEnd();
}

/** A shown node, and the shown one it stands under. */
interface FilteredNode extends ConversationNode {
  readonly visibleParent: EntryId | null;
}

/** The nodes that are shown, each under the nearest one above it that is; a root always has a place. */
export function filterTree(nodes: readonly ConversationNode[], filter: TreeFilter): readonly FilteredNode[] {
  const places = nodes.map((node) => {
    const { entry, label } = node;
    return { id: entry.id, parentId: entry.parentId, treeKind: treeKind(entry), label, of: node };
  });
  return nestNodes(places, filter).map(({ node, parent, children }) => {
    const { entry, active, hidden, label, inherited } = node.of;
    return { entry, active, hidden, label, inherited, children, visibleParent: parent };
  });
}
