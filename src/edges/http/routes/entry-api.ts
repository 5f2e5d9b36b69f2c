import type { Entry } from "#log/entry";
import type { ContextMessage } from "#log/projections/pairs";
import { treeNode, type TreeNode } from "#edges/http/branches/tree-node";
import type { RoutesOf } from "./route.ts";
import {
  cursor,
  entry,
  id,
  issue,
  jsonMembers,
  nextCursor,
  ofConversation,
  type OfConversation,
  type OfEntry,
  ofEntry,
  pageLimit,
  type Written,
  written,
  newEntry,
} from "./shared-schemas.ts";
import {
  answer,
  anything,
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

interface EntriesQuery {
  readonly after?: number;
  readonly before?: number;
  readonly limit?: number;
  readonly types?: readonly string[];
}

/** Entries in the order of the log, whichever way the pages go. */
export interface EntryPage {
  readonly conversation: string;
  readonly entries: readonly Entry[];
  /** `after` of the page that follows, `before` of the one that precedes; null: there is none. */
  readonly next: number | null;
  readonly previous: number | null;
  readonly headSeq: number;
}

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

export interface EntryApi {
  listEntries: {
    readonly params: OfConversation;
    readonly query: EntriesQuery;
    readonly response: EntryPage;
  };
  listHistory: {
    readonly params: OfConversation;
    readonly query: {
      readonly at?: string;
      readonly cursor?: string;
      readonly limit?: number;
      readonly types?: readonly string[];
    };
    readonly response: {
      readonly conversation: string;
      readonly entries: readonly Entry[];
      /** The ids of those among them that are hidden. */
      readonly hidden: readonly string[];
      readonly next: string | null;
    };
  };
  getEntry: { readonly params: OfEntry; readonly response: Entry };
  appendEntries: {
    readonly params: OfConversation;
    readonly body: {
      readonly entries: readonly object[];
      readonly expected?: number;
      readonly outside?: boolean;
    };
    readonly response: Written;
  };
  setLabel: {
    readonly params: OfEntry;
    readonly body: { readonly label: string | null };
    readonly response: Written;
  };
  setHidden: {
    readonly params: OfEntry;
    readonly body: { readonly hidden: boolean };
    readonly response: Written;
  };
  getContext: {
    readonly params: OfConversation;
    readonly query: { readonly at?: string };
    readonly response: ContextView;
  };
  getTree: {
    readonly params: OfConversation;
    readonly query: { readonly limit?: number; readonly cursor?: string };
    readonly response: {
      readonly conversation: string;
      readonly leaf: string;
      readonly nodes: readonly TreeNode[];
      readonly next: string | null;
    };
  };
  getBlob: {
    readonly params: OfConversation & { readonly digest: string };
    readonly response: Uint8Array;
  };
}

const types: Schema<readonly string[]> = list(text({ min: 1, max: 64, pattern: /^[a-z_]+$/ }), { max: 64 });
const group = "Entries";

export const ENTRY_ROUTES: RoutesOf<EntryApi> = {
  listEntries: {
    method: "GET",
    path: "/api/conversations/{conversation}/entries",
    right: "read",
    group,
    summary: "Lists its own entries in the order of the log: from the start, after a seq, or before one",
    params: ofConversation,
    query: object<EntriesQuery>({
      after: optional(count({ about: "entries behind this seq" })),
      before: optional(count({ min: 1, about: "the last entries in front of this seq" })),
      limit: optional(pageLimit),
      types: optional(types),
    }),
    response: answer<EntryPage>({
      conversation: text(),
      entries: list(entry),
      next: nullable(count()),
      previous: nullable(count()),
      headSeq: count(),
    }),
  },
  listHistory: {
    method: "GET",
    path: "/api/conversations/{conversation}/history",
    right: "read",
    group,
    summary: "Lists a branch, the newest entries first by pages, each page oldest first",
    params: ofConversation,
    query: object<EntryApi["listHistory"]["query"]>({
      at: optional(id),
      cursor: optional(cursor),
      limit: optional(pageLimit),
      types: optional(types),
    }),
    response: answer<EntryApi["listHistory"]["response"]>({
      conversation: text(),
      entries: list(entry),
      hidden: list(text()),
      next: nextCursor,
    }),
  },
  getEntry: {
    method: "GET",
    path: "/api/conversations/{conversation}/entries/{entry}",
    right: "read",
    group,
    summary: "Shows one entry, its own or inherited, exactly as it was written",
    params: ofEntry,
    response: entry,
  },
  appendEntries: {
    method: "POST",
    path: "/api/conversations/{conversation}/entries",
    right: "write",
    writes: true,
    group,
    summary: "Appends entries as one batch, each in exactly the text it was sent in",
    params: ofConversation,
    body: object<EntryApi["appendEntries"]["body"]>({
      entries: list(newEntry, { min: 1, max: 1_000 }),
      expected: optional(
        count({ about: "the last seq you have seen: refused where an owner wrote after it" }),
      ),
      outside: optional(flag("facts from outside a turn, which do not disturb one that runs")),
    }),
    response: written,
  },
  setLabel: {
    method: "POST",
    path: "/api/conversations/{conversation}/entries/{entry}/label",
    right: "write",
    writes: true,
    group,
    summary: "Names a node; null takes the name away",
    params: ofEntry,
    body: object<EntryApi["setLabel"]["body"]>({ label: nullable(text({ max: 1_000 })) }),
    response: written,
  },
  setHidden: {
    method: "POST",
    path: "/api/conversations/{conversation}/entries/{entry}/hidden",
    right: "write",
    writes: true,
    group,
    summary: "Takes a node out of the context, or brings it back; the log keeps it either way",
    params: ofEntry,
    body: object<EntryApi["setHidden"]["body"]>({ hidden: flag() }),
    response: written,
  },
  getContext: {
    method: "GET",
    path: "/api/conversations/{conversation}/context",
    right: "read",
    group,
    summary:
      "Shows what the model is sent, now or as it was at any entry, in exactly the text that is stored",
    params: ofConversation,
    query: object<EntryApi["getContext"]["query"]>({ at: optional(id) }),
    response: named(
      "Context",
      open<ContextView>({
        conversation: text(),
        leaf: text(),
        model: nullable(text()),
        messages: list(open({ role: text(), content: list(anything()) })),
        config: jsonMembers,
        skills: list(anything()),
        state: anything(),
        issues: list(issue),
      }),
    ),
  },
  getTree: {
    method: "GET",
    path: "/api/conversations/{conversation}/tree",
    right: "read",
    group,
    summary: "Lists every node it can reach, on all branches, in the order they were written",
    params: ofConversation,
    query: object<EntryApi["getTree"]["query"]>({ limit: optional(pageLimit), cursor: optional(cursor) }),
    response: answer<EntryApi["getTree"]["response"]>({
      conversation: text(),
      leaf: text(),
      nodes: list(treeNode),
      next: nextCursor,
    }),
  },
  getBlob: {
    method: "GET",
    path: "/api/conversations/{conversation}/blobs/{digest}",
    right: "read",
    answers: "bytes",
    types: ["application/octet-stream", "image/png", "image/jpeg", "image/gif", "image/webp"],
    group,
    summary: "Gives the bytes that an entry names: images as such, all else as a file to be kept",
    params: object<EntryApi["getBlob"]["params"]>({
      conversation: id,
      digest: text({ pattern: /^[0-9a-f]{64}$/, max: 64, about: "the 64 digits of a SHA-256" }),
    }),
    response: anything<Uint8Array>(),
  },
};
