import type { Metadata } from "#log/entry";
import type { Lease } from "#log/lineage/head";
import type { Settings } from "#log/projections/settings";
import type { Listed } from "#store/requests";
import type { ListedState } from "#transfer/listed/listed-state";
import type { RoutesOf } from "./route.ts";
import {
  answer,
  anything,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  optional,
  type Schema,
  text,
} from "./value-schema.ts";
import {
  cursor,
  id,
  jsonMembers,
  nextCursor,
  ofConversation,
  type OfConversation,
  pageLimit,
  time,
  type Written,
  written,
  newEntry,
} from "./shared-schemas.ts";

/** `unclean`: a turn failed or never ended, or the log is damaged. `limited`: it ran into a limit of whoever carried it. */
const LIST_STATUSES = ["working", "waiting", "unclean", "limited"] as const;
export type ListStatus = (typeof LIST_STATUSES)[number];

/** A conversation of a list, with how it stands. */
export interface ListedRow extends Listed {
  readonly state: ListedState;
}

interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly prefix?: string;
  readonly suffix?: string;
  readonly cwd?: string;
  readonly under?: string;
  readonly title?: string;
  readonly since?: string;
  readonly fork?: boolean;
  readonly forkOf?: string;
  readonly archived?: boolean;
  readonly tag?: string;
  readonly agent?: string;
  readonly model?: string;
  readonly status?: ListStatus;
  readonly costMicros?: number;
  readonly rolled?: boolean;
  readonly label?: string;
  readonly unlisted?: boolean;
}

/** A turn that has not ended. */
interface OpenTurnView {
  readonly turn: string;
  readonly prompt: string | null;
  readonly since: string;
  /** Whoever carried it is gone: nothing more comes of it until it is gone on with. */
  readonly left: boolean;
}

/** A conversation as it stands now. */
export interface ConversationView extends Listed {
  readonly space: string;
  readonly ownerSeq: number;
  readonly openTurn: OpenTurnView | null;
  /** Who has it for a turn, and until when that counts. */
  readonly lease: Lease | null;
  readonly metadata: Metadata;
  readonly settings: Settings;
}

export interface ConversationApi {
  listConversations: {
    readonly query: ListQuery;
    readonly response: { readonly conversations: readonly ListedRow[]; readonly next: string | null };
  };
  getConversation: { readonly params: OfConversation; readonly response: ConversationView };
  createConversation: {
    readonly body: { readonly id?: string; readonly title?: string; readonly entries?: readonly object[] };
    readonly response: OfConversation;
  };
  setTitle: {
    readonly params: OfConversation;
    readonly body: { readonly title: string };
    readonly response: Written;
  };
  setMetadata: {
    readonly params: OfConversation;
    readonly body: { readonly metadata: { readonly [name: string]: unknown } };
    readonly response: Written;
  };
  fork: {
    readonly params: OfConversation;
    readonly body: { readonly at?: string; readonly id?: string };
    readonly response: OfConversation & { readonly source: string; readonly entry: string };
  };
  goTo: {
    readonly params: OfConversation;
    readonly body: { readonly entry: string };
    readonly response: Written;
  };
  newChat: { readonly params: OfConversation; readonly body: object; readonly response: Written };
}

const summaryMembers = {
  model: nullable(text()),
  agent: nullable(text()),
  branches: count(),
  rollovers: count(),
};
const listedMembers = {
  conversation: text(),
  title: nullable(text()),
  cwd: nullable(text()),
  createdAt: text(),
  updatedAt: text(),
  headSeq: count(),
  leaf: text(),
  origin: nullable(open({ conversation: text(), entry: text() })),
  summary: nullable(open(summaryMembers)),
  damage: nullable(text()),
};

const STATES: readonly ListedState[] = [
  "quiet",
  "working",
  "waiting",
  "cut_off",
  "stopped",
  "failed",
  "limited",
  "limit_over",
  "damaged",
  "newer_format",
  "gone",
];
const listed: Schema<ListedRow> = named(
  "ListedConversation",
  open<ListedRow>({ ...listedMembers, state: choice(STATES) }),
);

const view: Schema<ConversationView> = named(
  "Conversation",
  open<ConversationView>({
    ...listedMembers,
    space: text(),
    ownerSeq: count(),
    openTurn: nullable(
      open({
        turn: text(),
        prompt: nullable(text()),
        since: text(),
        left: flag("whoever carried it is gone; `continueTurn` goes on with it"),
      }),
    ),
    lease: nullable(open({ writer: text(), untilMs: count() })),
    metadata: jsonMembers,
    settings: open({ model: nullable(text()), config: jsonMembers, skills: list(anything()) }),
  }),
);

const group = "Conversations";

export const CONVERSATION_ROUTES: RoutesOf<ConversationApi> = {
  listConversations: {
    method: "GET",
    path: "/api/conversations",
    right: "read",
    group,
    summary: "Lists conversations, the most recently changed first",
    query: object<ListQuery>({
      limit: optional(pageLimit),
      cursor: optional(cursor),
      prefix: optional(text({ min: 1, max: 128 })),
      suffix: optional(text({ min: 1, max: 128 })),
      cwd: optional(text({ max: 4_096, about: "the folder it is about, as it was written" })),
      under: optional(text({ min: 1, max: 4_096, about: "a folder: it is about this one or one below it" })),
      title: optional(text({ max: 1_000, about: "what the title holds, whatever the case" })),
      since: optional(time),
      fork: optional(flag("whether it is a fork")),
      forkOf: optional(id),
      archived: optional(flag()),
      tag: optional(text({ max: 1_000 })),
      agent: optional(text({ max: 1_000, about: "who carried it last" })),
      model: optional(text({ max: 1_000, about: "the model that was chosen or replied last" })),
      status: optional(choice(LIST_STATUSES, "how it stands")),
      costMicros: optional(count({ about: "it has cost at least so many microdollars" })),
      rolled: optional(flag("whether it went on in another upstream session at some time")),
      label: optional(text({ min: 1, max: 1_000, about: "what one of its entries is labelled" })),
      unlisted: optional(flag("only those that are kept for a program")),
    }),
    response: answer<ConversationApi["listConversations"]["response"]>({
      conversations: list(listed),
      next: nextCursor,
    }),
  },
  getConversation: {
    method: "GET",
    path: "/api/conversations/{conversation}",
    right: "read",
    group,
    summary: "Shows a conversation as it stands now",
    params: ofConversation,
    response: view,
  },
  createConversation: {
    method: "POST",
    path: "/api/conversations",
    right: "write",
    writes: true,
    status: 201,
    group,
    summary: "Makes a conversation; its folder is the server's",
    body: object<ConversationApi["createConversation"]["body"]>({
      id: optional(id),
      title: optional(text({ max: 2_000 })),
      entries: optional(list(newEntry, { max: 1_000 })),
    }),
    response: answer<OfConversation>({ conversation: text() }),
  },
  setTitle: {
    method: "POST",
    path: "/api/conversations/{conversation}/title",
    right: "write",
    writes: true,
    group,
    summary: "Gives it another title",
    params: ofConversation,
    body: object<{ readonly title: string }>({ title: text({ max: 2_000 }) }),
    response: written,
  },
  setMetadata: {
    method: "POST",
    path: "/api/conversations/{conversation}/metadata",
    right: "write",
    writes: true,
    group,
    summary:
      "Changes what it is filed under: tags, archived, pinned and members of your own; null takes one away",
    params: ofConversation,
    body: object<ConversationApi["setMetadata"]["body"]>({ metadata: jsonMembers }),
    response: written,
  },
  fork: {
    method: "POST",
    path: "/api/conversations/{conversation}/forks",
    right: "write",
    writes: true,
    status: 201,
    group,
    summary: "Makes a conversation that shares this one up to an entry, or to its end",
    params: ofConversation,
    body: object<ConversationApi["fork"]["body"]>({ at: optional(id), id: optional(id) }),
    response: answer<ConversationApi["fork"]["response"]>({
      conversation: text(),
      source: text(),
      entry: text(),
    }),
  },
  goTo: {
    method: "POST",
    path: "/api/conversations/{conversation}/leaf",
    right: "write",
    writes: true,
    group,
    summary: "Goes on from another entry; refused while a turn runs",
    params: ofConversation,
    body: object<{ readonly entry: string }>({ entry: id }),
    response: written,
  },
  newChat: {
    method: "POST",
    path: "/api/conversations/{conversation}/new-chat",
    right: "write",
    writes: true,
    group,
    summary: "Begins anew in the same conversation: nothing earlier reaches a model",
    params: ofConversation,
    body: object<object>({}),
    response: written,
  },
};
