import { LogError } from "#log/errors";
import { type ConversationId, parseEntryId } from "#log/ids";
import { queryWords } from "#log/search";
import type { Holdfast } from "#conversation/holdfast";
import { diffJson, type NamedBranch, type NamedDiff } from "#transfer/views/diff-json";
import { snippetOf } from "#transfer/views/entry-preview";
import { JsonText, operation } from "./operation.ts";
import {
  answer,
  count,
  flag,
  idField,
  list,
  named,
  nullable,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
} from "./schemas.ts";

/** How two branches differ; docs/how-to/debug/diff.md describes each field. */
export interface DiffView {
  readonly same: boolean;
  readonly a: object;
  readonly b: object;
  readonly counts: object;
  readonly divergence: object | null;
}

export interface SearchHitView {
  readonly conversation: string;
  readonly title: string | null;
  readonly entry: string;
  readonly seq: number;
  readonly snippet: string;
}

const row = { group: "Across conversations", access: "read", kind: "read" } as const;
export const SEARCH_HITS = 20; // unless the caller names another limit
const address: Schema<string> = text({
  min: 1,
  max: 300,
  pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]*(?:@[A-Za-z0-9][A-Za-z0-9._:-]*)?$/,
  about: "ID or ID@ENTRY",
});

/** What conversations are called; one that cannot be read has no title. */
async function titlesOf(
  holdfast: Holdfast,
  conversations: ReadonlySet<ConversationId>,
): Promise<ReadonlyMap<string, string | null>> {
  const titles = [...conversations].map(async (id): Promise<readonly [string, string | null]> => {
    const head = await holdfast
      .handle(id)
      .head()
      .catch(() => null);
    return [id, head?.title ?? null];
  });
  return new Map(await Promise.all(titles));
}

export const search = operation({
  ...row,
  summary: "Find entries that contain all the words",
  http: "GET /api/search",
  cli: "search q",
  input: {
    q: text({ min: 1, max: 1_000 }),
    conversation: optional(idField),
    limit: optional(pageLimit),
  },
  output: answer({
    hits: list(
      named(
        "Found",
        open<SearchHitView>({
          conversation: text(),
          title: nullable(text()),
          entry: text(),
          seq: count(),
          snippet: text(),
        }),
      ),
    ),
  }),
  async run({ q, limit = SEARCH_HITS, ...within }, { holdfast }) {
    const words = queryWords(q);
    if (words.length === 0) throw new LogError("invalid_request", "The search text must contain a word");
    const hits = await holdfast.search(q, { limit, ...within });
    const titles = await titlesOf(holdfast, new Set(hits.map(({ conversation }) => conversation)));
    return {
      hits: hits.map(({ conversation, entry, seq, text: body }) => ({
        conversation,
        title: titles.get(conversation) ?? null,
        entry,
        seq,
        snippet: snippetOf(body, words),
      })),
    };
  },
});

const options = {
  toolsOnly: optional(flag("compares only tool calls")),
  stat: optional(flag("only the first difference and the totals")),
  all: optional(flag("also shows unchanged entries")),
};
export type DiffOptions = { readonly [K in keyof typeof options]?: boolean };

export const diff = operation({
  ...row,
  summary: "Compare branches, forks or replays",
  http: "GET /api/diff",
  cli: "diff a b",
  input: { a: address, b: address, ...options },
  output: named(
    "Diff",
    open<DiffView>({
      same: flag(),
      a: open({ conversation: text() }),
      b: open({ conversation: text() }),
      counts: open({}),
      divergence: nullable(open({ kind: text() })),
    }),
  ),
  async run({ a, b, ...rest }, { holdfast }) {
    const [compared] = await compareNamed(holdfast, [branchOf("A", a), branchOf("B", b)], rest);
    if (compared === undefined)
      throw new LogError("invalid_request", "Name two branches, forks or replays to compare");
    return new JsonText(diffPieces(compared, rest));
  },
});

/** Compares each branch with the first. */
export async function compareNamed(
  holdfast: Holdfast,
  branches: readonly NamedBranch[],
  { toolsOnly = false, stat = false, all = false }: DiffOptions,
): Promise<readonly NamedDiff[]> {
  if (stat && all) throw new LogError("invalid_request", "Use `stat` or `all`, not both");
  const [first, ...others] = branches.map(({ conversation, entry }) => ({
    conversation,
    ...(entry === null ? {} : { at: entry }),
  }));
  const [a, ...rest] = branches;
  if (first === undefined || a === undefined) return [];
  const diffs = await holdfast.compare(first, others, { toolsOnly });
  return rest.flatMap((b, index) => {
    const one = diffs[index];
    return one === undefined ? [] : [{ a, b, diff: one }];
  });
}

export function diffPieces(
  compared: NamedDiff,
  { stat = false, all = false }: DiffOptions,
): Iterable<string> {
  return diffJson(compared, { isStat: stat, hasAll: all });
}

function branchOf(letter: string, name: string): NamedBranch {
  const [conversation = "", entry] = name.split("@");
  return { letter, address: name, conversation, entry: entry === undefined ? null : parseEntryId(entry) };
}
