import { readWaiting } from "#agent/read-waiting";
import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { isHeld } from "#log/plans/lease";
import type { HeadView } from "#store/requests";
import type { TurnApi, TurnBegun } from "#edges/http/routes/turn-api";
import type { SentEvent } from "#edges/http/events/event-bytes";
import type { StreamScope } from "#edges/http/events/event-stream";
import {
  readPositions,
  readTurn,
  tailEvents,
  turnEvents,
  type Watched,
  watchEvents,
} from "#edges/http/events/tails";
import type { EndedTurn, RunTurnOptions, Turns } from "#turn/turns";
import type { Operation } from "#edges/http/routes/route";
import type { Asked, HandlersOf } from "./asked.ts";
import { conversationOf } from "./conversation-of.ts";

type AskedTurn = Pick<
  Asked<{
    readonly params: { readonly conversation: string };
    readonly body: { readonly agent?: string; readonly model?: string };
    readonly response: unknown;
  }>,
  "holdfast" | "params" | "body" | "key" | "server" | "headers" | "signal" | "grant" | "isValid"
>;

export const TURN_HANDLERS: HandlersOf<TurnApi> = {
  send: (asked) => begin(asked, (turns, id, options) => turns.send(id, asked.body.content, options)),

  edit: (asked) =>
    begin(asked, (turns, id, options) => turns.edit(id, asked.params.entry, asked.body.content, options)),

  continueTurn: (asked) => begin(asked, (turns, id, options) => turns.continue(id, options)),

  retry: (asked) => begin(asked, (turns, id, options) => turns.retry(id, options)),

  async answerRequest(asked) {
    const { request, outcome } = asked.body;
    const conversation = conversationOf(asked);
    const isWaiting = (await readWaiting(conversation)).some((one) => one.request === request);
    const answered = await conversation.findAnswer(request);
    if (!isWaiting && answered === null)
      throw new LogError(
        "entry_not_found",
        `Nothing in ${conversation.id} waits for an answer to ${request}`,
        { request },
      );
    const about = { conversation: conversation.id, request };
    if (!isWaiting) return { ...about, deduped: true, turn: null };
    const { deduped } = await conversation.answer(request, outcome, { by: asked.grant.token });
    // Whoever carries the turn hears of it; where nobody does, it is gone on with here.
    const { lease } = await conversation.head();
    if (isHeld(lease) || asked.server.turns.names.length === 0) return { ...about, deduped, turn: null };
    const turn = await started(asked, conversation, (turns, id, options) => turns.continue(id, options));
    return { ...about, deduped, turn };
  },

  async steer(asked) {
    const { content, when, agent: name } = asked.body;
    const conversation = conversationOf(asked);
    const agent = await asked.server.turns.agent(asked.holdfast, { agent: name });
    const { steer, delivered } = await agent.steer(conversation.id, content, {
      ...(asked.key === undefined ? {} : { steer: asked.key }),
      ...(when === undefined ? {} : { when }),
    });
    return { conversation: conversation.id, steer, delivered };
  },

  async cancel(asked) {
    const conversation = conversationOf(asked);
    const cancelled = await asked.server.turns.cancel(asked.holdfast, conversation, asked.signal);
    return { conversation: conversation.id, cancelled };
  },

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

type Run = (turns: Turns, conversation: string, options: RunTurnOptions) => Promise<EndedTurn>;

/** Begins a turn; whoever wants events is sent them, all others that it has begun. */
async function begin(asked: AskedTurn, run: Run): Promise<TurnBegun | Response> {
  const conversation = conversationOf(asked);
  const turn = await started(asked, conversation, run);
  if (!(asked.headers.get("accept") ?? "").includes("text/event-stream")) return turn;
  return stream(asked, (scope) => turnEvents({ holdfast: asked.holdfast, ...scope }, turn, null));
}

async function started(asked: AskedTurn, conversation: Conversation, run: Run): Promise<TurnBegun> {
  const { body, key, server, holdfast } = asked;
  const place = { holdfast, conversation: conversation.id, chosen: body };
  const begun = await server.turns.begin(place, (turns, host) =>
    run(turns, conversation.id, {
      ...host,
      ...(key === undefined ? {} : { key }),
      ...(body.model === undefined ? {} : { model: body.model }),
    }),
  );
  const { turn, prompt, differs } = begun;
  // Words that were on their way under their key when they came again are told from their beginning, too.
  const repeated = begun.after === null || (begun.resumed && "content" in body);
  const after = repeated ? (await conversation.entry(prompt)).seq - 1 : (begun.after ?? 0);
  return { conversation: conversation.id, turn, prompt, after, repeated, differs };
}

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
  { server, grant, isValid, signal: gone }: Pick<Asked<Operation>, "server" | "grant" | "isValid" | "signal">,
  events: (scope: StreamScope) => AsyncIterable<SentEvent>,
): Response {
  return server.streams.respond({ token: grant.token, isValid, gone }, events);
}
