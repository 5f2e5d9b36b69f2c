import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody, Metadata } from "#log/entry";
import type { Lease } from "#log/lineage/head";
import type { Settings } from "#log/projections/settings";
import type { ConversationRow, HeadView } from "#store/requests";
import { isAbandoned } from "#transfer/views/conversation-state";
import { LIST_STATUSES, LISTED_STATES, type ListedRow, listRows } from "./views/listed-rows.ts";
import { appendFact, conversationOf, keyed, ofEntry, ownerAct } from "./acts.ts";
import { operation } from "./operation.ts";
import {
  answer,
  anything,
  choice,
  count,
  cursor,
  flag,
  idField,
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
  time,
  written,
} from "./schemas.ts";

/** A turn that has not ended. */
interface OpenTurnView {
  readonly turn: string;
  readonly prompt: string | null;
  readonly since: string;
  /** No process runs it: it ends when somebody continues it. */
  readonly left: boolean;
}

/** A conversation as it is now. */
export interface ConversationView extends ConversationRow {
  readonly space: string;
  readonly ownerSeq: number;
  readonly openTurn: OpenTurnView | null;
  /** Who has it for a turn, and until when that counts. */
  readonly lease: Lease | null;
  readonly metadata: Metadata;
  readonly settings: Settings;
}

const listedFields = {
  conversation: text(),
  title: nullable(text()),
  cwd: nullable(text()),
  createdAt: text(),
  updatedAt: text(),
  headSeq: count(),
  leaf: text(),
  origin: nullable(open({ conversation: text(), entry: text() })),
  summary: nullable(
    open({ model: nullable(text()), agent: nullable(text()), branches: count(), rollovers: count() }),
  ),
  damage: nullable(text()),
};

const listed: Schema<ListedRow> = named(
  "ListedConversation",
  open<ListedRow>({ ...listedFields, state: choice(LISTED_STATES) }),
);

export const conversationSchema: Schema<ConversationView> = named(
  "Conversation",
  open<ConversationView>({
    ...listedFields,
    space: text(),
    ownerSeq: count(),
    openTurn: nullable(
      open({
        turn: text(),
        prompt: nullable(text()),
        since: text(),
        left: flag("the process running the turn exited; `continueTurn` resumes it"),
      }),
    ),
    lease: nullable(open({ writer: text(), untilMs: count() })),
    metadata: jsonFields,
    settings: open({ model: nullable(text()), config: jsonFields, skills: list(anything()) }),
  }),
);

const group = "Conversations";
const TITLE_MAX = 2_000;
const LIST_PAGE = 50;

export const listConversations = operation({
  summary: "List conversations, latest first",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations",
  input: {
    limit: optional(pageLimit),
    cursor: optional(cursor),
    prefix: optional(text({ min: 1, max: 128 })),
    suffix: optional(text({ min: 1, max: 128 })),
    cwd: optional(text({ max: 4_096, about: "its working directory, exactly as recorded" })),
    under: optional(
      text({ min: 1, max: 4_096, about: "a folder that is or contains its working directory" }),
    ),
    title: optional(text({ max: 1_000, about: "text in the title, ignoring case" })),
    since: optional(time),
    fork: optional(flag("whether it is a fork")),
    forkOf: optional(idField),
    archived: optional(flag()),
    tag: optional(text({ max: 1_000 })),
    agent: optional(text({ max: 1_000, about: "the agent that ran the last turn" })),
    model: optional(text({ max: 1_000, about: "the model that was last chosen or used" })),
    status: optional(choice(LIST_STATUSES, "its state")),
    costMicros: optional(count({ about: "minimum cost in microdollars" })),
    rolled: optional(flag("whether it ever moved to another agent session")),
    label: optional(text({ min: 1, max: 1_000, about: "the label of one of its entries" })),
    unlisted: optional(flag("only unlisted conversations of programs")),
  },
  output: answer({ conversations: list(listed), next: nextCursor }),
  async run({ limit = LIST_PAGE, cursor: from, status, ...filter }, { holdfast, clock }) {
    return listRows(holdfast, { limit, filter, status, cursor: from ?? null, nowMs: clock.nowMs() });
  },
});

export const getConversation = operation({
  summary: "Show a conversation as it is now",
  group,
  access: "read",
  kind: "read",
  http: "GET /api/conversations/{conversation}",
  input: { conversation: idField },
  output: conversationSchema,
  async run(input, { holdfast }) {
    return conversationView(holdfast, await conversationOf(input, { holdfast }).head());
  },
});

/** A conversation as it is at a head. */
export async function conversationView(holdfast: Holdfast, head: HeadView): Promise<ConversationView> {
  const conversation = holdfast.handle(head.conversation);
  const settings = await conversation.settings();
  const summary = head.summary ?? (await conversation.summary());
  const turn = await conversation.openTurn(head);
  const { headSeq, ownerSeq, origin, title, cwd, createdAt, updatedAt, lease } = head;
  return {
    conversation: conversation.id,
    title,
    cwd,
    createdAt,
    updatedAt,
    headSeq,
    leaf: head.leaf.id,
    origin: origin === null ? null : { conversation: origin.source, entry: origin.entry },
    summary,
    damage: null,
    space: holdfast.spaceId,
    ownerSeq,
    openTurn:
      turn === null
        ? null
        : {
            turn: turn.turn,
            prompt: turn.prompt,
            since: turn.since,
            left: await isAbandoned(holdfast, turn),
          },
    lease: lease === null ? null : { writer: lease.writer, untilMs: lease.untilMs },
    metadata: summary.metadata,
    settings,
  };
}

export const createConversation = operation({
  summary: "Create a conversation",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations",
  status: 201,
  cli: "new",
  input: {
    id: optional(idField),
    title: optional(text({ max: TITLE_MAX })),
    entries: optional(list(newEntry, { max: 1_000 })),
  },
  local: { cwd: optional(text({ max: 4_096 })) },
  output: answer({ conversation: text() }),
  async run({ entries = [], cwd, ...options }, { holdfast, key, folder = null }) {
    const place = cwd ?? folder;
    const conversation = await holdfast.create({
      ...options,
      ...(place === null ? {} : { cwd: place }),
      ...(key === undefined ? {} : { key }),
      entries: entries as readonly EntryBody[],
    });
    return { conversation: conversation.id };
  },
});

export const setTitle = operation({
  summary: "Set the title of a conversation",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/title",
  cli: "title conversation title...",
  input: { conversation: idField, title: text({ max: TITLE_MAX }) },
  output: written,
  run: ({ title, ...input }, context) => appendFact("setTitle", { type: "title", title }, input, context),
});

export const setMetadata = operation({
  summary: "Set tags, archived, pinned and your own fields; null removes one",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/metadata",
  input: { conversation: idField, metadata: jsonFields },
  output: written,
  run: ({ metadata, ...input }, context) =>
    appendFact("setMetadata", { type: "metadata", metadata: metadata as Metadata }, input, context),
});

export const fork = operation({
  summary: "Fork a conversation at an entry",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/forks",
  status: 201,
  input: { conversation: idField, at: optional(idField), id: optional(idField) },
  local: { cwd: optional(text({ max: 4_096 })) },
  output: answer({ conversation: text(), source: text(), entry: text() }),
  async run({ conversation, ...options }, { holdfast, key }) {
    const source = conversationOf({ conversation }, { holdfast });
    const made = await source.fork({ ...options, ...(key === undefined ? {} : { key }) });
    const { origin, leaf } = await made.head();
    return { conversation: made.id, source: source.id, entry: origin?.entry ?? leaf.id };
  },
});

export const goTo = operation({
  summary: "Continue from another entry",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/leaf",
  cli: "goto conversation@entry",
  input: { conversation: idField, entry: idField },
  local: { expect: optional(count()) },
  output: written,
  async run({ entry, expect, ...input }, context) {
    const conversation = conversationOf(input, context);
    const options = { ...keyed("goTo", context), ...(expect === undefined ? {} : { expected: expect }) };
    return ofEntry(conversation, entry, () =>
      ownerAct(conversation, () => conversation.goTo(entry, options)),
    );
  },
});

export const newChat = operation({
  summary: "Start over with an empty context",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/new-chat",
  cli: "clear conversation",
  input: { conversation: idField },
  output: written,
  async run(input, context) {
    const conversation = conversationOf(input, context);
    return ownerAct(conversation, () => conversation.newChat(keyed("newChat", context)));
  },
});
