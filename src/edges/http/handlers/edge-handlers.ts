import { LogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { openApiDocument } from "#edges/http/routes/open-api";
import { Refusal } from "#edges/http/guard/failures";
import { gauge, METRICS_TYPE } from "#telemetry/metrics-text";
import { conversationOf } from "#operations/acts";
import { JsonText } from "#operations/operation";
import { replayLog } from "#operations/views/replay-log";
import type { HeadView } from "#store/requests";
import type { EdgeShapes } from "#edges/http/routes/api";
import type { EDGE_ROWS } from "#edges/http/routes/edge-rows";
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
import { replayTexts } from "#edges/http/replays/replay-texts";
import type { HandlersOf, RouteRequest } from "./route-request.ts";

export const EDGE_HANDLERS: HandlersOf<EdgeShapes<typeof EDGE_ROWS>> = {
  async health(_input, { server, grant }) {
    await server.probe.check();
    return {
      ok: true,
      version: server.version,
      space: grant.space,
      rights: grant.rights,
      readOnly: server.readOnly,
      draining: server.isDraining(),
      turns: server.turns.size,
      streams: server.streams.size,
      agents: server.turns.names,
      importBytes: server.uploads.bytesMax,
    };
  },

  // OpenAPI allows no member beside its own.
  openApi: async (_input, { server }) => new JsonText(JSON.stringify(openApiDocument(server.version))),

  async getMetrics(_input, { server }) {
    const { metrics, streams, turns } = server;
    if (metrics === null) throw new Refusal("wrong_path", "This server does not collect metrics");
    const text = metrics.text([
      gauge("holdfast_http_open_streams", "Open event streams.", () => streams.size),
      gauge(
        "holdfast_http_stream_bytes",
        "Bytes of large entries buffered for open streams.",
        () => streams.largeBytes,
      ),
      gauge("holdfast_running_turns", "Turns running in this process.", () => turns.size),
    ]);
    return new Response(text, { headers: { "content-type": METRICS_TYPE } });
  },

  async turnEvents({ turn, after = 0, ...input }, request) {
    const { holdfast, server } = request;
    const conversation = conversationOf(input, request);
    const about = { conversation: conversation.id, turn, after: lastSeen(request) ?? after };
    const isKnown = server.turns.hasBegun({ ...about, holdfast }, turn, about.after);
    const last = isKnown ? null : await readTurn(holdfast, about);
    if (last === null && !isKnown)
      throw new LogError("entry_not_found", `Turn not found in ${conversation.id}`);
    return stream(request, (scope) => turnEvents({ holdfast, ...scope }, about, last));
  },

  async tail({ after = 0, ...input }, request) {
    const { holdfast } = request;
    const head = await conversationOf(input, request).head();
    const sent = lastSeen(request);
    checkSent(head, sent ?? 0);
    return stream(request, (scope) => tailEvents({ holdfast, ...scope }, head.conversation, sent ?? after));
  },

  async watch({ watch, textMax = null, words = false }, request) {
    const { holdfast, received, server } = request;
    const watched = watch.map((text): Watched => {
      const [id, seq = "0"] = text.split("@");
      return { conversation: parseConversationId(id), after: Number(seq) };
    });
    const last = received.headers.get("last-event-id");
    const known = last === null ? new Map<number, number>() : readPositions(last, watched.length);
    if (known === null) throw new LogError("invalid_request", "Last-Event-ID belongs to another stream");
    for (const [index, { conversation }] of watched.entries())
      checkSent(await holdfast.handle(conversation).head(), known.get(index) ?? 0);
    const listeners = words ? server.turns.listeners : null;
    return stream(request, (scope) =>
      watchEvents({ holdfast, ...scope, known, listeners, textMax }, watched),
    );
  },

  async replayEvents({ replay, after = 0 }, request) {
    const log = await replayLog(request.holdfast, replay);
    const seen = lastSeen(request) ?? after;
    return stream(request, ({ signal, stopped }) => replayTexts({ log, signal, stopped }, seen));
  },
};

/** The id of the last event that whoever connects again has heard. */
function lastSeen({ received }: Pick<RouteRequest, "received">): number | null {
  const last = received.headers.get("last-event-id");
  if (last === null || last === "") return null;
  if (/^\d{1,15}$/.test(last)) return Number(last);
  throw new LogError("invalid_request", "Last-Event-ID must be the seq of an entry");
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
    received,
  }: Pick<RouteRequest, "server" | "grant" | "isValid" | "brokeOff" | "received">,
  events: (scope: StreamScope) => AsyncIterable<SentEvent>,
): Response {
  return server.streams.respond({ token: grant.token, isValid, brokeOff, gone: received.signal }, events);
}
