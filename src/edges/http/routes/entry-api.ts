import { treeNode, type TreeNode } from "#edges/http/branches/tree-node";
import type { RoutesOf } from "./route.ts";
import { cursor, id, nextCursor, ofConversation, type OfConversation, pageLimit } from "./shared-schemas.ts";
import { answer, anything, list, object, optional, text } from "./value-schema.ts";

export interface EntryApi {
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

const group = "Entries";

export const ENTRY_ROUTES: RoutesOf<EntryApi> = {
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
