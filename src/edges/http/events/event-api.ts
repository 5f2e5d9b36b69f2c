import type { Entry } from "#log/entry";
import type { RoutesOf } from "#edges/http/routes/route";
import { entry, id, ofConversation, type OfConversation } from "#edges/http/routes/shared-schemas";
import {
  count,
  flag,
  list,
  object,
  open,
  optional,
  type Schema,
  text,
} from "#edges/http/routes/value-schema";

interface OfTurn extends OfConversation {
  readonly turn: string;
}

/** What streams events: no operation, for every edge frames a stream in its own way. */
export interface EventApi {
  turnEvents: {
    readonly params: OfTurn;
    readonly query: { readonly after?: number };
    readonly response: Entry;
  };
  tail: {
    readonly params: OfConversation;
    readonly query: { readonly after?: number };
    readonly response: Entry;
  };
  watch: {
    readonly query: {
      readonly watch: readonly string[];
      readonly textMax?: number;
      readonly words?: boolean;
    };
    /** `cut`: a text of the entry is longer than asked for; so long is the entry. */
    readonly response: { readonly conversation: string; readonly entry: Entry; readonly cut?: number };
  };
}

const WATCHED_MAX = 64;
const group = "Turns";
const after: Schema<number> = count({ about: "the last seq you have seen; Last-Event-ID counts before it" });

export const EVENT_ROUTES: RoutesOf<EventApi> = {
  turnEvents: {
    method: "GET",
    path: "/api/conversations/{conversation}/turns/{turn}/events",
    right: "read",
    answers: "events",
    group,
    summary:
      "Streams entries until a turn ends, wherever it runs; the last event is `end`, or `left` where nobody carries it any more",
    params: object<OfTurn>({ conversation: id, turn: text({ min: 1, max: 200 }) }),
    query: object<{ readonly after?: number }>({ after: optional(after) }),
    response: entry,
  },
  tail: {
    method: "GET",
    path: "/api/conversations/{conversation}/tail",
    right: "read",
    answers: "events",
    group,
    summary: "Streams entries as they become durable, from any process",
    params: ofConversation,
    query: object<{ readonly after?: number }>({ after: optional(after) }),
    response: entry,
  },
  watch: {
    method: "GET",
    path: "/api/events",
    right: "read",
    answers: "events",
    group,
    summary: "Streams entries of several conversations; `watch=ID@SEQ`, up to 64 times",
    query: object<EventApi["watch"]["query"]>({
      watch: list(
        text({
          min: 1,
          max: 160,
          pattern: /^[A-Za-z0-9][A-Za-z0-9._:-]*(?:@\d{1,15})?$/,
          about: "ID@SEQ, or ID for all of it",
        }),
        { min: 1, max: WATCHED_MAX },
      ),
      textMax: optional(
        count({ min: 1, about: "longer texts are cut to so many characters; none unless given" }),
      ),
      words: optional(
        flag(
          "also words of turns in this process, before the log has them: events `words` without an id, which may be missing",
        ),
      ),
    }),
    response: open<EventApi["watch"]["response"]>({ conversation: text(), entry, cut: optional(count()) }),
  },
};
