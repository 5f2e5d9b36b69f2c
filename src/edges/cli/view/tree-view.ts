import type { EntryId } from "#log/ids";
import { shortIds } from "#edges/cli/address";
import type { Sink } from "#edges/cli/command";
import { kindOf } from "#transfer/views/entry-preview";
import { previewOf } from "./preview.ts";
import type { FilteredNode } from "./filtered-tree.ts";
import { fit, pad, safeLine } from "#edges/cli/terminal/terminal";

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
  const roots = nodes.filter(({ shownParent }) => shownParent === null);
  const stack: Step[] = roots.toReversed().map((node) => ({ node, lead: "", indent: "" }));
  for (let step = stack.pop(); step !== undefined; step = stack.pop()) {
    yield row(step, { short, idWidth, leaf, sink });
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

function row({ node, lead }: Step, { short, idWidth, leaf, sink }: View): string {
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
