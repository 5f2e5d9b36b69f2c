import { readWaiting } from "#agent/pending-permissions";
import { LogError } from "#log/errors";
import { isHeld } from "#log/plans/lease";
import type { EndedTurn, RunTurnOptions, Turns } from "#turn/turns";
import { conversationOf } from "./acts.ts";
import { type AgentChoice, operation, type OperationContext, type TurnAgents } from "./operation.ts";
import {
  answer,
  choice,
  content,
  count,
  flag,
  idField,
  named,
  nullable,
  open,
  optional,
  type Schema,
  text,
} from "./schemas.ts";

/** A turn that is in the log. It goes on whether or not anybody listens. */
export interface TurnBegun {
  readonly conversation: string;
  readonly turn: string;
  readonly prompt: string;
  /** `after` of the events that tell the whole of it. */
  readonly after: number;
  /** The key was known: nothing was sent now. */
  readonly repeated: boolean;
  /** The key was known with another prompt; the stored one stands. */
  readonly differs: boolean;
}

const group = "Turns";
const choiceFields = {
  agent: optional(text({ min: 1, max: 100, about: "(default: the server's first)" })),
  model: optional(
    text({ min: 1, max: 200, about: "for this and later turns; must be allowed by the server" }),
  ),
};
const begun: Schema<TurnBegun> = named(
  "TurnBegun",
  open<TurnBegun>({
    conversation: text(),
    turn: text(),
    prompt: text(),
    after: count(),
    repeated: flag(),
    differs: flag(),
  }),
);

export const send = operation({
  summary:
    "Send a prompt; responds when it is in the log. With `Accept: text/event-stream` its events follow",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/turns",
  status: 202,
  stream: "turn",
  input: { conversation: idField, ...choiceFields, content },
  output: begun,
  run: (input, context) =>
    begin(input, context, (turns, id, options) => turns.send(id, input.content, options)),
});

export const edit = operation({
  summary: "Edit a user message: continue from before it with new text; the log keeps the rest",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/entries/{entry}/edit",
  status: 202,
  stream: "turn",
  input: { conversation: idField, entry: idField, ...choiceFields, content },
  output: begun,
  run: (input, context) =>
    begin(input, context, (turns, id, options) => turns.edit(id, input.entry, input.content, options)),
});

export const continueTurn = operation({
  summary: "Finish an interrupted, failed, stopped or waiting turn without a new prompt",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/turns/continue",
  status: 202,
  stream: "turn",
  input: { conversation: idField, ...choiceFields },
  output: begun,
  run: (input, context) => begin(input, context, (turns, id, options) => turns.continue(id, options)),
});

export const retry = operation({
  summary: "Send the last prompt again if it got no reply",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/turns/retry",
  status: 202,
  stream: "turn",
  input: { conversation: idField, ...choiceFields },
  output: begun,
  run: (input, context) => begin(input, context, (turns, id, options) => turns.retry(id, options)),
});

export const answerRequest = operation({
  summary: "Answer a question of a turn and resume it",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/answers",
  input: {
    conversation: idField,
    ...choiceFields,
    request: text({ min: 1, max: 500 }),
    outcome: choice(["allowed", "denied"]),
  },
  output: answer({ conversation: text(), request: text(), deduped: flag(), turn: nullable(begun) }),
  async run({ request, outcome, ...input }, context) {
    const conversation = conversationOf(input, context);
    const isWaiting = (await readWaiting(conversation)).some((one) => one.request === request);
    if (!isWaiting && (await conversation.findAnswer(request)) === null)
      throw new LogError("entry_not_found", `No open question ${request} in ${conversation.id}`, { request });
    const about = { conversation: conversation.id, request };
    if (!isWaiting) return { ...about, deduped: true, turn: null };
    const { caller, turns } = context;
    const { deduped } = await conversation.answer(
      request,
      outcome,
      caller === undefined ? {} : { by: caller },
    );
    // The process that runs the turn reads the answer in the log. Where none does, an agent continues it here.
    // By now the turn may have ended: then nothing is left to continue.
    const head = await conversation.head();
    const hasEnded = (await conversation.openTurn(head)) === null;
    if (hasEnded || isHeld(head.lease) || turns === undefined || turns.names.length === 0)
      return { ...about, deduped, turn: null };
    const turn = await begin(input, context, (agent, id, options) => agent.continue(id, options));
    return { ...about, deduped, turn };
  },
});

export const steer = operation({
  summary: "Send a message to the running turn: stored first, then delivered once",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/steers",
  input: {
    conversation: idField,
    content,
    when: optional(choice(["step", "turn", "run"])),
    agent: choiceFields.agent,
  },
  output: answer({
    conversation: text(),
    steer: text(),
    delivered: choice(["now", "with_next_prompt"]),
  }),
  async run({ content: message, when, ...input }, context) {
    const conversation = conversationOf(input, context);
    const agent = await agentsOf(context).agent(context.holdfast, input);
    const { steer: id, delivered } = await agent.steer(conversation.id, message, {
      ...(context.key === undefined ? {} : { steer: context.key }),
      ...(when === undefined ? {} : { when }),
    });
    return { conversation: conversation.id, steer: id, delivered };
  },
});

export const cancel = operation({
  summary: "Stop the running turn in any server of the store; its results are kept",
  group,
  access: "write",
  kind: "act",
  http: "POST /api/conversations/{conversation}/turns/cancel",
  storesAnswer: true,
  input: { conversation: idField },
  output: answer({
    conversation: text(),
    /** False: no turn of it runs in a server on this store, or it does not stop. */
    cancelled: flag(),
  }),
  async run(input, context) {
    const conversation = conversationOf(input, context);
    const { holdfast, signal } = context;
    return {
      conversation: conversation.id,
      cancelled: await agentsOf(context).cancel(holdfast, conversation, signal),
    };
  },
});

function agentsOf({ turns }: OperationContext): TurnAgents {
  if (turns !== undefined) return turns;
  throw new LogError("invalid_request", "This server has no agent to run turns");
}

type Run = (turns: Turns, conversation: string, options: RunTurnOptions) => Promise<EndedTurn>;

interface Accepted {
  readonly turn: string;
  readonly prompt: string;
  /** The last entry before those of the turn; null: the key was known, and the turn had ended. */
  readonly after: number | null;
  /** It had not ended, and goes on. */
  readonly resumed: boolean;
  readonly differs: boolean;
}

/** Returns when the turn is in the log, or cannot start. */
async function begin(
  input: AgentChoice & { readonly conversation: string; readonly content?: unknown },
  context: OperationContext,
  run: Run,
): Promise<TurnBegun> {
  const conversation = conversationOf(input, context);
  const { holdfast, key } = context;
  const accepted = Promise.withResolvers<Accepted>();
  const place = { holdfast, conversation: conversation.id, choice: input };
  const ended = agentsOf(context).run(place, (turns, host) =>
    run(turns, conversation.id, {
      ...host,
      onEvent(event) {
        host.onEvent?.(event);
        if (event.type === "accepted") accepted.resolve({ ...event, differs: false });
      },
      ...(key === undefined ? {} : { key }),
      ...(input.model === undefined ? {} : { model: input.model }),
    }),
  );
  ended.then(
    ({ turn, prompt, repeated }) =>
      accepted.resolve({ turn, prompt, after: null, resumed: false, differs: repeated?.differs ?? false }),
    accepted.reject,
  );
  const { turn, prompt, after, resumed, differs } = await accepted.promise;
  // A prompt that was on its way under its key when it came again: its events start at the prompt, too.
  const repeated = after === null || (resumed && input.content !== undefined);
  return {
    conversation: conversation.id,
    turn,
    prompt,
    after: repeated ? (await conversation.entry(prompt)).seq - 1 : after,
    repeated,
    differs,
  };
}
