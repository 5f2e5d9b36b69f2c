import type { Entry, SteerTime } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { RoutesOf } from "./route.ts";
import {
  content,
  entry,
  id,
  ofConversation,
  type OfConversation,
  type OfEntry,
  ofEntry,
} from "./shared-schemas.ts";
import {
  answer,
  choice,
  count,
  flag,
  list,
  named,
  nullable,
  object,
  open,
  optional,
  type Schema,
  text,
} from "./value-schema.ts";

type Content = string | readonly ContentBlock[];

/** A turn that is in the log, and goes on whether or not anybody listens. */
export interface TurnBegun extends OfConversation {
  readonly turn: string;
  readonly prompt: string;
  /** `after` of the events that tell the whole of it. */
  readonly after: number;
  /** It was asked for under its key before: nothing was sent now. */
  readonly repeated: boolean;
  /** With other words under the same key; the stored ones stand. */
  readonly differs: boolean;
}

interface Choice {
  readonly agent?: string;
  readonly model?: string;
}

interface OfTurn extends OfConversation {
  readonly turn: string;
}

export interface TurnApi {
  send: {
    readonly params: OfConversation;
    readonly body: Choice & { readonly content: Content };
    readonly response: TurnBegun;
  };
  edit: {
    readonly params: OfEntry;
    readonly body: Choice & { readonly content: Content };
    readonly response: TurnBegun;
  };
  continueTurn: { readonly params: OfConversation; readonly body: Choice; readonly response: TurnBegun };
  retry: { readonly params: OfConversation; readonly body: Choice; readonly response: TurnBegun };
  answerRequest: {
    readonly params: OfConversation;
    readonly body: Choice & { readonly request: string; readonly outcome: "allowed" | "denied" };
    readonly response: OfConversation & {
      readonly request: string;
      /** It was answered before: nothing was written. */
      readonly deduped: boolean;
      /** The turn that goes on by it here; null where whoever carries it goes on by itself. */
      readonly turn: TurnBegun | null;
    };
  };
  steer: {
    readonly params: OfConversation;
    readonly body: { readonly content: Content; readonly when?: SteerTime; readonly agent?: string };
    readonly response: OfConversation & {
      readonly steer: string;
      readonly delivered: "now" | "with_next_prompt";
    };
  };
  cancel: {
    readonly params: OfConversation;
    readonly body: object;
    readonly response: OfConversation & {
      /** False: no turn of it runs in a server on this store, or it does not stop. */
      readonly cancelled: boolean;
    };
  };
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
const PROMPT_TYPES = ["application/json", "text/event-stream"];
const group = "Turns";
const choiceMembers = {
  agent: optional(text({ min: 1, max: 100, about: "the server's first unless given" })),
  model: optional(text({ min: 1, max: 200, about: "from here on; one that the server allows" })),
};
const begunMembers = {
  conversation: text(),
  turn: text(),
  prompt: text(),
  after: count(),
  repeated: flag(),
  differs: flag(),
};
const begun: Schema<TurnBegun> = named("TurnBegun", open<TurnBegun>(begunMembers));
const after: Schema<number> = count({ about: "the last seq you have seen; Last-Event-ID counts before it" });

export const TURN_ROUTES: RoutesOf<TurnApi> = {
  send: {
    method: "POST",
    path: "/api/conversations/{conversation}/turns",
    right: "write",
    writes: true,
    types: PROMPT_TYPES,
    status: 202,
    group,
    summary:
      "Sends a prompt; answered when it is in the log. With `Accept: text/event-stream` its events follow",
    params: ofConversation,
    body: object<TurnApi["send"]["body"]>({ ...choiceMembers, content }),
    response: begun,
  },
  edit: {
    method: "POST",
    path: "/api/conversations/{conversation}/entries/{entry}/edit",
    right: "write",
    writes: true,
    types: PROMPT_TYPES,
    status: 202,
    group,
    summary:
      "Goes back before a message of a person's and sends other words in its place; what came after stays in the log",
    params: ofEntry,
    body: object<TurnApi["edit"]["body"]>({ ...choiceMembers, content }),
    response: begun,
  },
  continueTurn: {
    method: "POST",
    path: "/api/conversations/{conversation}/turns/continue",
    right: "write",
    writes: true,
    types: PROMPT_TYPES,
    status: 202,
    group,
    summary: "Finishes a turn that was cut off, failed, was stopped or waits, without a new prompt",
    params: ofConversation,
    body: object<Choice>(choiceMembers),
    response: begun,
  },
  retry: {
    method: "POST",
    path: "/api/conversations/{conversation}/turns/retry",
    right: "write",
    writes: true,
    types: PROMPT_TYPES,
    status: 202,
    group,
    summary: "Sends the last prompt once more, where nothing has answered it",
    params: ofConversation,
    body: object<Choice>(choiceMembers),
    response: begun,
  },
  answerRequest: {
    method: "POST",
    path: "/api/conversations/{conversation}/answers",
    right: "write",
    writes: true,
    group,
    summary: "Answers what a turn asked a person, and goes on with it",
    params: ofConversation,
    body: object<TurnApi["answerRequest"]["body"]>({
      ...choiceMembers,
      request: text({ min: 1, max: 500 }),
      outcome: choice(["allowed", "denied"]),
    }),
    response: answer<TurnApi["answerRequest"]["response"]>({
      conversation: text(),
      request: text(),
      deduped: flag(),
      turn: nullable(begun),
    }),
  },
  steer: {
    method: "POST",
    path: "/api/conversations/{conversation}/steers",
    right: "write",
    writes: true,
    group,
    summary: "Says something while a turn runs: durable first, then delivered when its moment comes, once",
    params: ofConversation,
    body: object<TurnApi["steer"]["body"]>({
      content,
      when: optional(choice(["step", "turn", "run"])),
      agent: choiceMembers.agent,
    }),
    response: answer<TurnApi["steer"]["response"]>({
      conversation: text(),
      steer: text(),
      delivered: choice(["now", "with_next_prompt"]),
    }),
  },
  cancel: {
    method: "POST",
    path: "/api/conversations/{conversation}/turns/cancel",
    right: "write",
    writes: true,
    kept: true,
    group,
    summary: "Stops the turn that runs, in whichever server on the store; what came of it is kept",
    params: ofConversation,
    body: object<object>({}),
    response: answer<TurnApi["cancel"]["response"]>({ conversation: text(), cancelled: flag() }),
  },
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
    query: object<TurnApi["watch"]["query"]>({
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
    response: open<TurnApi["watch"]["response"]>({ conversation: text(), entry, cut: optional(count()) }),
  },
};
