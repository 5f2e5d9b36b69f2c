import { readStoredStretch, readThreadBranch } from "#conversation/read-thread";
import type { StoredEntry } from "#log/entry";
import { objectText } from "#log/json/json-text";
import { SCHEMA_VERSION } from "#transfer/context-text";
import { conversationOf } from "./acts.ts";
import { shortLine } from "./views/cut-strings.ts";
import { stretchOf } from "./threads.ts";
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
    const branch = await readThreadBranch(conversation, { leaf, at }, async (entry) => entry);
    const stretch = await readStoredStretch(conversation, branch, stretchOf(branch, { from, limit }));
    const { entries: shown, hidden, logs, inherited } = stretch;
    const { lines, cut } = linesOf(shown, textMax);
    return new JsonText(
      objectText([
        { name: "schemaVersion", text: String(SCHEMA_VERSION) },
        { name: "conversation", text: JSON.stringify(conversation.id) },
        { name: "leaf", text: JSON.stringify(branch.end.id) },
        { name: "length", text: String(branch.end.place.depth + 1) },
        { name: "inherited", text: String(inherited) },
        { name: "from", text: String(stretch.first) },
        { name: "logs", text: JSON.stringify(logs) },
        { name: "entries", text: `[${lines.join(",")}]` },
        { name: "hidden", text: JSON.stringify(shown.flatMap(({ id }) => (hidden.has(id) ? [id] : []))) },
        { name: "cut", text: JSON.stringify(cut) },
        { name: "headSeq", text: String(branch.head.headSeq) },
      ]),
    );
  },
});

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
