import type { RoutesOf } from "#edges/http/routes/route";
import { entry, id, ofConversation, type OfConversation, pageLimit } from "#edges/http/routes/shared-schemas";
import { answer, count, list, object, open, optional, record, text } from "#edges/http/routes/value-schema";
import type { Entry } from "#log/entry";

interface BranchQuery {
  readonly leaf?: string;
  readonly at?: string;
  readonly from?: number;
  readonly limit?: number;
  readonly textMax?: number;
}

/** A stretch of a branch, oldest first, by the places of its nodes: the root is 0. */
export interface BranchPage extends OfConversation {
  /** The node that the branch ends at. */
  readonly leaf: string;
  /** How many nodes the branch has, and how many of them another conversation holds. */
  readonly length: number;
  readonly inherited: number;
  /** The place of the first entry. */
  readonly from: number;
  /** The logs that the entries lie in, oldest first: each from a place on. Seqs count in a log, and so do facts. */
  readonly logs: readonly { readonly conversation: string; readonly from: number }[];
  readonly entries: readonly Entry[];
  /** The ids of those among them that are hidden. */
  readonly hidden: readonly string[];
  /** The ids of those among them of which a text was cut, and how long their lines are; `getEntry` has them whole. */
  readonly cut: { readonly [entry: string]: number };
  /** The last entry of the log when this was read: what comes behind it changes what is shown. */
  readonly headSeq: number;
}

/** Any stretch of a branch, for whoever shows it by the screen. */
export interface BranchApi {
  listBranch: {
    readonly params: OfConversation;
    readonly query: BranchQuery;
    readonly response: BranchPage;
  };
}

export const BRANCH_ROUTES: RoutesOf<BranchApi> = {
  listBranch: {
    method: "GET",
    path: "/api/conversations/{conversation}/branch",
    right: "read",
    group: "Entries",
    summary:
      "Lists any stretch of a branch: from a place on, around an entry, or its end; one that is not on the branch names another",
    params: ofConversation,
    query: object<BranchQuery>({
      leaf: optional(id),
      at: optional(id),
      from: optional(count({ about: "the place of the first that is wanted; the root is 0" })),
      limit: optional(pageLimit),
      textMax: optional(
        count({ min: 1, about: "longer texts are cut to so many characters; none unless given" }),
      ),
    }),
    response: answer<BranchPage>({
      conversation: text(),
      leaf: text(),
      length: count(),
      inherited: count(),
      from: count(),
      logs: list(open({ conversation: text(), from: count() })),
      entries: list(entry),
      hidden: list(text()),
      cut: record(count()),
      headSeq: count(),
    }),
  },
};
