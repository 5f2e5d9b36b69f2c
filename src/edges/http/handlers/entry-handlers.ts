import type { Conversation } from "#conversation/conversation";
import { imageType } from "#agent/tools/image-type";
import { entryLine } from "#log/codec";
import type { Entry, EntryType, StoredEntry } from "#log/entry";
import { isEntryType } from "#log/entry-types";
import { LogError } from "#log/errors";
import { objectText } from "#log/json/json-text";
import type { EntryApi } from "#edges/http/routes/entry-api";
import { contextText } from "#transfer/context-text";
import { SCHEMA_VERSION } from "#transfer/schema-version";
import { entryPreview } from "#transfer/shown/entry-preview";
import { type HandlersOf, JsonText } from "./asked.ts";
import { appendFact, conversationOf, writtenOf } from "./conversation-of.ts";
import { givenEntries } from "./given-entries.ts";

const PAGE = 100;
const PAGE_CHARS = 4_194_304; // of a page: what is larger comes alone

export const ENTRY_HANDLERS: HandlersOf<EntryApi> = {
  async listEntries(asked) {
    const { after, before, limit = PAGE } = asked.query;
    if (after !== undefined && before !== undefined)
      throw new LogError("invalid_request", "A page is after a seq or before one, not both");
    const types = typesOf(asked.query.types);
    const conversation = await conversationOf(asked);
    const { headSeq } = await conversation.head();
    const wanted = { conversation: conversation.id, limit, ...(types === undefined ? {} : { types }) };
    const read = await conversation.space.read(
      before === undefined
        ? { ...wanted, after: after ?? 0 }
        : { ...wanted, after: before, newestFirst: true },
    );
    const { texts, kept } = linesOf(read);
    const isBack = before !== undefined;
    const entries = isBack ? kept.toReversed() : kept;
    const [first, last] = [entries[0], entries.at(-1)];
    const isFull = kept.length < read.length || read.length === limit;
    const next = isBack
      ? last === undefined || last.seq >= headSeq
        ? null
        : last.seq
      : isFull
        ? last
        : null;
    const previous = isBack
      ? isFull
        ? first
        : null
      : first === undefined || first.seq === 1
        ? null
        : first.seq;
    return page(conversation, [
      { name: "entries", text: `[${(isBack ? texts.toReversed() : texts).join(",")}]` },
      { name: "next", text: seqText(next) },
      { name: "previous", text: seqText(previous) },
      { name: "headSeq", text: String(headSeq) },
    ]);
  },

  async listHistory(asked) {
    const { at, cursor, limit = PAGE } = asked.query;
    const types = typesOf(asked.query.types);
    const conversation = await conversationOf(asked);
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
    const conversation = await conversationOf(asked);
    return new JsonText(entryLine(await conversation.entry(asked.params.entry)));
  },

  async appendEntries(asked) {
    const { body, bodyText, grant, key } = asked;
    const conversation = await conversationOf(asked);
    const entries = givenEntries(bodyText, grant);
    const keyed = key === undefined ? {} : { key };
    if (body.outside === true)
      return writtenOf(conversation, await conversation.appendOutside(entries, keyed));
    const expected = body.expected === undefined ? {} : { expected: body.expected };
    return writtenOf(conversation, await conversation.append(entries, { ...keyed, ...expected }));
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
    const conversation = await conversationOf(asked);
    const found = await conversation.exactContext(at === undefined ? {} : { at });
    const given = at === undefined ? await conversation.given() : null;
    return new JsonText(contextText(conversation.id, { ...found, given }));
  },

  async getTree(asked) {
    const { limit = PAGE, cursor = "0" } = asked.query;
    if (!/^\d{1,15}$/.test(cursor))
      throw new LogError("invalid_request", "A cursor is what the page before gave; this is none");
    const conversation = await conversationOf(asked);
    const { leaf, nodes } = await conversation.tree();
    const from = Number(cursor);
    const shown = nodes
      .slice(from, from + limit)
      .map(({ entry, children, active, label, hidden, inherited }) => ({
        id: entry.id,
        parentId: entry.parentId,
        children,
        active,
        type: entry.type,
        label,
        hidden,
        inherited,
        preview: entryPreview(entry),
      }));
    const next = from + limit < nodes.length ? String(from + limit) : null;
    return { conversation: conversation.id, leaf, nodes: shown, next };
  },

  async getBlob(asked) {
    const conversation = await conversationOf(asked);
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

function typesOf(given: readonly string[] | undefined): readonly EntryType[] | undefined {
  const unknown = given?.find((type) => !isEntryType(type));
  if (unknown !== undefined)
    throw new LogError("invalid_request", `There is no type of entry "${unknown}"`, { type: unknown });
  return given as readonly EntryType[] | undefined;
}

/** The exact text of as many as fit into a page, at least one. */
function linesOf(entries: readonly StoredEntry[]): {
  readonly texts: readonly string[];
  readonly kept: readonly StoredEntry[];
} {
  const texts: string[] = [];
  let chars = 0;
  for (const entry of entries) {
    const text = entryLine(entry);
    chars += text.length;
    if (texts.length > 0 && chars > PAGE_CHARS) break;
    texts.push(text);
  }
  return { texts, kept: entries.slice(0, texts.length) };
}

function seqText(at: StoredEntry | Entry | number | null | undefined): string {
  return JSON.stringify(typeof at === "object" ? (at?.seq ?? null) : (at ?? null));
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
