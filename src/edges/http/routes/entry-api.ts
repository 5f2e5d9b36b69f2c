import type { RoutesOf } from "./route.ts";
import { id, type OfConversation } from "./shared-schemas.ts";
import { anything, object, text } from "./value-schema.ts";

export interface EntryApi {
  getBlob: {
    readonly params: OfConversation & { readonly digest: string };
    readonly response: Uint8Array;
  };
}

const group = "Entries";

export const ENTRY_ROUTES: RoutesOf<EntryApi> = {
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
