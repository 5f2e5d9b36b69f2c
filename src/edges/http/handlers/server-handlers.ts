import type { ServerApi } from "#edges/http/routes/server-api";
import { openApiDocument } from "#edges/http/routes/open-api";
import { Refusal } from "#edges/http/guard/failures";
import { gauge, METRICS_TYPE } from "#telemetry/metrics-text";
import { JsonText } from "#operations/operation";
import type { HandlersOf } from "./asked.ts";

export const SERVER_HANDLERS: HandlersOf<ServerApi> = {
  async health({ server, grant }) {
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
  openApi: async ({ server }) => new JsonText(JSON.stringify(openApiDocument(server.version))),

  async getMetrics({ server }) {
    const { metrics, streams, turns } = server;
    if (metrics === null) throw new Refusal("wrong_path", "This server keeps no figures");
    const text = metrics.text([
      gauge("holdfast_http_open_streams", "Streams of events that are open.", () => streams.size),
      gauge(
        "holdfast_http_stream_bytes",
        "Bytes of large entries that open streams hold for their readers.",
        () => streams.largeBytes,
      ),
      gauge("holdfast_running_turns", "Turns that this process carries at the moment.", () => turns.size),
    ]);
    return new Response(text, { headers: { "content-type": METRICS_TYPE } });
  },
};
