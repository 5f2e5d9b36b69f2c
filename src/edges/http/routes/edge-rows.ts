import type { Entry } from "#log/entry";
import type { Download, Row } from "#operations/operation";
import { progressShape } from "#operations/replays";
import {
  answer,
  anything,
  choice,
  count,
  entryShape,
  type Fields,
  flag,
  idField,
  list,
  type ObjectOf,
  open,
  optional,
  type Schema,
  text,
  type TypeOf,
} from "#operations/schemas";
import type { ReplayProgress } from "#operations/views/replay-log";
import { type Right, RIGHTS } from "./route.ts";

/** A row that HTTP alone interprets, with a handler of its own. */
export interface EdgeRow<Input extends object = object, Output = unknown> extends Row {
  readonly input: Fields;
  readonly output: Schema<Output>;
  /** For types alone. */
  readonly inputType?: Input;
}

export function edgeRow<const I extends Fields, O extends Schema>(
  row: Row & { readonly input: I; readonly output: O },
): EdgeRow<ObjectOf<I>, TypeOf<O>> {
  return row;
}

export interface Health {
  readonly ok: true;
  readonly version: string;
  readonly space: string;
  readonly rights: Right;
  readonly readOnly: boolean;
  /** No more turns are begun: the server is about to stop. */
  readonly draining: boolean;
  readonly turns: number;
  readonly streams: number;
  readonly agents: readonly string[];
  /** The largest file that is imported. */
  readonly importBytes: number;
}

/** Something that happened in a replay, and how far it is. */
export interface ReplayEventView {
  readonly event: { readonly type: string };
  readonly progress: ReplayProgress;
}

/** `cut`: a text of the entry is longer than requested; so long is the entry. */
export interface WatchedEntry {
  readonly conversation: string;
  readonly entry: Entry;
  readonly cut?: number;
}

const server = { group: "Server", access: "read", kind: "read" } as const;
const stream = { group: "Turns", access: "read", kind: "stream" } as const;
const WATCHED_MAX = 64;
const after = optional(count({ about: "the last seq you have seen; Last-Event-ID takes precedence" }));

/** What describes the server itself, and what only streams. */
export const EDGE_ROWS = {
  health: edgeRow({
    ...server,
    http: "GET /api/health",
    summary: "Check that the store responds, and identify the token",
    input: {},
    output: answer({
      ok: anything<true>(),
      version: text(),
      space: text(),
      rights: choice(RIGHTS),
      readOnly: flag(),
      draining: flag(),
      turns: count(),
      streams: count(),
      agents: list(text()),
      importBytes: count(),
    }),
  }),
  openApi: edgeRow({
    ...server,
    http: "GET /api/openapi.json",
    summary: "Describe every route in OpenAPI 3.1",
    input: {},
    output: open<object>({ openapi: text(), paths: open({}) }),
  }),
  getMetrics: edgeRow({
    ...server,
    access: "metrics",
    kind: "download",
    types: ["text/plain"],
    http: "GET /metrics",
    summary: "Return the metrics of the process in Prometheus text format",
    input: {},
    output: anything<Download>(),
  }),
  turnEvents: edgeRow({
    ...stream,
    http: "GET /api/conversations/{conversation}/turns/{turn}/events",
    summary:
      "Stream entries until a turn ends, in any process; the last event is `end`, or `left` if the process running it exited",
    input: { conversation: idField, turn: text({ min: 1, max: 200 }), after },
    output: entryShape,
  }),
  tail: edgeRow({
    ...stream,
    http: "GET /api/conversations/{conversation}/tail",
    summary: "Stream entries as they become durable, from any process",
    input: { conversation: idField, after },
    output: entryShape,
  }),
  watch: edgeRow({
    ...stream,
    http: "GET /api/events",
    summary: "Stream entries of several conversations; `watch=ID@SEQ`, up to 64 times",
    input: {
      watch: list(
        text({
          min: 1,
          max: 160,
          pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]*(?:@\d{1,15})?$/,
          about: "ID@SEQ, or ID for all entries",
        }),
        { min: 1, max: WATCHED_MAX },
      ),
      textMax: optional(
        count({ min: 1, about: "truncates longer texts to this many characters (default: no limit)" }),
      ),
      words: optional(
        flag(
          "also streams text of turns in this process before it is stored: events `words` without an id, without a delivery guarantee",
        ),
      ),
    },
    output: open<WatchedEntry>({ conversation: text(), entry: entryShape, cut: optional(count()) }),
  }),
  replayEvents: edgeRow({
    ...stream,
    group: "Replays",
    http: "GET /api/replays/{replay}/events",
    summary: "Stream the events and progress of a replay until it ends; the last event is `end`",
    input: {
      replay: idField,
      after: optional(count({ about: "the id of the last event you have seen" })),
    },
    output: open<ReplayEventView>({ event: open({ type: text() }), progress: progressShape }),
  }),
};
