import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { AppendResult } from "#log/batch";
import { openTurnAt, readSummary } from "#conversation/list-conversations";
import type { Metadata } from "#log/entry";
import type { Grant } from "#edges/http/access/grant";
import { isLeft } from "#edges/http/events/left-turns";
import type { ConversationApi, ConversationView } from "#edges/http/routes/conversation-api";
import type { Listed } from "#store/requests";
import { type HandlersOf, keyed } from "./asked.ts";
import { listedRows } from "#edges/http/lists/listed-rows";
import { appendFact, conversationOf, ownAct, writtenOf } from "./conversation-of.ts";
import { givenEntries } from "./given-entries.ts";

const LIST_PAGE = 50;

export const CONVERSATION_HANDLERS: HandlersOf<ConversationApi> = {
  async listConversations({ holdfast, query, server }) {
    const { limit = LIST_PAGE, cursor, status, ...filter } = query;
    return listedRows(holdfast, {
      limit,
      filter,
      status,
      cursor: cursor ?? null,
      nowMs: server.clock.nowMs(),
    });
  },

  async getConversation(asked) {
    return viewOf(conversationOf(asked), asked);
  },

  async createConversation({ holdfast, body, bodyText, key, grant, server }) {
    const { id, title } = body;
    const { cwd } = server;
    const conversation = await holdfast.create({
      ...(id === undefined ? {} : { id }),
      ...(title === undefined ? {} : { title }),
      ...(cwd === null ? {} : { cwd }),
      ...(key === undefined ? {} : { key }),
      entries: givenEntries(bodyText, body.entries ?? [], grant),
    });
    return { conversation: conversation.id };
  },

  async setTitle(asked) {
    const { title } = asked.body;
    return appendFact(asked, "setTitle", { type: "title", title });
  },

  async setMetadata(asked) {
    const metadata = asked.body.metadata as Metadata;
    return appendFact(asked, "setMetadata", { type: "metadata", metadata });
  },

  async fork(asked) {
    const { body, key } = asked;
    const conversation = conversationOf(asked);
    const fork = await conversation.fork({
      ...body,
      ...(key === undefined ? {} : { key }),
    });
    const { origin, leaf } = await fork.head();
    return { conversation: fork.id, source: conversation.id, entry: origin?.entry ?? leaf.id };
  },

  async goTo(asked) {
    const conversation = conversationOf(asked);
    const go = (): Promise<AppendResult> => conversation.goTo(asked.body.entry, keyed("goTo", asked.key));
    return writtenOf(conversation, await ownAct(conversation, go));
  },

  async newChat(asked) {
    const conversation = conversationOf(asked);
    const begin = (): Promise<AppendResult> => conversation.newChat(keyed("newChat", asked.key));
    return writtenOf(conversation, await ownAct(conversation, begin));
  },
};

async function viewOf(
  conversation: Conversation,
  { holdfast, grant }: { readonly holdfast: Holdfast; readonly grant: Grant },
): Promise<ConversationView> {
  const [head, settings] = [await conversation.head(), await conversation.settings()];
  const summary = head.summary ?? (await readSummary(conversation.space, conversation.id));
  const open = await openTurnAt(conversation.space, head);
  const { headSeq, ownerSeq, origin, title, cwd, createdAt, updatedAt, lease } = head;
  const listed: Listed = {
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
  };
  return {
    ...listed,
    space: grant.space,
    ownerSeq,
    openTurn:
      open === null
        ? null
        : {
            turn: open.turn,
            prompt: open.prompt,
            since: open.since,
            left: await isLeft(holdfast, open),
          },
    lease: lease === null ? null : { writer: lease.writer, untilMs: lease.untilMs },
    metadata: summary.metadata,
    settings,
  };
}
