import { imageType } from "#agent/tools/image-type";
import { LogError } from "#log/errors";
import type { EntryApi } from "#edges/http/routes/entry-api";
import { ENTRIES_PAGE } from "#operations/entry-pages";
import type { HandlersOf } from "./asked.ts";
import { conversationOf } from "./conversation-of.ts";

export const ENTRY_HANDLERS: HandlersOf<EntryApi> = {
  async getTree(asked) {
    const { limit = ENTRIES_PAGE, cursor = "0" } = asked.query;
    if (!/^\d{1,15}$/.test(cursor))
      throw new LogError("invalid_request", "A cursor is what the page before gave; this is none");
    const conversation = conversationOf(asked);
    const from = Number(cursor);
    const read = await asked.server.trees.read(asked.holdfast, conversation.id, { from, limit });
    const { leaf, nodes, count } = read;
    const end = from + limit;
    return { conversation: conversation.id, leaf, nodes, next: end < count ? String(end) : null };
  },

  async getBlob(asked) {
    const conversation = conversationOf(asked);
    const bytes = await conversation.getBlob(asked.params.digest);
    const image = imageType(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    // What a log holds is never a page: a browser shows the four kinds of images, and keeps all else as a file.
    return new Response(Uint8Array.from(bytes), {
      headers: {
        "content-type": image?.mediaType ?? "application/octet-stream",
        "content-security-policy": "default-src 'none'; sandbox",
        ...(image === null ? { "content-disposition": `attachment; filename="${asked.params.digest}"` } : {}),
      },
    });
  },
};
