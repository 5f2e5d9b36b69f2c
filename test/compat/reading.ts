import type { Holdfast } from "#conversation/holdfast";
import { entryLine } from "#log/codec";
import { parseEntryId } from "#log/ids";

const ROOT = parseEntryId("root");

/** All that a golden store says: every entry as text, and what follows from the entries. */
export async function readingOf(holdfast: Holdfast): Promise<unknown> {
  const chat = await holdfast.conversation("chat");
  const { title, cwd, leaf } = await chat.head();
  // The root and the title have ids and times that the store made, which no two stores share.
  const [root, , ...rest] = await Array.fromAsync(chat.log());
  const { nodes } = await chat.tree();
  return {
    head: { title, cwd, leaf: leaf.id },
    entries: rest.map((entry) =>
      entryLine({ ...entry, parentId: entry.parentId === root?.id ? ROOT : entry.parentId }),
    ),
    now: await chat.context(),
    compacted: await chat.context({ at: "k1" }),
    chain: (await chat.chain()).map(({ id, agent, reason }) => ({ id, agent, reason })),
    labels: nodes.flatMap(({ entry, label }) => (label === null ? [] : [[entry.id, label]])),
  };
}
