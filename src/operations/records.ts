import { messagesTokens } from "#agent/compaction/token-estimate";
import { modelFacts } from "#agent/models/model-table";
import { readWaiting } from "#agent/pending-permissions";
import { readChain } from "#conversation/read-chain";
import type { Fidelity } from "#log/entry";
import { LogError } from "#log/errors";
import { parseEntryId } from "#log/ids";
import { ChainReader } from "#log/projections/chain";
import type { Queued } from "#log/projections/queue";
import { type EffectRow, readEffectRows } from "#transfer/views/effect-rows";
import {
  linkDetails,
  type LinkDetails,
  type LinkWithFidelity,
  withFidelity,
} from "#transfer/views/link-details";
import type { PermissionAsked } from "#turn/host";
import { conversationOf, viewsOf } from "./acts.ts";
import { ENTRIES_PAGE } from "./views/entry-pages.ts";
import { operation } from "./operation.ts";
import { type LogDamage, readRecord, readRecords, type RecordView } from "./views/record-pages.ts";
import {
  answer,
  anything,
  choice,
  count,
  cursor,
  flag,
  idField,
  issue,
  list,
  named,
  nextCursor,
  nullable,
  open,
  optional,
  pageLimit,
  type Schema,
  text,
} from "./schemas.ts";
import type { Stamp, TreeNode } from "./views/whole-logs.ts";

/** A session without its place in the log. Its details are there where they were requested. */
type LinkView = Omit<LinkWithFidelity, "seq"> & Partial<LinkDetails>;

export const fidelity: Schema<Fidelity | null> = nullable(choice(["native", "transcript", "preamble"]));
export const linkFields = {
  id: text(),
  agent: text(),
  account: nullable(text()),
  reason: text(),
  since: text(),
  source: nullable(text()),
  carried: nullable(open({ fromSeq: count(), toSeq: count() })),
  inherited: flag(),
};
export const waitingFields = {
  queue: list(open<Queued>({ steer: text(), content: list(anything()), acceptedAt: text() })),
  asked: list(open<PermissionAsked>({ request: text(), call: text(), tool: text(), input: anything() })),
};

const history = { group: "What happened", access: "read", kind: "read" } as const;
const figures = { group: "Figures", access: "read", kind: "read" } as const;
const COUNTED_MAX = 100; // conversations in one request

export const getChain = operation({
  ...history,
  summary: "List its agent sessions, with the reason for each",
  http: "GET /api/conversations/{conversation}/chain",
  input: {
    conversation: idField,
    details: optional(flag("also the messages of each session, the context sent to it and how it ended")),
  },
  output: answer({
    conversation: text(),
    links: list(named("Link", open<LinkView>({ ...linkFields, fidelity }))),
  }),
  async run({ details: isDetailed = false, ...input }, context) {
    const conversation = conversationOf(input, context);
    const facts = await conversation.facts(["attempt", "upstream_end"]);
    const reader = await readChain(conversation, new ChainReader(isDetailed));
    const links = reader.links();
    const details = isDetailed ? linkDetails({ links, carriers: reader.carriers(links) }, facts) : [];
    return {
      conversation: conversation.id,
      links: withFidelity(links, facts).map(({ seq: _, ...link }, place): LinkView =>
        Object.assign(link, details[place]),
      ),
    };
  },
});

export const listStamps = operation({
  ...history,
  summary: "List which agent sessions received or wrote each message",
  http: "GET /api/conversations/{conversation}/stamps",
  input: {
    conversation: idField,
    entry: optional(idField),
    entries: optional(list(idField, { max: 200 })),
    upstream: optional(text({ min: 1, max: 1_000 })),
  },
  output: answer({
    conversation: text(),
    stamps: list(
      named(
        "Stamp",
        open<Stamp>({
          entry: text(),
          upstreams: list(open({ id: text(), agent: text(), account: nullable(text()), link: count() })),
        }),
      ),
    ),
  }),
  async run({ entry, entries, upstream, ...input }, context) {
    const conversation = conversationOf(input, context);
    const wanted = [...(entry === undefined ? [] : [entry]), ...(entries ?? [])].map(parseEntryId);
    if (entry !== undefined) await conversation.entry(entry);
    const known = await viewsOf(context).chains.stamps(context.holdfast, conversation.id);
    const stamps =
      wanted.length === 0
        ? [...known.values()]
        : wanted.map((id): Stamp => known.get(id) ?? { entry: id, upstreams: [] });
    const isOf = ({ upstreams }: Stamp): boolean => upstreams.some(({ id }) => id === upstream);
    return { conversation: conversation.id, stamps: upstream === undefined ? stamps : stamps.filter(isOf) };
  },
});

export const listEffects = operation({
  ...history,
  summary: "List tool calls and their side effects",
  http: "GET /api/conversations/{conversation}/effects",
  cli: "effects conversation",
  input: { conversation: idField, limit: optional(pageLimit), cursor: optional(cursor) },
  output: answer({
    conversation: text(),
    cursor: nextCursor,
    effects: list(
      named(
        "Effect",
        open<EffectRow>({
          call: text(),
          name: text(),
          input: anything(),
          state: choice(["done", "failed", "unknown", "not_started"]),
          how: nullable(choice(["refused", "stopped"])),
        }),
      ),
    ),
  }),
  async run({ conversation: id, ...page }, context) {
    const conversation = conversationOf({ conversation: id }, context);
    return { conversation: conversation.id, ...(await readEffectRows(conversation, page)) };
  },
});

export const listIssues = operation({
  ...history,
  summary: "List issues that need attention",
  http: "GET /api/conversations/{conversation}/issues",
  input: { conversation: idField, limit: optional(pageLimit), cursor: optional(cursor) },
  output: answer({ conversation: text(), issues: list(issue), cursor: nextCursor }),
  async run({ conversation: id, ...page }, context) {
    const conversation = conversationOf({ conversation: id }, context);
    return { conversation: conversation.id, ...(await conversation.issuesPage(page)) };
  },
});

export const listWaiting = operation({
  ...history,
  summary: "List messages waiting for delivery and calls waiting for an answer",
  http: "GET /api/conversations/{conversation}/waiting",
  input: { conversation: idField },
  output: answer({
    conversation: text(),
    ...waitingFields,
  }),
  async run(input, context) {
    const conversation = conversationOf(input, context);
    const [queue, waiting] = [await conversation.queue(), await readWaiting(conversation)];
    return { conversation: conversation.id, queue, asked: waiting };
  },
});

export const getTree = operation({
  ...history,
  group: "Entries",
  summary: "List the entries of all branches in log order",
  http: "GET /api/conversations/{conversation}/tree",
  input: { conversation: idField, limit: optional(pageLimit), cursor: optional(cursor) },
  output: answer({
    conversation: text(),
    leaf: text(),
    nodes: list(
      named(
        "TreeNode",
        open<TreeNode>({
          id: text(),
          seq: count(),
          parentId: nullable(text()),
          children: list(text()),
          active: flag(),
          type: text(),
          kind: text(),
          treeKind: choice(["start", "prompt", "answer", "tools", "setting", "other"]),
          label: nullable(text()),
          hidden: flag(),
          inherited: flag(),
          preview: text(),
          costMicros: nullable(count()),
        }),
      ),
    ),
    next: nextCursor,
  }),
  async run({ limit = ENTRIES_PAGE, cursor: place = "0", ...input }, context) {
    if (!/^\d{1,15}$/.test(place))
      throw new LogError(
        "invalid_request",
        "Invalid cursor. Pass the `next` returned with the previous page.",
      );
    const conversation = conversationOf(input, context);
    const from = Number(place);
    const { trees } = viewsOf(context);
    const { leaf, nodes, count: all } = await trees.read(context.holdfast, conversation.id, { from, limit });
    const end = from + limit;
    return { conversation: conversation.id, leaf, nodes, next: end < all ? String(end) : null };
  },
});

export const listRecords = operation({
  ...figures,
  summary:
    "List its own entries as stored: bytes, digest and hashes, without content; of a damaged log the readable ones",
  http: "GET /api/conversations/{conversation}/records",
  input: {
    conversation: idField,
    after: optional(count({ about: "entries after this seq" })),
    before: optional(count({ min: 1, about: "the last entries before this seq" })),
    limit: optional(pageLimit),
    types: optional(list(text({ min: 1, max: 64, pattern: /^[a-z_]+$/ }), { max: 64 })),
  },
  output: answer({
    conversation: text(),
    records: list(
      named(
        "Record",
        open<RecordView>({
          seq: count(),
          id: text(),
          parentId: nullable(text()),
          type: text(),
          time: text(),
          bytes: count(),
          digest: text(),
          link: nullable(text()),
          unreadable: flag(),
        }),
      ),
    ),
    damage: nullable(
      open<LogDamage>({
        message: text({ max: 100_000 }),
        reachableSeq: count(),
        position: nullable(count()),
      }),
    ),
    next: nullable(count()),
    previous: nullable(count()),
    headSeq: count(),
  }),
  run: ({ conversation, ...query }, context) => readRecords(conversationOf({ conversation }, context), query),
});

export const getRecord = operation({
  ...figures,
  summary:
    "Show one stored record exactly, by seq or entry; `conversation` is the log that contains it, for inherited entries the source",
  http: "GET /api/conversations/{conversation}/record",
  input: {
    conversation: idField,
    seq: optional(count({ min: 1, about: "its position in this log" })),
    entry: optional(idField),
  },
  output: answer({ conversation: text(), seq: count(), line: text() }),
  run: ({ conversation, ...place }, context) =>
    readRecord(context.holdfast, conversationOf({ conversation }, context), place),
});

/** The share of one message of a context. */
export interface MessageSize {
  /** Null for a message that only the context has. */
  readonly entry: string | null;
  readonly role: string;
  /** Of its content as JSON. */
  readonly chars: number;
  /** By estimate: an exact count belongs to one model. */
  readonly tokens: number;
}

export const getContextSizes = operation({
  ...figures,
  summary: "Estimate the tokens of each message in the context, now or at any entry",
  http: "GET /api/conversations/{conversation}/context/sizes",
  input: { conversation: idField, at: optional(idField) },
  output: answer({
    conversation: text(),
    leaf: text(),
    model: nullable(text()),
    window: nullable(count()),
    compaction: nullable(text()),
    messages: list(
      open<MessageSize>({ entry: nullable(text()), role: text(), chars: count(), tokens: count() }),
    ),
    tokens: count(),
  }),
  async run({ conversation: id, ...place }, context) {
    const conversation = conversationOf({ conversation: id }, context);
    const { leaf, model, compaction, messages: sent } = await conversation.context(place);
    const messages = sent.map((message): MessageSize => {
      const { entryId, role, content } = message;
      const chars = JSON.stringify(content).length;
      return { entry: entryId, role, chars, tokens: messagesTokens([message]) };
    });
    return {
      conversation: conversation.id,
      leaf,
      model,
      /** How many tokens the model takes; null: unknown. */
      window: model === null ? null : modelFacts(model).window,
      compaction,
      messages,
      tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0),
    };
  },
});

export const countIssues = operation({
  ...figures,
  summary: "Count the issues of each conversation; counts are cached, and long logs need several requests",
  http: "GET /api/issue-counts",
  input: { conversation: list(idField, { min: 1, max: COUNTED_MAX }) },
  output: answer({
    counts: list(
      named(
        "IssueCount",
        open<{
          readonly conversation: string;
          /** Null: the log is long and not read to its end yet, or cannot be read. */
          readonly issues: number | null;
        }>({ conversation: text(), issues: nullable(count()) }),
      ),
    ),
  }),
  async run({ conversation: ids }, context) {
    const counts = await viewsOf(context).issueCounts.read(context.holdfast, ids);
    return {
      counts: ids.map((conversation, place) => ({ conversation, issues: counts[place] ?? null })),
    };
  },
});
