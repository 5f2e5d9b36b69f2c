import type { StampedDraft } from "#log/batch";
import type { Bodies, EntryOf, EntryType } from "#log/entry";
import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import type { AssistantMessage } from "#log/message";
import { fieldsOf } from "#log/json/json-fields";
import { recordedEvents } from "#turn/rules/attempt-record";
import { callKey } from "#turn/rules/turn-record";
import { CallsWithoutIntent } from "./calls-without-intent.ts";
import {
  answerAttributes,
  attemptAttributes,
  type Attributes,
  modelName,
  toolAttributes,
  turnAttributes,
  usageAttributes,
} from "./span-attributes.ts";

/** One change of the spans of a conversation; `span` is a name among them. */
export type SpanChange =
  | {
      readonly change: "start";
      readonly span: string;
      readonly of: "turn" | "attempt" | "tool";
      readonly parent: string | null;
      readonly name: string;
      readonly time: string;
      readonly attributes: Attributes;
    }
  | {
      readonly change: "event";
      readonly span: string;
      readonly name: string;
      readonly time: string;
      readonly attributes: Attributes;
    }
  | {
      readonly change: "end";
      readonly span: string;
      readonly time: string;
      readonly attributes: Attributes;
      /** What kind of failure it ended with. */
      readonly error: string | null;
    };

interface OpenTurn {
  readonly turn: string;
  readonly span: string;
  attempt: string | null;
  /** The model that was asked last; null: an agent was. */
  model: string | null;
  readonly tools: Map<string, string>;
  usage: UsageSum;
}

const OTHER = "_OTHER"; // as the conventions call an error of no known kind

/**
 * The spans of a conversation, made of what is written to its log while it is written: a turn, the attempts at it, its
 * tools, and what happened to it. Nothing that anybody said is in them.
 */
export class TurnSpans {
  readonly #at: { readonly space: string; readonly conversation: string };
  #agent: string | null = null;
  #turn: OpenTurn | null = null;
  #made: number = 0;
  #changes: SpanChange[] = [];
  /** Of the batch that is looked at, until it is told. */
  #answer: Answer | null = null;
  readonly #calls: CallsWithoutIntent = new CallsWithoutIntent();

  constructor(at: { readonly space: string; readonly conversation: string }) {
    this.#at = at;
  }

  add(drafts: readonly StampedDraft[]): readonly SpanChange[] {
    // What says its own time happened at another time, mostly elsewhere: an import, an agent's own history.
    const live = drafts.filter(({ draft }) => draft.time === undefined);
    this.#changes = [];
    this.#answer = answerIn(live);
    for (const { draft, time } of live) this.#addEntry(draft.type, draft.body, time);
    if (this.#turn === null) return this.#changes;
    this.#answered(this.#turn, live.at(-1)?.time ?? "");
    this.#calls.add(live);
    return this.#changes;
  }

  /** Nobody here goes on with it. */
  leave(error: string, time: string): readonly SpanChange[] {
    this.#changes = [];
    if (this.#turn !== null) this.#endTurn(this.#turn, time, { error, attributes: {} });
    return this.#changes;
  }

  #addEntry(type: EntryType, body: object, time: string): void {
    if (type === "upstream_link") this.#link(body as Bodies["upstream_link"], time);
    else if (type === "turn_start") this.#open((body as Bodies["turn_start"]).turn, time, {});
    else if (type === "attempt") this.#attempt(body as Bodies["attempt"], time);
    else if (type === "turn_end") this.#turnEnd(body as Bodies["turn_end"], time);
    else if (type === "attempt_end") this.#attemptEnd(body as Bodies["attempt_end"], time);
    else if (type === "tool_intent") this.#intent(body as Bodies["tool_intent"], time);
    else if (type === "tool_progress") this.#progress(body as Bodies["tool_progress"], time);
    else if (type === "update") this.#update(body, time);
    else if (type === "message") this.#message(body as Bodies["message"], time);
    else if (type === "compaction") {
      const { tokensBefore } = body as Bodies["compaction"];
      const tokens = tokensBefore === undefined ? {} : { "holdfast.compaction.tokens_before": tokensBefore };
      this.#event("holdfast.compaction", time, tokens);
    } else if (type === "permission") this.#event("holdfast.permission", time, {});
  }

  #link({ upstream, agent, reason }: Bodies["upstream_link"], time: string): void {
    this.#agent = agent;
    if (reason === "first") return;
    const attributes = {
      "holdfast.rollover.reason": reason,
      "gen_ai.agent.name": agent,
      "holdfast.upstream.id": upstream,
    };
    this.#event("holdfast.rollover", time, attributes);
  }

  #open(turn: string, time: string, more: Attributes): OpenTurn {
    if (this.#turn !== null) {
      if (this.#turn.turn === turn) return this.#turn;
      this.#endTurn(this.#turn, time, { error: OTHER, attributes: {} });
    }
    const attributes = { ...turnAttributes({ ...this.#at, turn, agent: this.#agent }), ...more };
    const name = this.#agent === null ? "invoke_agent" : `invoke_agent ${this.#agent}`;
    const span = this.#start("turn", { parent: null, name, time, attributes });
    const open: OpenTurn = { turn, span, attempt: null, model: null, tools: new Map(), usage: NO_USAGE };
    this.#turn = open;
    return open;
  }

  /** A turn that was begun elsewhere is gone on with here. */
  #openTurn(turn: string | undefined, time: string): OpenTurn | null {
    if (turn === undefined) return this.#turn;
    return this.#turn?.turn === turn
      ? this.#turn
      : this.#open(turn, time, { "holdfast.turn.begun_elsewhere": true });
  }

  #attempt(body: Bodies["attempt"], time: string): void {
    const turn = this.#openTurn(body.turn, time);
    if (turn === null) return;
    // The one before left nothing, and nobody said why.
    this.#endAttempt(turn, time, { error: OTHER, attributes: {} });
    const attributes = attemptAttributes(body, { ...this.#at, agent: this.#agent });
    const name =
      body.model === undefined
        ? `invoke_agent${this.#agent === null ? "" : ` ${this.#agent}`}`
        : `chat ${modelName(body.model)}`;
    turn.model = body.model ?? null;
    turn.attempt = this.#start("attempt", { parent: turn.span, name, time, attributes });
  }

  #attemptEnd({ turn: id, class: error, usage = {} }: Bodies["attempt_end"], time: string): void {
    const turn = this.#openTurn(id, time);
    if (turn === null) return;
    const used = addUsage(NO_USAGE, usage);
    turn.usage = addUsage(turn.usage, used);
    this.#endAttempt(turn, time, { error, attributes: usageAttributes(used) });
  }

  #intent(body: Bodies["tool_intent"], time: string): void {
    const turn = this.#openTurn(body.turn, time);
    if (turn === null) return;
    const key = callKey(body);
    this.#endTool(turn, key, time, OTHER);
    this.#calls.begun(body.call);
    this.#startTool(turn, key, { ...body, time });
  }

  #startTool(
    turn: OpenTurn,
    key: string,
    { time, ...of }: { readonly name: string; readonly call: string; readonly time: string },
  ): void {
    const attributes = toolAttributes(of, this.#at.conversation);
    const parent = turn.attempt ?? turn.span;
    turn.tools.set(key, this.#start("tool", { parent, name: `execute_tool ${of.name}`, time, attributes }));
  }

  #progress({ call, data }: Bodies["tool_progress"], time: string): void {
    const { state } = fieldsOf(data);
    if (state === "done" || state === "failed") this.#toolOver(call, time, state === "failed");
  }

  /** What an upstream says of its own tools. */
  #update(body: Bodies["update"], time: string): void {
    if (this.#turn === null || this.#turn.tools.size === 0) return;
    for (const event of recordedEvents(body as EntryOf<"update">) ?? [])
      if (event.type === "tool" && event.state !== "started")
        this.#endTool(this.#turn, callKey(event), time, event.state === "failed" ? "tool_error" : null);
  }

  #message(body: Bodies["message"], time: string): void {
    const { message } = body;
    if (message.role !== "toolResult") return;
    const call = message.toolCallId;
    const made = this.#calls.ran(body);
    if (made !== null && this.#turn !== null) this.#startTool(this.#turn, call, { ...made, call });
    this.#toolOver(call, time, message.isError === true);
  }

  /** By its id alone: what a result says. The oldest of several that is open. */
  #toolOver(call: string, time: string, failed: boolean): void {
    const turn = this.#turn;
    const key = [...(turn?.tools.keys() ?? [])].find((one) => one === call || one.startsWith(`${call} of `));
    if (turn !== null && key !== undefined) this.#endTool(turn, key, time, failed ? "tool_error" : null);
  }

  #answered(turn: OpenTurn, time: string): void {
    if (this.#answer === null) return;
    const { usage, last } = this.#answer;
    this.#answer = null;
    turn.usage = addUsage(turn.usage, usage);
    const attributes = { ...answerAttributes(last, turn.model), ...usageAttributes(usage) };
    this.#endAttempt(turn, time, { error: null, attributes });
  }

  #turnEnd({ turn: id, outcome, class: endingClass = outcome }: Bodies["turn_end"], time: string): void {
    const turn = this.#openTurn(id, time);
    if (turn === null) return;
    this.#answered(turn, time);
    const attributes = { "holdfast.turn.outcome": outcome, "holdfast.turn.class": endingClass };
    this.#endTurn(turn, time, { error: outcome === "failed" ? endingClass : null, attributes });
  }

  #start(of: "turn" | "attempt" | "tool", fields: Omit<StartChange, "change" | "of" | "span">): string {
    const span = `${of}-${++this.#made}`;
    this.#changes.push({ change: "start", span, of, ...fields });
    return span;
  }

  #event(name: string, time: string, attributes: Attributes): void {
    if (this.#turn !== null)
      this.#changes.push({ change: "event", span: this.#turn.span, name, time, attributes });
  }

  #endAttempt(turn: OpenTurn, time: string, end: Ended): void {
    if (turn.attempt !== null) this.#changes.push({ change: "end", span: turn.attempt, time, ...end });
    turn.attempt = null;
  }

  #endTool(turn: OpenTurn, key: string, time: string, error: string | null): void {
    const span = turn.tools.get(key);
    turn.tools.delete(key);
    if (span !== undefined) this.#changes.push({ change: "end", span, time, error, attributes: {} });
  }

  #endTurn(turn: OpenTurn, time: string, { error, attributes }: Ended): void {
    for (const key of turn.tools.keys()) this.#endTool(turn, key, time, error ?? OTHER);
    this.#endAttempt(turn, time, { error, attributes: {} });
    const all = { ...attributes, ...usageAttributes(turn.usage) };
    this.#changes.push({ change: "end", span: turn.span, time, error, attributes: all });
    this.#turn = null;
    this.#calls.clear();
  }
}

type StartChange = Extract<SpanChange, { change: "start" }>;
type Ended = Pick<Extract<SpanChange, { change: "end" }>, "error" | "attributes">;

interface Answer {
  readonly usage: UsageSum;
  readonly last: AssistantMessage;
}

/** What a batch says of the answer in it: an upstream's is several messages, and one of them says what all of them used. */
function answerIn(drafts: readonly StampedDraft[]): Answer | null {
  const messages = drafts
    .flatMap(({ draft }) => (draft.type === "message" ? [(draft.body as Bodies["message"]).message] : []))
    .filter((message) => message.role === "assistant");
  const last = messages.at(-1);
  if (last === undefined) return null;
  return { usage: messages.reduce((total, { usage = {} }) => addUsage(total, usage), NO_USAGE), last };
}
