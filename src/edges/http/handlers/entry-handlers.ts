import type { Conversation } from "#conversation/conversation";
import type { AppendResult } from "#log/batch";
import { imageType } from "#agent/tools/image-type";
import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { objectText } from "#log/json/json-text";
import type { EntryApi } from "#edges/http/routes/entry-api";
import { contextText } from "#transfer/context-text";
import { SCHEMA_VERSION } from "#transfer/schema-version";
import { JsonText } from "#operations/operation";
import type { HandlersOf } from "./asked.ts";
import { appendFact, conversationOf, ownAct, writtenOf } from "./conversation-of.ts";
import { ENTRIES_PAGE, readEntriesPage, typesOf } from "./entry-pages.ts";
import { givenEntries } from "./given-entries.ts";

const PAGE_CHARS = 4_194_304; // of a page: what is larger comes alone

export const ENTRY_HANDLERS: HandlersOf<EntryApi> = {
  async listEntries(asked) {
    const conversation = conversationOf(asked);
    const texts = new Map<StoredEntry, string>();
    const read = await readEntriesPage(conversation, asked.query, (entries) => fitting(entries, texts));
    return page(conversation, [
      { name: "entries", text: `[${read.entries.map((entry) => texts.get(entry)).join(",")}]` },
      { name: "next", text: JSON.stringify(read.next) },
      { name: "previous", text: JSON.stringify(read.previous) },
      { name: "headSeq", text: String(read.headSeq) },
    ]);
  },

  async listHistory(asked) {
    const { at, cursor, limit = ENTRIES_PAGE } = asked.query;
    const types = typesOf(asked.query.types);
    const conversation = conversationOf(asked);
    const found = await conversation.history({
      limit,
      ...(at === undefined ? {} : { at }),
      ...(cursor === undefined ? {} : { cursor }),
      ...(types === undefined ? {} : { types }),
    });
    const hidden = found.entries.flatMap((entry) => (entry.hidden ? [entry.id] : []));
    return page(conversation, [
      { name: "entries", text: `[${found.entries.map((entry) => entryLine(entry)).join(",")}]` },
      { name: "hidden", text: JSON.stringify(hidden) },
      { name: "next", text: JSON.stringify(found.cursor) },
    ]);
  },

  async getEntry(asked) {
    const conversation = conversationOf(asked);
    return new JsonText(entryLine(await conversation.entry(asked.params.entry)));
  },

  async appendEntries(asked) {
    const { body, bodyText, grant, key } = asked;
    const conversation = conversationOf(asked);
    const entries = givenEntries(bodyText, body.entries, grant);
    const keyed = key === undefined ? {} : { key };
    if (body.outside === true)
      return writtenOf(conversation, await conversation.appendOutside(entries, keyed));
    const expected = body.expected === undefined ? {} : { expected: body.expected };
    const append = (): Promise<AppendResult> => conversation.append(entries, { ...keyed, ...expected });
    return writtenOf(conversation, await ownAct(conversation, append));
  },

  setLabel: (asked) =>
    appendFact(asked, "setLabel", { type: "label", target: asked.params.entry, label: asked.body.label }),

  setHidden: (asked) =>
    appendFact(asked, "setHidden", {
      type: "hide",
      target: asked.params.entry,
      ...(asked.body.hidden ? {} : { hidden: false }),
    }),

  async getContext(asked) {
    const { at } = asked.query;
    const conversation = conversationOf(asked);
    const found = await conversation.exactContext(at === undefined ? {} : { at });
    return new JsonText(contextText(conversation.id, found));
  },

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

/** How many fit into a page, at least one; their exact text is kept. */
function fitting(entries: readonly StoredEntry[], texts: Map<StoredEntry, string>): number {
  let chars = 0;
  for (const entry of entries) {
    const text = entryLine(entry);
    chars += text.length;
    if (texts.size > 0 && chars > PAGE_CHARS) break;
    texts.set(entry, text);
  }
  return texts.size;
}

function page(conversation: Conversation, members: Parameters<typeof objectText>[0]): JsonText {
  return new JsonText(
    objectText([
      { name: "schemaVersion", text: String(SCHEMA_VERSION) },
      { name: "conversation", text: JSON.stringify(conversation.id) },
      ...members,
    ]),
  );
}
