import { logsOnBranch } from "#conversation/branch-pages";
import type { Conversation } from "#conversation/conversation";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import { objectText } from "#log/json/json-text";
import type { Place } from "#log/lineage/head";
import { SCHEMA_VERSION } from "#transfer/context-text";
import { conversationOf } from "./acts.ts";
import { shortLine } from "./views/cut-strings.ts";
import { JsonText, operation } from "./operation.ts";
import {
  answer,
  count,
  entryShape,
  idField,
  list,
  open,
  optional,
  pageLimit,
  record,
  text,
} from "./schemas.ts";

const PAGE = 100;

interface BranchEnd {
  readonly id: string;
  readonly place: Place;
}

/** Any stretch of a branch, oldest first, by the places of its nodes: the root is 0. */
export const listBranch = operation({
  summary:
    "Lists any stretch of a branch: from a place on, around an entry, or its end; one that is not on the branch names another",
  group: "Entries",
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/branch",
  input: {
    conversation: idField,
    leaf: optional(idField),
    at: optional(idField),
    from: optional(count({ about: "the place of the first that is wanted; the root is 0" })),
    limit: optional(pageLimit),
    textMax: optional(
      count({ min: 1, about: "longer texts are cut to so many characters; none unless given" }),
    ),
  },
  output: answer({
    conversation: text(),
    leaf: text(),
    length: count(),
    inherited: count(),
    from: count(),
    logs: list(
      open<{ readonly conversation: string; readonly from: number }>({ conversation: text(), from: count() }),
    ),
    entries: list(entryShape),
    hidden: list(text()),
    cut: record(count()),
    headSeq: count(),
  }),
  async run({ leaf, at, from, limit = PAGE, textMax = null, ...input }, context) {
    const conversation = conversationOf(input, context);
    const head = await conversation.head();
    const tip =
      leaf === undefined ? { id: head.leaf.id, place: head.leaf } : await nodeAt(conversation, leaf);
    const around = at === undefined ? null : await nodeAt(conversation, at);
    const end = around === null || (await isOn(conversation, tip, around)) ? tip : around;
    const { depth } = end.place;
    const wanted = from ?? (around === null ? depth - limit + 1 : around.place.depth - Math.floor(limit / 2));
    const first = Math.max(0, Math.min(wanted, depth));
    const last = Math.min(depth, first + limit - 1);
    const { entries, hidden } = await conversation.space.page({
      conversation: conversation.id,
      from: end.place,
      depth: last,
      limit: last - first + 1,
    });
    const shown = entries.toReversed();
    const branch = { conversation: conversation.id, end: end.place };
    const stretch = { first: last - shown.length + 1, last };
    const { logs, inherited } = await logsOnBranch(conversation.space, branch, stretch, head.origin);
    const { lines, cut } = linesOf(shown, textMax);
    return new JsonText(
      objectText([
        { name: "schemaVersion", text: String(SCHEMA_VERSION) },
        { name: "conversation", text: JSON.stringify(conversation.id) },
        { name: "leaf", text: JSON.stringify(end.id) },
        { name: "length", text: String(depth + 1) },
        { name: "inherited", text: String(inherited) },
        { name: "from", text: String(stretch.first) },
        { name: "logs", text: JSON.stringify(logs) },
        { name: "entries", text: `[${lines.join(",")}]` },
        { name: "hidden", text: JSON.stringify(shown.flatMap(({ id }) => (hidden.has(id) ? [id] : []))) },
        { name: "cut", text: JSON.stringify(cut) },
        { name: "headSeq", text: String(head.headSeq) },
      ]),
    );
  },
});

async function nodeAt(conversation: Conversation, entry: string): Promise<BranchEnd> {
  const { id, place } = await conversation.space.entry(conversation.id, parseEntryId(entry));
  if (place !== null) return { id, place };
  throw new LogError("invalid_request", `The entry ${id} is a fact, which lies on no branch`, {
    entry: id,
  });
}

/** Whether a branch passes through a node: it has that one at its place. */
async function isOn(conversation: Conversation, end: BranchEnd, { id, place }: BranchEnd): Promise<boolean> {
  if (place.depth > end.place.depth) return false;
  const asked = { conversation: conversation.id, from: end.place, depth: place.depth, limit: 1 };
  const { entries } = await conversation.space.page(asked);
  return entries[0]?.id === id;
}

function linesOf(
  entries: readonly StoredEntry[],
  textMax: number | null,
): { readonly lines: readonly string[]; readonly cut: { readonly [entry: string]: number } } {
  const cut: { [entry: string]: number } = {};
  const lines = entries.map((entry) => {
    const shown = shortLine(entry, textMax);
    if (shown.cut !== null) cut[entry.id] = shown.cut;
    return shown.line;
  });
  return { lines, cut };
}
