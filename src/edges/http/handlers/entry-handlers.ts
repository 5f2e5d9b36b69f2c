import { imageType } from "#agent/tools/image-type";
import type { EntryApi } from "#edges/http/routes/entry-api";
import type { HandlersOf } from "./asked.ts";
import { conversationOf } from "./conversation-of.ts";

export const ENTRY_HANDLERS: HandlersOf<EntryApi> = {
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
