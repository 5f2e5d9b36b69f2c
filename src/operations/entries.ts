import type { Conversation } from "#conversation/conversation";
import { entryLine } from "#log/codec";
import type { EntryBody, StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { objectText } from "#log/json/json-text";
import type { ContextMessage } from "#log/projections/pairs";
import { contextText, SCHEMA_VERSION } from "#transfer/context-text";
import { appendFact, conversationOf, ofEntry, ownerAct, writtenOf } from "./acts.ts";
import { ENTRIES_PAGE, readEntriesPage, typesOf } from "#operations/views/entry-pages";
import { JsonText, operation } from "./operation.ts";
import {
  answer,
  anything,
  count,
  cursor,
  entryShape,
  flag,
  idField,
  issue,
  jsonFields,
  list,
  named,
  newEntry,
  nextCursor,
  nullable,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
  written,
  record,
} from "./schemas.ts";
import { readStoredStretch, readThreadBranch } from "#conversation/read-thread";
import { shortLine } from "#operations/views/cut-strings";
import { stretchOf } from "./threads.ts";

/** What the model is sent, word for word. */
export interface ContextView {
  readonly conversation: string;
  readonly leaf: string;
  readonly model: string | null;
  readonly messages: readonly ContextMessage[];
  readonly config: object;
  readonly skills: readonly unknown[];
  readonly state: unknown;
}

const types: Schema<readonly string[]> = list(text({ min: 1, max: 64, pattern: /^[a-z_]+$/ }), { max: 64 });
const group = "Entries";
const PAGE_CHARS = 4_194_304; // of a page: what is larger comes alone

export const listEntries = operation({
  summary: "List its own entries in log order: from the start, after a seq, or before one",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/entries",
  input: {
    conversation: idField,
    after: optional(count({ about: "entries after this seq" })),
    before: optional(count({ min: 1, about: "the last entries before this seq" })),
    limit: optional(pageLimit),
    types: optional(types),
  },
  output: answer({
    conversation: text(),
    entries: list(entryShape),
    next: nullable(count()),
    previous: nullable(count()),
    headSeq: count(),
  }),
  async run({ conversation: id, ...query }, { holdfast }) {
    const conversation = conversationOf({ conversation: id }, { holdfast });
    const texts = new Map<StoredEntry, string>();
    const read = await readEntriesPage(conversation, query, (entries) => fitting(entries, texts));
    return page(conversation, [
      { name: "entries", text: `[${read.entries.map((one) => texts.get(one)).join(",")}]` },
      { name: "next", text: JSON.stringify(read.next) },
      { name: "previous", text: JSON.stringify(read.previous) },
      { name: "headSeq", text: String(read.headSeq) },
    ]);
  },
});

export const listHistory = operation({
  summary: "List a branch in pages, newest page first, each page oldest entry first",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/history",
  input: {
    conversation: idField,
    at: optional(idField),
    cursor: optional(cursor),
    limit: optional(pageLimit),
    types: optional(types),
  },
  output: answer({
    conversation: text(),
    entries: list(entryShape),
    hidden: list(text()),
    next: nextCursor,
  }),
  async run({ limit = ENTRIES_PAGE, types: wanted, conversation: id, ...place }, { holdfast }) {
    const known = typesOf(wanted);
    const conversation = conversationOf({ conversation: id }, { holdfast });
    const found = await conversation.history({
      limit,
      ...place,
      ...(known === undefined ? {} : { types: known }),
    });
    const hidden = found.entries.flatMap((one) => (one.hidden ? [one.id] : []));
    return page(conversation, [
      { name: "entries", text: `[${found.entries.map((one) => entryLine(one)).join(",")}]` },
      { name: "hidden", text: JSON.stringify(hidden) },
      { name: "next", text: JSON.stringify(found.cursor) },
    ]);
  },
});

export const getEntry = operation({
  summary: "Show one entry, its own or inherited, exactly as written",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/entries/{entry}",
  input: { conversation: idField, entry: idField },
  output: entryShape,
  async run({ entry: wanted, ...input }, context) {
    return new JsonText(entryLine(await conversationOf(input, context).entry(wanted)));
  },
});

export const appendEntries = operation({
  summary: "Append entries as one batch, each in exactly the text you send",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/entries",
  input: {
    conversation: idField,
    entries: list(newEntry, { min: 1, max: 1_000 }),
    expected: optional(count({ about: "the last seq you have seen; rejected if an owner wrote after it" })),
    outside: optional(flag("annotations from another writer, which do not affect a running turn")),
  },
  output: written,
  async run({ entries, expected, outside = false, ...input }, context) {
    const conversation = conversationOf(input, context);
    const bodies = entries as readonly (EntryBody | string)[];
    const key = context.key === undefined ? {} : { key: context.key };
    if (outside && expected !== undefined)
      throw new LogError(
        "invalid_request",
        "Use `expected` only without `outside`: annotations never conflict with an owner",
      );
    if (outside) return writtenOf(conversation, await conversation.appendOutside(bodies, key));
    const options = { ...key, ...(expected === undefined ? {} : { expected }) };
    return ownerAct(conversation, () => conversation.append(bodies, options));
  },
});

export const setLabel = operation({
  summary: "Label an entry",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/entries/{entry}/label",
  cli: "label conversation@entry [label...]",
  input: { conversation: idField, entry: idField, label: nullable(text({ max: 1_000 })) },
  output: written,
  async run({ entry: target, label, ...input }, context) {
    if (label?.trim() === "")
      throw new LogError("invalid_request", "The label is empty. Use null to remove a label.");
    return ofEntry(conversationOf(input, context), target, () =>
      appendFact("setLabel", { type: "label", target, label }, input, context),
    );
  },
});

export const setHidden = operation({
  summary: "Hide an entry from the model, or show it again",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/entries/{entry}/hidden",
  cli: "hide conversation@entry",
  input: { conversation: idField, entry: idField, hidden: flag() },
  output: written,
  run: ({ entry: target, hidden, ...input }, context) =>
    ofEntry(conversationOf(input, context), target, () =>
      appendFact("setHidden", { type: "hide", target, ...(hidden ? {} : { hidden }) }, input, context),
    ),
});

export const getContext = operation({
  summary: "Show the model's context now or at any entry, in the exact stored text",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/context",
  input: { conversation: idField, at: optional(idField) },
  output: named(
    "Context",
    open<ContextView & { readonly issues: unknown }>({
      conversation: text(),
      leaf: text(),
      model: nullable(text()),
      messages: list(open({ role: text(), content: list(anything()) })),
      config: jsonFields,
      skills: list(anything()),
      state: anything(),
      issues: list(issue),
    }) as Schema as Schema<ContextView>,
  ),
  async run({ conversation: id, ...place }, { holdfast }) {
    const conversation = conversationOf({ conversation: id }, { holdfast });
    return new JsonText(contextText(conversation.id, await conversation.exactContext(place)));
  },
});

/** How many fit into a page, at least one; their exact text is kept. */
function fitting(entries: readonly StoredEntry[], texts: Map<StoredEntry, string>): number {
  let chars = 0;
  for (const entry of entries) {
    const line = entryLine(entry);
    chars += line.length;
    if (texts.size > 0 && chars > PAGE_CHARS) break;
    texts.set(entry, line);
  }
  return texts.size;
}

function page(conversation: Conversation, members: Parameters<typeof objectText>[0]): JsonText {
  return new JsonText(
    objectText([
      { name: "schemaVersion", text: String(SCHEMA_VERSION) },
      { name: "conversation", text: JSON.stringify(conversation.id) },
      ...members,
    ]),
  );
}

const PAGE = 100;

/** Any stretch of a branch, oldest first, by the places of its nodes: the root is 0. */
export const listBranch = operation({
  summary: "List part of a branch: from a position, around an entry, or its end",
  group: "Entries",
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}/branch",
  input: {
    conversation: idField,
    leaf: optional(idField),
    at: optional(idField),
    from: optional(count({ about: "the position of the first entry (the root is 0)" })),
    limit: optional(pageLimit),
    textMax: optional(
      count({ min: 1, about: "truncates longer texts to this many characters (default: no limit)" }),
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
