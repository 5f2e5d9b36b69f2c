import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import type { Asked, HandlersOf } from "#edges/http/handlers/asked";
import { conversationOf } from "#edges/http/handlers/conversation-of";
import type { Operation } from "#edges/http/routes/route";
import type { HeadView } from "#store/requests";
import type { EventApi } from "./event-api.ts";
import type { SentEvent } from "./event-bytes.ts";
import type { StreamScope } from "./event-stream.ts";
import { readPositions, readTurn, tailEvents, turnEvents, type Watched, watchEvents } from "./tails.ts";

export const EVENT_HANDLERS: HandlersOf<EventApi> = {
  async turnEvents(asked) {
    const { turn } = asked.params;
    const conversation = conversationOf(asked);
    const about = { conversation: conversation.id, turn, after: lastSeen(asked) ?? asked.query.after ?? 0 };
    const isKnown = asked.server.turns.hasBegun({ ...about, holdfast: asked.holdfast }, turn, about.after);
    const last = isKnown ? null : await readTurn(asked.holdfast, about);
    if (last === null && !isKnown)
      throw new LogError("entry_not_found", `There is no such turn in ${conversation.id}`);
    return stream(asked, (scope) => turnEvents({ holdfast: asked.holdfast, ...scope }, about, last));
  },

  async tail(asked) {
    const { holdfast } = asked;
    const head = await conversationOf(asked).head();
    const id = head.conversation;
    const sent = lastSeen(asked);
    checkSent(head, sent ?? 0);
    const after = sent ?? asked.query.after ?? 0;
    return stream(asked, (scope) => tailEvents({ holdfast, ...scope }, id, after));
  },

  async watch(asked) {
    const { holdfast, query, headers } = asked;
    const watched = query.watch.map((text): Watched => {
      const [id, seq = "0"] = text.split("@");
      return { conversation: parseConversationId(id), after: Number(seq) };
    });
    const last = headers.get("last-event-id");
    const known = last === null ? new Map<number, number>() : readPositions(last, watched.length);
    if (known === null)
      throw new LogError("invalid_request", "Last-Event-ID is of another stream than this one");
    for (const [at, { conversation }] of watched.entries())
      checkSent(await holdfast.handle(conversation).head(), known.get(at) ?? 0);
    const { textMax = null } = query;
    const listeners = query.words === true ? asked.server.turns.listeners : null;
    return stream(asked, (scope) => watchEvents({ holdfast, ...scope, known, listeners, textMax }, watched));
  },
};

/** The id of the last event that whoever connects again has heard. */
export function lastSeen({ headers }: Pick<Asked<Operation>, "headers">): number | null {
  const last = headers.get("last-event-id");
  if (last === null || last === "") return null;
  if (/^\d{1,15}$/.test(last)) return Number(last);
  throw new LogError("invalid_request", "Last-Event-ID is the seq of an entry here");
}

/** Refuses to resume a stream whose last event is no longer in the log. */
function checkSent({ conversation, headSeq }: HeadView, sent: number): void {
  if (sent <= headSeq) return;
  throw new LogError(
    "diverged",
    `Conversation ${conversation} lost entries ${headSeq + 1} to ${sent}, which you were sent. The database was probably restored, or failed over to a standby that lacked them. Read the log from the start`,
    { conversation, seq: sent },
  );
}

/** A response that streams, as long as its reader reads. */
export function stream(
  {
    server,
    grant,
    isValid,
    brokeOff,
    signal: gone,
  }: Pick<Asked<Operation>, "server" | "grant" | "isValid" | "brokeOff" | "signal">,
  events: (scope: StreamScope) => AsyncIterable<SentEvent>,
): Response {
  return server.streams.respond({ token: grant.token, isValid, brokeOff, gone }, events);
}
